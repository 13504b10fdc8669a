"""QEMU's guest agent: commands and files of a guest, over a serial line that needs no network.

Protocol: QEMU documentation, "QEMU Guest Agent Protocol Reference".
"""

from __future__ import annotations

import base64
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from practicum.infra.desk.pauses import pause, pauses
from practicum.infra.desk.vm.qmp import Channel, ChannelLost, CommandRefused

CHUNK = 1 << 20
"""Bytes of a file in one message; the agent refuses more than 48 MiB."""
_BY_END = 2


@dataclass(frozen=True, slots=True)
class Exited:
    """How a process ended: its exit code, or minus the number of the signal that killed it."""

    code: int
    stdout: bytes = b""
    stderr: bytes = b""


class GuestAgent:
    """One guest's agent. All methods raise `ChannelLost` when it does not answer in time."""

    def __init__(self, socket: Path) -> None:
        self._channel = Channel(socket)

    def sync(self, *, timeout: float) -> None:
        """Return once the agent answers, having dropped whatever it was asked before.

        A request waits in the line until the guest has started its agent, so one is enough.
        """
        token = secrets.randbelow(1 << 31)
        if self._channel.call("guest-sync-delimited", timeout=timeout, id=token) != token:
            raise ChannelLost("guest-sync: the answer to another question")

    def set_time(self, seconds: float) -> None:
        """Set the guest's clock, which a restored snapshot has set back; seconds since the epoch.

        Setting the clock of the emulated hardware as well may be refused; the guest's own is set by then.
        """
        with suppress(CommandRefused):
            self._channel.call("guest-set-time", time=int(seconds * 1e9))

    def start(self, path: str, arguments: Sequence[str], *, stdin: bytes = b"", capture: bool = False) -> int:
        """Start a program, giving its process id."""
        given: dict[str, Any] = {"input_data": base64.b64encode(stdin).decode()} if stdin else {}
        answer = self._channel.call(
            "guest-exec", path=path, arg=list(arguments), capture_output=capture, **given
        )
        return int(answer["pid"])

    def poll(self, pid: int) -> Exited | None:
        """How the process ended; None while it runs. Asking again after the end is refused."""
        status = self._channel.call("guest-exec-status", pid=pid)
        if not status["exited"]:
            return None
        code = -int(status["signal"]) if "signal" in status else int(status.get("exitcode", 0))
        out, err = (base64.b64decode(status.get(name, "")) for name in ("out-data", "err-data"))
        return Exited(code, out, err)

    def wait(self, pid: int, *, timeout: float) -> Exited | None:
        """How the process ended; None if it still runs after `timeout` seconds."""
        deadline = time.monotonic() + timeout
        for seconds in pauses():
            ended = self.poll(pid)
            left = deadline - time.monotonic()
            if ended is not None or left <= 0:
                return ended
            pause(min(seconds, left))
        raise AssertionError("pauses never end")

    def call(self, path: str, *arguments: str, stdin: bytes = b"", timeout: float = 30.0) -> Exited:
        """Run a short program to its end, with its output. Raises `ChannelLost` at `timeout`."""
        ended = self.wait(self.start(path, arguments, stdin=stdin, capture=True), timeout=timeout)
        if ended is None:
            raise ChannelLost(f"{path} did not end in {timeout:.0f} s")
        return ended

    def read(self, path: str, cap: int) -> tuple[bytes, bool]:
        """A file's first and last `cap // 2` bytes, or all of it; and whether something was left out."""
        with self._opened(path, "r") as handle:
            first, ended = self._read_piece(handle, min(cap, CHUNK))
            if ended:
                return first, False
            end = self._channel.call("guest-file-seek", handle=handle, offset=0, whence=_BY_END)
            size = int(end["position"])
            if size <= cap:
                return self._read_at(handle, 0, size), False
            head = self._read_at(handle, 0, cap - cap // 2)
            return head + self._read_at(handle, size - cap // 2, cap // 2), True

    def write(self, path: str, data: bytes) -> None:
        with self._opened(path, "w") as handle:
            for start in range(0, len(data), CHUNK):
                self._write_piece(handle, data[start : start + CHUNK])

    def close(self) -> None:
        self._channel.close()

    @contextmanager
    def _opened(self, path: str, mode: str) -> Iterator[int]:
        handle = int(self._channel.call("guest-file-open", path=path, mode=mode))
        try:
            yield handle
        finally:
            self._channel.call("guest-file-close", handle=handle)

    def _read_at(self, handle: int, offset: int, size: int) -> bytes:
        self._channel.call("guest-file-seek", handle=handle, offset=offset, whence=0)
        data, ended = b"", False
        while len(data) < size and not ended:
            piece, ended = self._read_piece(handle, min(CHUNK, size - len(data)))
            data += piece
        return data

    def _read_piece(self, handle: int, count: int) -> tuple[bytes, bool]:
        """What comes next, and whether that was the end of the file."""
        answer = self._channel.call("guest-file-read", handle=handle, count=count, timeout=60.0)
        return base64.b64decode(answer["buf-b64"]), bool(answer["eof"])

    def _write_piece(self, handle: int, piece: bytes) -> None:
        while piece:
            written = self._channel.call(
                "guest-file-write", handle=handle, buf_b64=base64.b64encode(piece).decode(), timeout=60.0
            )
            piece = piece[int(written["count"]) :]
