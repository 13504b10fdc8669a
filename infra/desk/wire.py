"""The host's end of the line to `handsd`: requests with ids, answered once, over any byte stream."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from practicum.infra.errors import DeskFault, DeskLost, OutputRefused, Stage, Unsupported
from practicum.vm_images.handsd.protocol import ErrorKind, Message, ProtocolError, decode, encode

PATIENCE = 20.0
"""Seconds beyond an operation's own bound after which a desk that does not answer is lost."""

ASK_AGAIN = 5.0
"""Seconds after which an answer is asked for again, twice as many each time."""


class Transport(Protocol):
    """A byte stream to a process. All may raise `OSError`; `read` raises `EOFError` at the end."""

    def read(self, size: int) -> bytes:
        """Exactly `size` bytes."""
        ...

    def write(self, data: bytes) -> None: ...

    def close(self) -> None: ...

    def log(self) -> str:
        """The last of what the process wrote on its standard error."""
        ...


class Link:
    """Any number of threads may ask at once."""

    def __init__(
        self, transport: Transport, *, patience: float = PATIENCE, ask_again: float = ASK_AGAIN
    ) -> None:
        self._transport = transport
        self._patience = patience
        self._ask_again = ask_again
        self._lock = threading.Lock()
        self._sending = threading.RLock()
        self._number = 0
        self._waiting: dict[int, SimpleQueue[Message | None]] = {}
        self._ended = False
        self._reader = threading.Thread(target=self._read, daemon=True, name="desk-link")
        self._reader.start()

    def ask(self, stage: Stage, op: str, *, bound: float = 0.0, blob: bytes = b"", **fields: Any) -> Message:
        """The answer to one request. Raises `DeskLost`, and what the other side's error stands for.

        An answer that does not come is asked for again; the other side acts only once.
        """
        return next(self._ask(stage, op, bound, blob, fields, again=True))

    def stream(
        self, stage: Stage, op: str, *, bound: float = 0.0, blob: bytes = b"", **fields: Any
    ) -> Iterator[Message]:
        """Answers until the last."""
        return self._ask(stage, op, bound, blob, fields, again=False)

    def _ask(
        self, stage: Stage, op: str, bound: float, blob: bytes, fields: dict[str, Any], *, again: bool
    ) -> Iterator[Message]:
        answers: SimpleQueue[Message | None] = SimpleQueue()
        with self._sending:  # numbers go out in order, for the other side takes none that is behind
            self._number += 1
            number = self._number
            with self._lock:
                self._waiting[number] = answers
                if self._ended:
                    answers.put(None)
            request = Message({"id": number, "op": op, "bound": bound, **fields}, blob)
            self._send(stage, request)
        try:
            while True:
                answer = self._await(stage, answers, request, bound=bound, again=again)
                _raise_error(stage, answer)
                yield answer
                if not answer.head.get("more"):
                    return
        finally:
            with self._lock:
                del self._waiting[number]

    def close(self) -> None:
        self._transport.close()
        self._reader.join()

    def _await(
        self,
        stage: Stage,
        answers: SimpleQueue[Message | None],
        request: Message,
        *,
        bound: float,
        again: bool,
    ) -> Message:
        op = request.head["op"]
        deadline = time.monotonic() + bound + self._patience
        pause = self._ask_again if again else bound + self._patience
        while (left := deadline - time.monotonic()) > 0:
            try:
                answer = answers.get(timeout=min(pause, left))
            except Empty:
                if again:
                    self._send(stage, request)
                pause *= 2
                continue
            if answer is None:
                raise DeskLost(stage, f"the desk hung up during {op!r}", logs=self._transport.log())
            return answer
        waited = bound + self._patience
        raise DeskLost(stage, f"no answer to {op!r} in {waited:.0f} s", logs=self._transport.log())

    def _send(self, stage: Stage, request: Message) -> None:
        try:
            with self._sending:
                self._transport.write(encode(request))
        except OSError as error:
            raise DeskLost(stage, f"the desk hung up: {error}", logs=self._transport.log()) from error

    def _read(self) -> None:
        try:
            while True:
                answer = decode(self._transport.read)
                with self._lock:
                    waiting = self._waiting.get(int(answer.head.get("id", 0)))
                if waiting is not None:
                    waiting.put(answer)
        except (OSError, EOFError, ProtocolError, ValueError):
            with self._lock:
                self._ended = True
                for waiting in self._waiting.values():
                    waiting.put(None)


def _raise_error(stage: Stage, answer: Message) -> None:
    error = answer.head.get("error")
    if error is None:
        return
    kind, text = error["kind"], str(error["message"])
    if kind == ErrorKind.UNSUPPORTED:
        raise Unsupported(text)
    if kind == ErrorKind.NOT_FOUND:
        raise FileNotFoundError(text)
    if kind == ErrorKind.REFUSED:
        raise OutputRefused(text)
    raise DeskFault(stage, text)
