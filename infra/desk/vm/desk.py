"""A virtual machine as a desk: eyes and hands over QEMU's monitor, commands and files over the guest's agent.

The guest tells nobody when it paints, so a settled frame is one that repeated dumps of the screen agree on.
"""

from __future__ import annotations

import math
import tarfile
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from PIL import Image

from practicum.infra.desk.actions import Action, ButtonUp, Click, Drag, Point
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
from practicum.infra.desk.pack import pack
from practicum.infra.desk.pauses import pause
from practicum.infra.desk.vm.emulator import Emulator, Picture, logs
from practicum.infra.desk.vm.guest import LinuxGuest
from practicum.infra.desk.vm.input import Device, Keyboard, Lend, Pace, Report, steps_of, uses_keys
from practicum.infra.desk.vm.qmp import ChannelLost, CommandRefused
from practicum.infra.errors import DeskFault, DeskLost, Stage, Unsupported
from practicum.vm_images.handsd import png

CAPABILITIES = frozenset(
    {
        Capability.SCREEN,
        Capability.CLIPBOARD,
        Capability.ACCESSIBILITY,
        Capability.CHECKPOINT,
        Capability.FREEZE,
    }
)

_LOOK = 0.04
_REST = 0.04
_BUSY = 0.3
"""Of one processor: an idle desktop takes a twentieth of it, and any program that starts takes all."""
_APART, _APART_FROM_DOUBLE, _NEAR = 0.55, 0.9, 6.0
_FOCUS = Settle(quiet=0.03, bound=0.5)
_SPOOL = 16 << 20


@dataclass(frozen=True, slots=True)
class Watch:
    """Where a person may look on and take over, by VNC, and the password that lets them."""

    host: str
    port: int
    password: str


class _Busy:
    """When the guest's processors were last seen at work."""

    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator
        self._seen = emulator.busy_seconds()
        self._at = self._busy_at = time.monotonic()

    def last_at(self, now: float) -> float:
        """On the clock of `now` (monotonic); that very moment where nobody can tell."""
        seen = self._emulator.busy_seconds()
        if seen is None or self._seen is None:
            return now
        if now - self._at >= _LOOK:
            if seen - self._seen > _BUSY * (now - self._at):
                self._busy_at = now
            self._seen, self._at = seen, now
        return self._busy_at


class VmDesk:
    """`infra.desk.desk.Desk`, `Accessible`, and the clipboard."""

    def __init__(
        self,
        spec: DeskSpec,
        emulator: Emulator,
        guest: LinuxGuest,
        *,
        patience: float,
        watch: Watch | None = None,
    ) -> None:
        self.spec = spec
        self.capabilities = CAPABILITIES | ({Capability.WATCH} if watch else set())
        self.watch = watch
        self._emulator = emulator
        self._guest = guest
        self._patience = patience
        self._hands = threading.Lock()
        self._frozen = False
        self._last: tuple[Picture, bytes] | None = None
        self._apart_until = (-math.inf, Point(0, 0))
        self._pressed = False
        self._clicked = False
        self._device: Device | None = None

    def observe(self, settle: Settle = Settle()) -> Frame:  # noqa: B008 - frozen
        with self._seam(Stage.WORK):
            started = time.monotonic()
            picture, settled = self._settled(settle)
            waited = time.monotonic() - started
            return Frame(self._encoded(picture), picture.width, picture.height, settled, waited)

    def act(self, *actions: Action) -> ActReceipt:
        with self._seam(Stage.WORK), self._hands:
            self._refuse_frozen()
            started = time.monotonic()
            keyboard = self._guest.keyboard() if any(uses_keys(action) for action in actions) else None
            planned = [(action, list(self._steps(action, keyboard))) for action in actions]
            for action, steps in planned:
                self._prepare(action)
                for step in steps:
                    self._do(step)
                self._note(action)
            self._flush()
            return ActReceipt(len(actions), time.monotonic() - started)

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
        if account is Account.AGENT:
            self._refuse_frozen()
        with self._seam(Stage.WORK):
            return self._guest.run(
                argv, account=account, stdin=stdin, env=env or {}, cwd=cwd, timeout=timeout, cap=cap
            )

    def put(
        self, source: Path, target: PurePosixPath, *, account: Account = Account.AGENT, mode: int = 0o644
    ) -> None:
        with self._seam(Stage.STAGING), tempfile.SpooledTemporaryFile(_SPOOL) as packed:
            pack(packed, source, target.name, account, mode)
            size = packed.tell()
            packed.seek(0)
            ended = self._guest.put(packed, size, target.parent, account)
            if ended.code != 0:
                raise DeskFault(Stage.STAGING, f"put {target}", logs=ended.stderr.decode("utf-8", "replace"))

    def get(
        self, source: PurePosixPath, target: Path, *, max_bytes: int = 64 << 20, max_files: int = 10_000
    ) -> int:
        with self._seam(Stage.COLLECT), tempfile.SpooledTemporaryFile(_SPOOL) as spool:
            self._guest.get(source, spool, max_bytes, max_files)
            spool.seek(0)
            return extract(spool, target, max_bytes=max_bytes, max_files=max_files)

    def freeze(self) -> None:
        with self._seam(Stage.COLLECT):
            self._guest.freeze()
            self._frozen = True

    def elements(self) -> tuple[Element, ...]:
        self._refuse_frozen()
        with self._seam(Stage.WORK):
            return self._guest.elements()

    def clipboard(self) -> str | None:
        """The clipboard's text; None when it holds none."""
        done = self.run(["xclip", "-selection", "clipboard", "-o"], timeout=10.0)
        return done.stdout.decode("utf-8", "replace") if done.exit_code == 0 else None

    def set_clipboard(self, text: str) -> None:
        done = self.run(["xclip", "-selection", "clipboard", "-i"], stdin=text.encode(), timeout=10.0)
        if done.exit_code != 0:
            raise DeskFault(
                Stage.WORK, "the clipboard takes nothing", logs=done.stderr.decode("utf-8", "replace")
            )

    def last_frame(self) -> bytes | None:
        """The last picture that was taken, as PNG."""
        return self._last[1] if self._last else None

    def _settled(self, settle: Settle) -> tuple[Picture, bool]:
        """Dump the screen until it has stayed the same for long enough, or the bound is reached.

        `quiet` is long enough while the guest's processors rest. While they work, something may be on its way
        to the screen, and it takes several times as long as the guest was seen to need for an answer.
        """
        started = time.monotonic()
        busy = _Busy(self._emulator)
        picture, same_since = self._emulator.picture(), started
        while True:
            now = time.monotonic()
            at_rest = same_since + settle.quiet
            if settle.quiet > 0 and busy.last_at(now) > now - max(settle.quiet, _REST):
                at_rest = same_since + max(settle.quiet, self._patience)
            if now >= at_rest or now >= started + settle.bound:
                return picture, now >= at_rest
            pause(min(_LOOK, started + settle.bound - now))
            later = self._emulator.picture()
            if later != picture:
                picture, same_since = later, time.monotonic()

    def _encoded(self, picture: Picture) -> bytes:
        last = self._last
        if last is None or last[0] != picture:
            self._last = last = (picture, encode(picture))
        return last[1]

    def _steps(self, action: Action, keyboard: Keyboard | None) -> Iterator[Report | Pace | Lend]:
        def known() -> Keyboard:
            assert keyboard is not None, "asked for by uses_keys"
            return keyboard

        return steps_of(action, (self.spec.width, self.spec.height), known)

    def _prepare(self, action: Action) -> None:
        """Two clicks are not a double click; and keys go where the focus is once a click has moved it."""
        if isinstance(action, Click):
            moment, place = self._apart_until
            left = moment - time.monotonic()
            if left > 0 and math.dist((place.x, place.y), (action.at.x, action.at.y)) <= _NEAR:
                pause(left)
        elif uses_keys(action) and self._clicked:
            self._clicked = False
            self._flush()
            self._settled(_FOCUS)

    def _note(self, action: Action) -> None:
        if isinstance(action, Click):
            apart = _APART if action.count == 1 else _APART_FROM_DOUBLE
            self._apart_until = (time.monotonic() + apart, action.at)
        if isinstance(action, Click | Drag | ButtonUp):
            self._clicked = True

    def _do(self, step: Report | Pace | Lend) -> None:
        match step:
            case Report():
                if self._device not in {None, step.device} or (self._pressed and step.moves):
                    self._flush()
                self._device = step.device
                self._pressed = self._pressed or step.presses
                self._emulator.send(step)
            case Pace(seconds):
                pause(seconds)
            case Lend(loans):
                self._flush()
                self._guest.lend(dict(loans))

    def _flush(self) -> None:
        """Return when the display server has what was sent, and another device cannot overtake it.

        By then the window manager has dealt with presses: it sees each first, and what moves meanwhile is
        held back and told with another place.
        """
        if self._device is not None:
            self._emulator.drain(self._device)
            self._guest.barrier()
            self._device, self._pressed = None, False

    def _status(self) -> str:
        if not self._emulator.alive:
            return "gone"
        with suppress(ChannelLost, CommandRefused):
            return self._emulator.status()
        return "silent"

    def _refuse_frozen(self) -> None:
        if self._frozen:
            raise Unsupported("the agent of this desk is frozen")

    @contextmanager
    def _seam(self, stage: Stage) -> Iterator[None]:
        """Where errors of QEMU and of the guest become ours."""
        try:
            yield
        except ChannelLost as lost:
            said = logs(self._emulator.folder)
            message = f"{lost}; QEMU is {self._status()}"
            raise DeskLost(stage, message, logs=said, frame=self.last_frame()) from lost
        except (CommandRefused, OSError, tarfile.TarError) as error:
            if isinstance(error, FileNotFoundError) and stage is Stage.COLLECT:
                raise
            said = logs(self._emulator.folder)
            raise DeskFault(stage, str(error), logs=said, frame=self.last_frame()) from error


def encode(picture: Picture) -> bytes:
    """As PNG; equal pictures give equal bytes."""
    return png.encode(Image.frombytes("RGB", (picture.width, picture.height), picture.rgb))
