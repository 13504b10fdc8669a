"""The fake desk: a simulated screen, real files and real commands, opened in under a millisecond.

It passes the conformance suite of all desks, so tests, sweeps and agent development need no machine. What
it shows is drawn by an `Application`; commands run in a bubblewrap sandbox that starts with the first one.
"""

from __future__ import annotations

import io
import os
import shutil
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import msgspec
import psutil
from PIL import Image

from practicum.infra.desk.actions import Action, TypeText, Wait
from practicum.infra.desk.applications import Application, Notepad
from practicum.infra.desk.archive import extract
from practicum.infra.desk.desk import (
    Account,
    ActReceipt,
    Capability,
    Completed,
    Desk,
    DeskSpec,
    Element,
    Frame,
    Label,
    Network,
    Settle,
)
from practicum.infra.desk.sandbox import AGENT_UID, Sandbox
from practicum.infra.errors import DeskFault, DeskLost, OutputRefused, Stage, Unsupported

HOME = PurePosixPath("/home/agent")
_NO_FILE = 66
_TAR_SLACK = 1 << 20
_CAPABILITIES = frozenset({Capability.SCREEN, Capability.ACCESSIBILITY, Capability.FREEZE, Capability.DAMAGE})


@dataclass(frozen=True, slots=True)
class _Tenancy:
    label: Label
    pid: int


@dataclass(frozen=True, slots=True)
class Script:
    """How a fake desk misbehaves: where opening fails, and after how many actions it is lost."""

    fail_at: Stage | None = None
    lost_after: int | None = None


class FakeDesk:
    """One open fake desk. `application` is what the screen shows and may be inspected by tests."""

    def __init__(self, spec: DeskSpec, folder: Path, application: Application, script: Script) -> None:
        self.spec = spec
        self.capabilities = _CAPABILITIES
        self.application = application
        self._script = script
        self._folder = folder
        self._sandbox: Sandbox | None = None
        self._frozen = False
        self._acted = 0
        self._painted: tuple[int, Frame] | None = None

    def observe(self, settle: Settle = Settle()) -> Frame:  # noqa: B008 - frozen
        self._check()
        if self._painted is None or self._painted[0] != self._acted:
            self._painted = (self._acted, self._paint())
        return self._painted[1]

    def act(self, *actions: Action) -> ActReceipt:
        started = time.monotonic()
        for action in actions:
            _refuse_controls(action)
        for action in actions:
            self._check()
            self._acted += 1
            if not isinstance(action, Wait):
                self.application.handle(action)
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
        self._check()
        if self._frozen and account is Account.AGENT:
            raise Unsupported("the agent of this desk is frozen")
        locale = {"LANG": self.spec.locale, "TZ": self.spec.timezone, **(env or {})}
        box = self._running()
        return box.run(
            argv, account=account, stdin=stdin, env=locale, cwd=cwd or HOME, timeout=timeout, cap=cap
        )

    def put(
        self, source: Path, target: PurePosixPath, *, account: Account = Account.AGENT, mode: int = 0o644
    ) -> None:
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            archive.add(source, target.name, filter=lambda member: _owned(member, account, mode, source))
        script = 'mkdir -p -- "$1" && exec tar -xpf - -C "$1"'
        done = self.run(
            ["sh", "-c", script, "sh", str(target.parent)], account=account, stdin=packed.getvalue()
        )
        if done.exit_code != 0:
            raise DeskFault(Stage.STAGING, f"put {target}", logs=done.stderr.decode("utf-8", "replace"))

    def get(
        self, source: PurePosixPath, target: Path, *, max_bytes: int = 64 << 20, max_files: int = 10_000
    ) -> int:
        cap = max_bytes + _TAR_SLACK
        script = (
            f'[ -e "$1/$2" ] || [ -L "$1/$2" ] || exit {_NO_FILE}; tar -C "$1" -cf - -- "$2" | head -c "$3"'
        )
        done = self.run(
            ["sh", "-c", script, "sh", str(source.parent), source.name, str(cap)],
            account=self._reader(),
            cap=cap,
        )
        if done.exit_code == _NO_FILE:
            raise FileNotFoundError(str(source))
        if done.truncated or len(done.stdout) >= cap:
            raise OutputRefused(f"{source.name} is larger than {max_bytes} bytes")
        return extract(io.BytesIO(done.stdout), target, max_bytes=max_bytes, max_files=max_files)

    def freeze(self) -> None:
        """Ends every process of the sandbox; the house gets a new one when it needs it."""
        self._check()
        self._frozen = True
        self.close()

    def elements(self) -> tuple[Element, ...]:
        self._check()
        return self.application.elements()

    def close(self) -> None:
        if self._sandbox is not None:
            self._sandbox.close()
            self._sandbox = None

    def _reader(self) -> Account:
        return Account.HOUSE if os.geteuid() == 0 else Account.AGENT

    def _running(self) -> Sandbox:
        if self._sandbox is None:
            self._sandbox = Sandbox(self._folder / "home", self._folder / "house")
        return self._sandbox

    def _check(self) -> None:
        if not self._folder.is_dir():
            raise DeskLost(Stage.WORK, "taken away by a reaper")
        limit = self._script.lost_after
        if limit is not None and self._acted >= limit:
            raise DeskLost(Stage.WORK, f"scripted to be lost after {limit} actions")

    def _paint(self) -> Frame:
        picture = Image.new("RGB", (self.spec.width, self.spec.height))
        self.application.draw(picture)
        buffer = io.BytesIO()
        picture.quantize(64).save(buffer, "PNG", compress_level=1)
        return Frame(buffer.getvalue(), self.spec.width, self.spec.height, settled=True, waited=0.0)


@dataclass(frozen=True, slots=True)
class FakeDesks:
    """Provider of fake desks. `application` makes what each new desk shows."""

    application: Callable[[DeskSpec], Application] = lambda _: Notepad()
    script: Script = Script()
    root: Path = field(default_factory=lambda: Path(tempfile.gettempdir()) / f"practicum-fake-{os.getuid()}")
    kind: str = "fake"

    def capabilities(self, spec: DeskSpec) -> frozenset[Capability]:
        return _CAPABILITIES

    def digest(self, spec: DeskSpec) -> str:
        return f"fake:{spec.width}x{spec.height}"

    @contextmanager
    def open(self, spec: DeskSpec, label: Label) -> Iterator[Desk]:
        if spec.network is Network.ALLOWLIST:
            raise Unsupported("a fake desk has no network to allow")
        folder = self._create(label)
        desk = FakeDesk(spec, folder, self.application(spec), self.script)
        try:
            if self.script.fail_at is not None:
                raise DeskFault(self.script.fail_at, "scripted to fail while opening", logs="scripted\n")
            yield desk
        finally:
            desk.close()
            shutil.rmtree(folder, ignore_errors=True)  # a reaper may have been here

    def held(self) -> tuple[Label, ...]:
        return tuple(tenancy.label for _, tenancy in self._tenancies())

    def reap(self, now: float, abandoned: Callable[[Label], bool] = lambda _: False) -> tuple[Label, ...]:
        """Folders past their deadline or abandoned, or whose process is gone and could not remove them."""
        taken = []
        for folder, tenancy in self._tenancies():
            expired = tenancy.label.deadline <= now or abandoned(tenancy.label)
            if expired or not psutil.pid_exists(tenancy.pid):
                shutil.rmtree(folder, ignore_errors=True)
                taken.append(tenancy.label)
        return tuple(taken)

    def _create(self, label: Label) -> Path:
        self.root.mkdir(mode=0o700, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=self.root))
        (folder / "home").mkdir()
        (folder / "house").mkdir(mode=0o700)
        if os.geteuid() == 0:
            os.chown(folder / "home", AGENT_UID, AGENT_UID)
        (folder / "tenancy.json").write_bytes(msgspec.json.encode(_Tenancy(label, os.getpid())))
        return folder

    def _tenancies(self) -> list[tuple[Path, _Tenancy]]:
        found = []
        for path in self.root.glob("*/tenancy.json"):
            try:
                found.append((path.parent, msgspec.json.decode(path.read_bytes(), type=_Tenancy)))
            except FileNotFoundError:
                continue  # closed by its owner meanwhile
        return found


def _refuse_controls(action: Action) -> None:
    if isinstance(action, TypeText):
        bad = [char for char in action.text if not char.isprintable() and char not in "\n\t"]
        if bad:
            raise Unsupported(f"control character {bad[0]!r} cannot be typed")


def _owned(member: tarfile.TarInfo, account: Account, mode: int, source: Path) -> tarfile.TarInfo | None:
    if not (member.isfile() or member.isdir()):
        return None
    member.uid = member.gid = AGENT_UID if account is Account.AGENT else 0
    member.uname = member.gname = ""
    if source.is_file():
        member.mode = mode
    return member
