"""Bounded capture of a command's output: the head and the tail, never more memory than the cap."""

from __future__ import annotations

import threading
from collections import deque
from typing import IO

_CHUNK = 1 << 16


class BoundedOutput:
    """Reads a pipe to its end on its own thread, keeping the first and the last half of `cap` bytes."""

    def __init__(self, pipe: IO[bytes], cap: int) -> None:
        self._pipe = pipe
        self._head_cap = cap - cap // 2
        self._tail_cap = cap // 2
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self.truncated = False
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    def result(self, timeout: float | None = None) -> bytes:
        """What was kept, once the pipe is closed or `timeout` seconds have passed."""
        self._thread.join(timeout)
        tail = b"".join(self._tail)
        return bytes(self._head) + tail[max(0, len(tail) - self._tail_cap) :]

    def _drain(self) -> None:
        with self._pipe:
            while chunk := self._pipe.read1(_CHUNK):  # type: ignore[attr-defined]  # BufferedReader has it
                self._keep(chunk)

    def _keep(self, chunk: bytes) -> None:
        room = self._head_cap - len(self._head)
        self._head += chunk[:room]
        rest = chunk[room:] if room < len(chunk) else b""
        if not rest:
            return
        self._tail.append(rest)
        self._tail_size += len(rest)
        self.truncated = self.truncated or self._tail_size > self._tail_cap
        while self._tail and self._tail_size - len(self._tail[0]) >= self._tail_cap:
            self._tail_size -= len(self._tail.popleft())
