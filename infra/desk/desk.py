"""The contract of a desk: a machine with a screen, opened for one trial.

Every kind (container, VM, SSH, fake) passes `tests/contract/`. Whatever a desk cannot do is absent from its
`Capabilities`, which planning compares with a task's needs before anything boots.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Protocol

from practicum.infra.desk.actions import Action


class Network(StrEnum):
    """What a desk may reach. `LOOPBACK` is the guest's own loopback interface and nothing else."""

    NONE = "none"
    LOOPBACK = "loopback"
    ALLOWLIST = "allowlist"


class Capability(StrEnum):
    SCREEN = "screen"
    CLIPBOARD = "clipboard"
    ACCESSIBILITY = "accessibility"
    CHECKPOINT = "checkpoint"
    DAMAGE = "damage"
    FREEZE = "freeze"
    POWERSHELL = "powershell"
    WATCH = "watch"


class Account(StrEnum):
    """Who a command runs as: the agent, or the house (staging and services the agent must not read)."""

    AGENT = "agent"
    HOUSE = "house"


@dataclass(frozen=True, slots=True)
class DeskSpec:
    """What a trial asks for. Memory and disk in MiB."""

    image: str
    width: int = 1280
    height: int = 800
    network: Network = Network.NONE
    allow: tuple[str, ...] = ()
    memory: int = 2048
    cpus: float = 2.0
    pids: int = 1024
    disk: int = 4096
    locale: str = "C.UTF-8"
    timezone: str = "UTC"
    keyboard: str = "us"


@dataclass(frozen=True, slots=True)
class Label:
    """What marks everything opened for one trial, so that only our own things are ever reaped.

    `deadline` is seconds since the epoch, after which any reaper may take it away.
    """

    run: str
    trial: str
    deadline: float


@dataclass(frozen=True, slots=True)
class Settle:
    """When a frame counts as settled: no damage for `quiet` seconds, waiting at most `bound` seconds."""

    quiet: float = 0.05
    bound: float = 2.0


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture of the screen, never older than the last acknowledged action.

    `settled` is False when the bound ran out with the screen still changing; `waited` is in seconds.
    """

    png: bytes = field(repr=False)
    width: int
    height: int
    settled: bool
    waited: float

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.png).hexdigest()


@dataclass(frozen=True, slots=True)
class ActReceipt:
    """How many actions took effect, and the seconds they took inside the machine."""

    done: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Completed:
    """A command that ran. Output is cut at the cap, keeping head and tail, and then `truncated`."""

    exit_code: int
    stdout: bytes
    stderr: bytes
    seconds: float
    timed_out: bool = False
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Element:
    """One accessible object on the screen, its box in desk pixels."""

    role: str
    name: str
    x: int
    y: int
    width: int
    height: int
    states: tuple[str, ...] = ()
    text: str = ""
    depth: int = 0


class Desk(Protocol):
    """A ready machine. Raises `DeskLost` when it stops answering and `Unsupported` for what it cannot do."""

    spec: DeskSpec
    capabilities: frozenset[Capability]

    def observe(self, settle: Settle = ...) -> Frame:
        """The screen, once it is quiet or the bound is reached."""
        ...

    def act(self, *actions: Action) -> ActReceipt:
        """Carry out the actions in order; returns when the display server has acknowledged the last."""
        ...

    def run(
        self,
        argv: Sequence[str],
        *,
        account: Account = ...,
        stdin: bytes = ...,
        env: Mapping[str, str] | None = ...,
        cwd: PurePosixPath | None = ...,
        timeout: float = ...,
        cap: int = ...,
    ) -> Completed:
        """Run a command to its end; at `timeout` seconds its whole process tree is killed.

        With `account=AGENT` it runs in the agent's graphical session. `cap` bounds each output stream, bytes.
        """
        ...

    def put(self, source: Path, target: PurePosixPath, *, account: Account = ..., mode: int = ...) -> None:
        """Copy a file or folder in; it then belongs to `account`. Parents are made."""
        ...

    def get(self, source: PurePosixPath, target: Path, *, max_bytes: int = ..., max_files: int = ...) -> int:
        """Copy a regular file or folder out through the hostile-archive filter; returns bytes written.

        Links and devices are never followed: in a folder they are left out, as the source itself refused.
        Raises `FileNotFoundError` where nothing is there and `OutputRefused` for the rest, caps included.
        """
        ...

    def freeze(self) -> None:
        """Stop every process of the agent, for good: what is collected afterwards no longer changes."""
        ...


class Accessible(Protocol):
    """Desks with `Capability.ACCESSIBILITY` also have this."""

    def elements(self) -> tuple[Element, ...]:
        """The visible accessible objects of the active windows, in reading order."""
        ...


class DeskProvider(Protocol):
    """Opens one kind of desk."""

    @property
    def kind(self) -> str: ...

    def capabilities(self, spec: DeskSpec) -> frozenset[Capability]:
        """What a desk of this spec will be able to do, known without booting anything."""
        ...

    def digest(self, spec: DeskSpec) -> str:
        """Identity of the environment (image recipe and versions), part of the trial id."""
        ...

    def open(self, spec: DeskSpec, label: Label) -> AbstractContextManager[Desk]:
        """A ready desk for the `with` block. Raises `DeskFault` with stage and logs, `ImageMissing`
        or `EngineUnavailable`; whatever was begun is gone when it raises."""
        ...

    def held(self) -> tuple[Label, ...]:
        """Labels of everything of ours that is alive now."""
        ...

    def reap(self, now: float, abandoned: Callable[[Label], bool] = ...) -> tuple[Label, ...]:
        """Take away what is past its deadline at `now` (seconds since the epoch) or `abandoned`, which
        by default is nothing; returns what was taken."""
        ...
