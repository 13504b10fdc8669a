"""Lines of JSON over a Unix socket: QEMU's monitor (QMP) and its guest agent speak the same protocol.

The published client, `qemu.qmp`, is made of coroutines; a trial is plain synchronous code and each call here
has its own deadline, so that client would need an event loop on a thread of its own for every machine, and a
second layer of time-outs around it. What is used of the protocol fits on this page.
Protocol: QEMU documentation, "QEMU Machine Protocol Specification".
"""

from __future__ import annotations

import itertools
import json
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

MAX_LINE = 96 << 20
_PIECE = 1 << 18
_KEPT_EVENTS = 256


class ChannelLost(Exception):
    """The other side hung up, or did not answer in time."""


class CommandRefused(Exception):
    """The other side answered with an error; `kind` is its error class."""

    def __init__(self, command: str, kind: str, text: str) -> None:
        super().__init__(f"{command}: {text}")
        self.command = command
        self.kind = kind
        self.text = text


class Channel:
    """One connection. Any thread may call; calls are answered one at a time.

    An answer that comes after its call has given up is known by its id and dropped.
    """

    def __init__(self, path: Path, *, timeout: float = 10.0) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(timeout)
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._held = bytearray()
        self.events: deque[Mapping[str, Any]] = deque(maxlen=_KEPT_EVENTS)
        try:
            self._socket.connect(str(path))
        except OSError as error:
            self._socket.close()
            raise ChannelLost(f"{path.name}: {error.strerror}") from error

    def call(self, command: str, *, timeout: float = 10.0, **arguments: Any) -> Any:
        """What the command returns; underscores in argument names stand for dashes.

        Raises `CommandRefused`, and `ChannelLost` after `timeout` seconds without an answer.
        """
        with self._lock:
            number = next(self._ids)
            request = {
                "execute": command,
                "id": number,
                "arguments": {k.replace("_", "-"): v for k, v in arguments.items()},
            }
            deadline = time.monotonic() + timeout
            self._send(json.dumps(request).encode() + b"\n", deadline)
            answer = self._read_until(lambda message: message.get("id") == number, deadline, command)
        if "error" in answer:
            raise CommandRefused(command, str(answer["error"]["class"]), str(answer["error"]["desc"]))
        return answer["return"]

    def greet(self, *, timeout: float = 10.0) -> Mapping[str, Any]:
        """Take the greeting that a monitor begins with, and agree on the plain protocol."""
        with self._lock:
            greeting = self._read_until(
                lambda message: "QMP" in message, time.monotonic() + timeout, "greeting"
            )
        self.call("qmp_capabilities", timeout=timeout)
        return dict(greeting["QMP"])

    def close(self) -> None:
        self._socket.close()

    def _send(self, data: bytes, deadline: float) -> None:
        try:
            self._socket.settimeout(max(0.001, deadline - time.monotonic()))
            self._socket.sendall(data)
        except OSError as error:
            raise ChannelLost(f"cannot be written to: {error}") from error

    def _read_until(
        self, wanted: Callable[[Mapping[str, Any]], bool], deadline: float, what: str
    ) -> Mapping[str, Any]:
        while True:
            message = self._message(deadline, what)
            if wanted(message):
                return message
            if "event" in message:
                self.events.append(message)

    def _message(self, deadline: float, what: str) -> Mapping[str, Any]:
        """The next line that is an object: a guest that was set back may have left half a line."""
        while True:
            line = self._line(deadline, what)
            try:
                message = json.loads(line.lstrip(b"\xff"))
            except ValueError:
                continue
            if isinstance(message, dict):
                return message

    def _line(self, deadline: float, what: str) -> bytes:
        searched = 0
        while (end := self._held.find(b"\n", searched)) < 0:
            searched = len(self._held)
            if searched > MAX_LINE:
                raise ChannelLost(f"{what}: a line of more than {MAX_LINE} bytes")
            self._held += self._receive(deadline, what)
        line = bytes(self._held[:end])
        del self._held[: end + 1]
        return line

    def _receive(self, deadline: float, what: str) -> bytes:
        left = deadline - time.monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            self._socket.settimeout(left)
            piece = self._socket.recv(_PIECE)
        except TimeoutError as error:
            raise ChannelLost(f"{what}: no answer in time") from error
        except OSError as error:
            raise ChannelLost(f"{what}: {error}") from error
        if not piece:
            raise ChannelLost(f"{what}: the other side hung up")
        return piece
