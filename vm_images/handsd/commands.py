"""Running a command to its end or its time-out, with bounded output."""

from __future__ import annotations

import os
import selectors
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field

from practicum.vm_images.handsd.spawn import Order, Spawner

_PIECE = 1 << 16
_KILL_BOUND = 10.0


@dataclass(frozen=True, slots=True)
class Ended:
    exit_code: int
    stdout: bytes
    stderr: bytes
    seconds: float
    timed_out: bool
    truncated: bool


@dataclass(slots=True)
class Bounded:
    """Keeps the first and the last half of `cap` bytes."""

    cap: int
    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)
    truncated: bool = False

    def feed(self, piece: bytes) -> None:
        room = self.cap - self.cap // 2 - len(self.head)
        self.head += piece[:room]
        self.tail += piece[max(room, 0) :]
        excess = len(self.tail) - self.cap // 2
        if excess > 0:
            del self.tail[:excess]
            self.truncated = True

    def value(self) -> bytes:
        return bytes(self.head + self.tail)


def run(spawner: Spawner, order: Order, stdin: bytes, timeout: float, cap: int) -> Ended:
    """Whatever the command leaves running goes on, and its later output goes nowhere."""
    return _Running(spawner, order, stdin, cap).attend(timeout)


class _Running:
    def __init__(self, spawner: Spawner, order: Order, stdin: bytes, cap: int) -> None:
        self._started = time.monotonic()
        self._input = memoryview(stdin)
        self._output = {"stdout": Bounded(cap), "stderr": Bounded(cap)}
        self._code: int | None = None
        self._gone = False
        self._selector = selectors.DefaultSelector()
        stdin_end, self._stdin = os.pipe()
        out, out_end = os.pipe()
        err, err_end = os.pipe()
        try:
            self._status, self._control = spawner.spawn(order, stdin_end, out_end, err_end)
        finally:
            for fd in (stdin_end, out_end, err_end):
                os.close(fd)
        for fd, name in ((out, "stdout"), (err, "stderr"), (self._status, "status")):
            os.set_blocking(fd, False)
            self._selector.register(fd, selectors.EVENT_READ, name)
        os.set_blocking(self._stdin, False)
        self._selector.register(self._stdin, selectors.EVENT_WRITE, "stdin")

    def attend(self, timeout: float) -> Ended:
        deadline = self._started + timeout
        while self._code is None and time.monotonic() < deadline:
            self._turn(deadline - time.monotonic())
        timed_out = self._code is None
        if timed_out:
            os.write(self._control, b"k")
            end = time.monotonic() + _KILL_BOUND
            while not self._gone and time.monotonic() < end:
                self._turn(end - time.monotonic())
        self._take_rest()
        out, err = self._output["stdout"], self._output["stderr"]
        ended = Ended(
            exit_code=-9 if self._code is None else self._code,
            stdout=out.value(),
            stderr=err.value(),
            seconds=time.monotonic() - self._started,
            timed_out=timed_out,
            truncated=out.truncated or err.truncated,
        )
        self._leave()
        return ended

    def _turn(self, seconds: float | None) -> None:
        for key, _ in self._selector.select(seconds):
            if key.data == "stdin":
                self._write()
            else:
                self._read(key.fd, key.data)

    def _write(self) -> None:
        try:
            written = os.write(self._stdin, self._input[:_PIECE]) if self._input else 0
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._input = self._input[:0]
            written = 0
        self._input = self._input[written:]
        if not self._input:
            self._drop(self._stdin)

    def _read(self, fd: int, name: str) -> bool:
        """False when there is nothing more now."""
        try:
            piece = os.read(fd, _PIECE)
        except BlockingIOError:
            return False
        if not piece:
            self._gone = self._gone or name == "status"
            self._drop(fd)
            return False
        if name == "status":
            self._code = int(piece.split()[1])
        else:
            self._output[name].feed(piece)
        return True

    def _take_rest(self) -> None:
        """What the command wrote before it ended is in the pipes by now."""
        for key in list(self._selector.get_map().values()):
            if key.data in self._output:
                bound = self._output[key.data].cap + (1 << 20)
                while bound > 0 and self._read(key.fd, key.data):
                    bound -= _PIECE

    def _drop(self, fd: int) -> None:
        self._selector.unregister(fd)
        os.close(fd)

    def _leave(self) -> None:
        """Descendants that live on keep open pipes, so that writing does not kill them."""
        with suppress(KeyError):
            self._drop(self._stdin)
        if self._gone:
            self._end()
            return
        threading.Thread(target=self._drain, daemon=True, name="drain").start()

    def _drain(self) -> None:
        for bounded in self._output.values():
            bounded.cap = 0
            bounded.head.clear()
        while not self._gone:
            self._turn(None)
        self._end()

    def _end(self) -> None:
        for key in list(self._selector.get_map().values()):
            self._drop(key.fd)
        self._selector.close()
        os.close(self._control)
