"""Which machines, and how they are reached: one TOML file.

[[host]]
name = "workstation"
user = "exam"
key = "~/.ssh/exam"            # or nothing, for the keys of the running agent
environment = { DISPLAY = ":0", XAUTHORITY = "/run/user/1000/gdm/Xauthority" }
reset = ["sudo", "zfs", "rollback", "pool/exam@clean"]

[host.jump]                    # the machine in between, itself a host
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


class _File(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    host: tuple[Host, ...]


def read(path: Path) -> tuple[Host, ...]:
    """The hosts in a TOML file. Raises `EngineUnavailable` where it is missing or wrong."""
    try:
        return msgspec.toml.decode(path.read_bytes(), type=_File, dec_hook=_path).host
    except (OSError, msgspec.DecodeError) as error:
        raise EngineUnavailable(f"no SSH host is set up: {error}", mend=f"write {path}") from error


def _path(kind: type, value: object) -> object:
    if kind is not Path or not isinstance(value, str):
        raise ValueError(f"{value!r} is no {kind.__name__}")
    return Path(value)
