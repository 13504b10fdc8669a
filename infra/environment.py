"""What an agent's hands can touch: tools that are called and answer. Desks and worlds are both this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from practicum.infra.desk.desk import Frame

JSON = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as a model is told of it; `parameters` is a JSON schema of type object."""

    name: str
    description: str
    parameters: JSON = field(hash=False)


@dataclass(frozen=True, slots=True)
class ToolCall:
    id: str
    name: str
    arguments: JSON = field(hash=False)


class ToolErrorKind(StrEnum):
    """The caller's mistakes and the world's refusals; none of them is a fault of ours."""

    UNKNOWN_TOOL = "unknown_tool"
    BAD_ARGUMENTS = "bad_arguments"
    REFUSED = "refused"
    UNSUPPORTED = "unsupported"
    FAILED = "failed"
    UNAVAILABLE = "unavailable"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the agent is shown. `data` is the structured answer where the tool has one."""

    text: str = ""
    frames: tuple[Frame, ...] = ()
    error: ToolErrorKind | None = None
    data: JSON | None = field(default=None, hash=False)


class Environment(Protocol):
    """Open for one trial. `call` answers a model's mistakes with an error result and raises only
    `InfraError`, when the environment itself failed."""

    def tools(self) -> tuple[Tool, ...]: ...

    def call(self, call: ToolCall) -> ToolResult: ...

    def collect(self, into: Path) -> tuple[str, ...]:
        """End the agent's reach, then copy what it left into the empty folder `into`.

        Returns, in words, what was left out and why (links, too large): the agent's doing, not a fault.
        """
        ...
