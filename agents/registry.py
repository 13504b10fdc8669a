"""From what a person writes after `--agent` to the agent that sits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from practicum.agents.agent import Sitter
from practicum.agents.identity import ROOM
from practicum.agents.policies import POLICIES
from practicum.agents.redteam import RedTeam
from practicum.agents.scripted import Nop, Oracle, RandomHand
from practicum.agents.strict import suggestion

BUILTIN: Mapping[str, Callable[[], Sitter]] = {
    "nop": Nop,
    "oracle": Oracle,
    "random": RandomHand,
    "red-team": RedTeam,
    **POLICIES,
}
"""Agents that need no file. A module of agents adds its own here."""


class UnknownAgent(ValueError):
    """No agent of this name; the message names the nearest."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no agent {name!r}; {suggestion(name, names())}")
        self.name = name


def names() -> tuple[str, ...]:
    """Everything `resolve` knows by name."""
    return tuple(sorted({*BUILTIN, *_files()}))


def resolve(name: str) -> Sitter:
    """The sitter of this name, or of the agent file at this path.

    Raises `UnknownAgent`, `strict.BadFile` for a file that is no agent, and `AgentUnavailable` where the
    machine lacks what the agent needs.
    """
    if name in BUILTIN:
        return BUILTIN[name]()
    files = _files()
    if name in files:
        return _load(files[name])
    if name.endswith(".toml"):
        return _load(Path(name))
    raise UnknownAgent(name)


def _load(path: Path) -> Sitter:
    from practicum.agents.generalist.agent import load  # noqa: PLC0415 - its API client takes a second to import

    return load(path)


def _files() -> Mapping[str, Path]:
    return {path.stem: path for path in sorted((ROOM / "configs").glob("*.toml"))}
