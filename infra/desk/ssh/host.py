"""Which machine, and how it is reached: one TOML file.

name = "workstation"
user = "exam"
key = "~/.ssh/exam"            # or nothing, for the keys of the running agent
display = ":0"
reset = ["sudo", "zfs", "rollback", "pool/exam@clean"]

[jump]                         # the machine in between, itself a host
name = "gateway"
user = "me"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import msgspec

from practicum.infra.errors import EngineUnavailable


class Trust(StrEnum):
    """What to do with a host whose key is not known: refuse it, or note it when it is met first."""

    KNOWN = "known"
    FIRST_USE = "first_use"


@dataclass(frozen=True, slots=True)
class Host:
    """One machine. `reset` is the command that sets it back, run before each trial.

    `known_hosts` defaults to the user's own file; `python` has Pillow; `environment` is what leads a program
    into the user's graphical session.
    """

    name: str
    user: str
    port: int = 22
    key: Path | None = None
    agent: bool = True
    known_hosts: Path | None = None
    trust: Trust = Trust.KNOWN
    jump: Host | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: {"DISPLAY": ":0"}, hash=False)
    python: str = "python3"
    reset: tuple[str, ...] = ()
    accessible: bool = False

    @property
    def known_hosts_file(self) -> Path:
        return (self.known_hosts or Path("~/.ssh/known_hosts")).expanduser()


def read(path: Path) -> Host:
    """The host in a TOML file. Raises `EngineUnavailable` where it is missing or wrong."""
    try:
        return msgspec.toml.decode(path.read_bytes(), type=Host, strict=True, dec_hook=_path)
    except (OSError, msgspec.DecodeError) as error:
        raise EngineUnavailable(f"no SSH host is set up: {error}", mend=f"write {path}") from error


def _path(kind: type, value: object) -> object:
    if kind is Path:
        return Path(str(value))
    raise NotImplementedError(kind)
