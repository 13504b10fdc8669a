"""Requests in, answers out; each id takes effect once."""

from __future__ import annotations

import json
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from practicum.vm_images.handsd import commands, files
from practicum.vm_images.handsd.display import Display
from practicum.vm_images.handsd.freeze import StillRunning, freeze
from practicum.vm_images.handsd.keyboard import CannotType
from practicum.vm_images.handsd.protocol import VERSION, ErrorKind, Message, decode, encode
from practicum.vm_images.handsd.spawn import Identity, Order, Spawner
from practicum.vm_images.handsd.xlib import DisplayError

AGENT = Identity(uid=1000, gid=1000)
HOUSE = Identity(uid=0, gid=0)
HOMES = {"agent": "/home/agent", "house": "/var/lib/house"}
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"

_REMEMBERED = 64
_REMEMBERED_BYTES = 64 << 20
_ELEMENTS = str(Path(__file__).with_name("elements.py"))
_ELEMENT_SECONDS, _ELEMENT_COUNT = 5.0, 2000
_FREEZE_BOUND = 5.0

Reply = Message | None


class Frozen(Exception):
    """The agent may do nothing any more."""


class NoHouse(Exception):
    """On a machine of one person there is no house to act for."""


_KINDS: Mapping[type[Exception], ErrorKind] = {
    CannotType: ErrorKind.UNSUPPORTED,
    Frozen: ErrorKind.UNSUPPORTED,
    NoHouse: ErrorKind.UNSUPPORTED,
    DisplayError: ErrorKind.DISPLAY,
    FileNotFoundError: ErrorKind.NOT_FOUND,
    files.Refused: ErrorKind.REFUSED,
    StillRunning: ErrorKind.FAILED,
    OSError: ErrorKind.FAILED,
    KeyError: ErrorKind.BAD_REQUEST,
    ValueError: ErrorKind.BAD_REQUEST,
    TypeError: ErrorKind.BAD_REQUEST,
    AttributeError: ErrorKind.BAD_REQUEST,
}


@dataclass(slots=True)
class Memory:
    """Answers already given, the latest of them, by id."""

    answers: OrderedDict[int, bytes]
    size: int = 0

    def keep(self, number: int, answer: bytes) -> None:
        self.answers[number] = answer
        self.size += len(answer)
        while len(self.answers) > _REMEMBERED or (self.size > _REMEMBERED_BYTES and len(self.answers) > 1):
            self.size -= len(self.answers.popitem(last=False)[1])


class Server:
    """With `alone`, commands run as whoever runs this, on a machine that is theirs."""

    def __init__(
        self, spawner: Spawner, display: Display, reader: BinaryIO, writer: BinaryIO, *, alone: bool = False
    ) -> None:
        self._alone = alone
        self._spawner = spawner
        self._display = display
        self._reader = reader
        self._writer = writer
        self._lock = threading.Lock()
        self._write_lock = threading.Lock()
        self._memory = Memory(OrderedDict())
        self._running: set[int] = set()
        self._highest = 0
        self._frozen = False
        self._operations: Mapping[str, Callable[[int, Message], Reply]] = {
            "hello": self._hello,
            "ready": self._ready,
            "observe": self._observe,
            "act": self._act,
            "run": self._run,
            "get": self._get,
            "freeze": self._freeze,
            "elements": self._elements,
            "clipboard_get": self._clipboard_get,
            "clipboard_set": self._clipboard_set,
        }

    def serve(self) -> None:
        """Until the other side closes. Raises `ProtocolError`."""
        while True:
            try:
                message = decode(self._read_exactly)
            except EOFError:
                return
            self._accept(message)

    def _accept(self, message: Message) -> None:
        number = int(message.head["id"])
        with self._lock:
            remembered = self._memory.answers.get(number)
            fresh = number > self._highest
            if fresh:
                self._highest = number
                self._running.add(number)
            running = number in self._running
        if fresh:
            threading.Thread(target=self._answer, args=(number, message), daemon=True).start()
        elif remembered is not None:
            self._write(remembered)
        elif not running:
            self._write(
                encode(_error(number, ErrorKind.BAD_REQUEST, "asked before and no longer remembered"))
            )

    def _answer(self, number: int, message: Message) -> None:
        try:
            operation = self._operations[str(message.head["op"])]
            reply = operation(number, message)
        except tuple(_KINDS) as error:
            kind = next(kind for type_, kind in _KINDS.items() if isinstance(error, type_))
            reply = _error(number, kind, str(error) or type(error).__name__)
        answer = encode(reply) if reply is not None else None
        with self._lock:
            self._running.discard(number)
            if answer is not None:
                self._memory.keep(number, answer)
        if answer is not None:
            self._write(answer)

    def _hello(self, number: int, message: Message) -> Reply:
        return _ok(number, version=VERSION, pid=os.getpid())

    def _ready(self, number: int, message: Message) -> Reply:
        deadline = time.monotonic() + float(message.head["bound"])
        self._display.call(lambda: self._display.ready(deadline))
        width, height = self._display.screen.size
        return _ok(number, width=width, height=height)

    def _observe(self, number: int, message: Message) -> Reply:
        quiet, bound = float(message.head["quiet"]), float(message.head["bound"])
        seen = self._display.call(lambda: self._display.observe(quiet, bound))
        answer = _ok(number, width=seen.width, height=seen.height, settled=seen.settled, waited=seen.waited)
        return Message(answer.head, seen.png)

    def _act(self, number: int, message: Message) -> Reply:
        self._refuse_frozen()
        actions = list(message.head["actions"])
        started = time.monotonic()
        self._display.call(lambda: self._display.act(actions))
        return _ok(number, done=len(actions), seconds=time.monotonic() - started)

    def _run(self, number: int, message: Message) -> Reply:
        head = message.head
        account = str(head["account"])
        if account == "agent":
            self._refuse_frozen()
        order = self._order([str(word) for word in head["argv"]], account, dict(head["env"]), head.get("cwd"))
        ended = commands.run(self._spawner, order, message.blob, float(head["timeout"]), int(head["cap"]))
        answer = _ok(
            number,
            exit_code=ended.exit_code,
            seconds=ended.seconds,
            timed_out=ended.timed_out,
            truncated=ended.truncated,
            stdout=len(ended.stdout),
        )
        return Message(answer.head, ended.stdout + ended.stderr)

    def _get(self, number: int, message: Message) -> Reply:
        """Streams, so it is not remembered: asked again, it reads again."""
        caps = files.Caps(int(message.head["max_bytes"]), int(message.head["max_files"]))

        def send(piece: bytes) -> None:
            self._write(encode(Message({"id": number, "ok": {}, "more": True}, piece)))

        files.pack(PurePosixPath(str(message.head["path"])), caps, send)
        self._write(encode(_ok(number)))
        return None

    def _freeze(self, number: int, message: Message) -> Reply:
        if self._alone:
            raise NoHouse("whoever is alone on a machine cannot be frozen")
        self._frozen = True
        return _ok(number, processes=freeze(AGENT.uid, _FREEZE_BOUND))

    def _elements(self, number: int, message: Message) -> Reply:
        self._refuse_frozen()
        argv = ["/usr/bin/python3", "-I", _ELEMENTS, str(_ELEMENT_SECONDS), str(_ELEMENT_COUNT)]
        ended = commands.run(
            self._spawner, self._order(argv, "agent", {}, None), b"", 3 * _ELEMENT_SECONDS, 8 << 20
        )
        if ended.timed_out:  # an application of the agent's that hangs is no fault of the desk
            return _ok(number, elements=[], complete=False)
        if ended.exit_code != 0 or ended.truncated:
            raise OSError(f"accessibility: exit {ended.exit_code}: {ended.stderr.decode('utf-8', 'replace')}")
        return _ok(number, **json.loads(ended.stdout))

    def _clipboard_get(self, number: int, message: Message) -> Reply:
        return _ok(number, text=self._display.call(lambda: self._display.clipboard.get(1.0)))

    def _clipboard_set(self, number: int, message: Message) -> Reply:
        text = str(message.head["text"])
        self._display.call(lambda: self._display.clipboard.set(text))
        return _ok(number)

    def _order(self, argv: list[str], account: str, env: dict[str, str], cwd: str | None) -> Order:
        if not self._alone:
            return _order(argv, account, env, cwd)
        if account == "house":
            raise NoHouse("there is no house on this machine")
        base = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        me = Identity(os.getuid(), os.getgid(), tuple(os.getgroups()))
        return Order(tuple(argv), {**base, **env}, cwd or str(Path.home()), me)

    def _refuse_frozen(self) -> None:
        if self._frozen:
            raise Frozen("the agent of this desk is frozen")

    def _read_exactly(self, size: int) -> bytes:
        data = self._reader.read(size)
        if len(data) < size:
            raise EOFError
        return data

    def _write(self, answer: bytes) -> None:
        with self._write_lock:
            self._writer.write(answer)
            self._writer.flush()


def _ok(number: int, **fields: Any) -> Message:
    return Message({"id": number, "ok": fields})


def _error(number: int, kind: ErrorKind, text: str) -> Message:
    return Message({"id": number, "error": {"kind": kind.value, "message": text}})


def _order(argv: list[str], account: str, env: dict[str, str], cwd: str | None) -> Order:
    """The environment of the agent's session, or the house's without a way into that session's bus."""
    home = HOMES[account]
    own = {"HOME": home, "USER": account, "LOGNAME": account, "PATH": PATH, "SHELL": "/bin/bash"}
    base = {**os.environ, **own}
    base.pop("PYTHONPATH", None)  # ours, for this program alone
    if account == "house":
        base = {name: value for name, value in base.items() if not name.startswith(("DBUS_", "XDG_"))}
    identity = AGENT if account == "agent" else HOUSE
    return Order(tuple(argv), {**base, **env}, cwd or home, identity)
