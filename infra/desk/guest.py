"""A desk whose inside is `handsd`, reached over any line: the part all such desks have in common."""

from __future__ import annotations

import io
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from practicum.infra.desk import keys
from practicum.infra.desk.actions import (
    Action,
    ButtonDown,
    ButtonUp,
    Click,
    Drag,
    Key,
    Move,
    Point,
    Scroll,
    TypeText,
    Wait,
)
from practicum.infra.desk.archive import extract
from practicum.infra.desk.desk import (
    Account,
    ActReceipt,
    Capability,
    Completed,
    DeskSpec,
    Element,
    Frame,
    Settle,
)
from practicum.infra.desk.wire import Link
from practicum.infra.errors import DeskFault, OutputRefused, Stage
from practicum.vm_images.handsd.protocol import MAX_BLOB

CAPABILITIES = frozenset(
    {
        Capability.SCREEN,
        Capability.CLIPBOARD,
        Capability.ACCESSIBILITY,
        Capability.DAMAGE,
        Capability.FREEZE,
    }
)

_OWNERS = {Account.AGENT: (1000, 1000), Account.HOUSE: (0, 0)}
_SPOOL = 16 << 20
_ELEMENTS_BOUND = 15.0
_ACT_BOUND = 30.0
_READ_BOUND = 60.0


class GuestDesk:
    """`infra.desk.desk.Desk`, `Accessible`, and the clipboard."""

    def __init__(self, spec: DeskSpec, link: Link) -> None:
        self.spec = spec
        self.capabilities = CAPABILITIES
        self._link = link

    def observe(self, settle: Settle = Settle()) -> Frame:  # noqa: B008 - frozen
        answer = self._link.ask(Stage.WORK, "observe", bound=settle.bound, quiet=settle.quiet)
        seen = answer.head["ok"]
        return Frame(answer.blob, seen["width"], seen["height"], seen["settled"], seen["waited"])

    def act(self, *actions: Action) -> ActReceipt:
        told = [_tell(action) for action in actions]
        bound = _ACT_BOUND + sum(_duration(action) for action in actions)
        done = self._link.ask(Stage.WORK, "act", bound=bound, actions=told).head["ok"]
        return ActReceipt(done["done"], done["seconds"])

    def run(
        self,
        argv: Sequence[str],
        *,
        account: Account = Account.AGENT,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        cwd: PurePosixPath | None = None,
        timeout: float = 120.0,
        cap: int = 1 << 20,
    ) -> Completed:
        answer = self._link.ask(
            Stage.WORK,
            "run",
            bound=timeout,
            blob=stdin,
            argv=list(argv),
            account=account.value,
            env=dict(env or {}),
            cwd=str(cwd) if cwd else None,
            timeout=timeout,
            cap=cap,
        )
        ended = answer.head["ok"]
        return Completed(
            exit_code=ended["exit_code"],
            stdout=answer.blob[: ended["stdout"]],
            stderr=answer.blob[ended["stdout"] :],
            seconds=ended["seconds"],
            timed_out=ended["timed_out"],
            truncated=ended["truncated"],
        )

    def put(
        self, source: Path, target: PurePosixPath, *, account: Account = Account.AGENT, mode: int = 0o644
    ) -> None:
        packed = _pack(source, target.name, account, mode)
        if len(packed) > MAX_BLOB:
            raise DeskFault(Stage.STAGING, f"put {target}: larger than {MAX_BLOB} bytes")
        script = 'mkdir -p -- "$1" && exec tar -xpf - -C "$1"'
        done = self.run(["sh", "-c", script, "sh", str(target.parent)], account=account, stdin=packed)
        if done.exit_code != 0:
            raise DeskFault(Stage.STAGING, f"put {target}", logs=done.stderr.decode("utf-8", "replace"))

    def get(
        self, source: PurePosixPath, target: Path, *, max_bytes: int = 64 << 20, max_files: int = 10_000
    ) -> int:
        with tempfile.SpooledTemporaryFile(_SPOOL) as spool:
            pieces = self._link.stream(
                Stage.COLLECT,
                "get",
                bound=_READ_BOUND,
                path=str(source),
                max_bytes=max_bytes,
                max_files=max_files,
            )
            arrived = 0
            for piece in pieces:
                arrived += len(piece.blob)
                if arrived > max_bytes + (max_files + 1) * 4096 + (1 << 20):
                    raise OutputRefused(f"{source}: the desk sends more than it may")
                spool.write(piece.blob)
            spool.seek(0)
            return extract(spool, target, max_bytes=max_bytes, max_files=max_files)

    def freeze(self) -> None:
        self._link.ask(Stage.COLLECT, "freeze", bound=_READ_BOUND)

    def elements(self) -> tuple[Element, ...]:
        answer = self._link.ask(Stage.WORK, "elements", bound=_ELEMENTS_BOUND)
        return tuple(
            Element(**{**element, "states": tuple(element["states"])})
            for element in answer.head["ok"]["elements"]
        )

    def clipboard(self) -> str | None:
        """The clipboard's text; None when it holds none."""
        text = self._link.ask(Stage.WORK, "clipboard_get", bound=2.0).head["ok"]["text"]
        return None if text is None else str(text)

    def set_clipboard(self, text: str) -> None:
        self._link.ask(Stage.WORK, "clipboard_set", text=text)


def _duration(action: Action) -> float:
    if isinstance(action, Wait):
        return action.seconds
    return action.hold if isinstance(action, Key) else 0.0


def _place(point: Point) -> list[int]:
    return [point.x, point.y]


def _names(chord: Sequence[str]) -> list[str]:
    """As the X server names them; a character is its own name."""
    return [keys.keysym(name) or name for name in chord]


def _tell(action: Action) -> dict[str, Any]:
    """An action as `handsd` reads it."""
    match action:
        case Move(to):
            return {"do": "move", "to": _place(to)}
        case Click(at, button, count, held):
            return {
                "do": "click",
                "at": _place(at),
                "button": button.value,
                "count": count,
                "held": _names(held),
            }
        case Drag(path, button, held):
            places = [_place(point) for point in path]
            return {"do": "drag", "path": places, "button": button.value, "held": _names(held)}
        case ButtonDown(button):
            return {"do": "down", "button": button.value}
        case ButtonUp(button):
            return {"do": "up", "button": button.value}
        case Scroll(at, dx, dy, held):
            return {"do": "scroll", "at": _place(at), "dx": dx, "dy": dy, "held": _names(held)}
        case TypeText(text):
            return {"do": "type", "text": text}
        case Key(chord, hold):
            return {"do": "key", "chord": _names(chord), "hold": hold}
        case Wait(seconds):
            return {"do": "wait", "seconds": seconds}


def _pack(source: Path, name: str, account: Account, mode: int) -> bytes:
    uid, gid = _OWNERS[account]

    def owned(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        if not (member.isfile() or member.isdir()):
            return None
        member.uid, member.gid, member.uname, member.gname = uid, gid, "", ""
        if source.is_file():
            member.mode = mode
        return member

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(source, name, filter=owned)
    return packed.getvalue()
