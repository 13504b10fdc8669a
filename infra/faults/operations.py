"""What a fault may strike: the operations of an environment, told apart by tool and arguments."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable

import msgspec

from practicum.infra.environment import ToolCall

_encode = msgspec.json.Encoder(order="deterministic").encode


class Access(StrEnum):
    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class Operation:
    """The `index`-th distinct call of a tool (from 1), which a worker is expected to make `attempts` times.

    `changing` when the answer differs between attempts, so that an old one would be wrong. `accounted` when
    the environment can be asked which writes took effect; where it cannot, a write is struck only before it
    does, so that repeating it is right.
    """

    tool: str
    access: Access
    index: int = 1
    attempts: int = 1
    changing: bool = False
    accounted: bool = True


@runtime_checkable
class Faultable(Protocol):
    """An environment that knows what is worth striking in it."""

    def operations(self) -> tuple[Operation, ...]: ...

    def access(self, tool: str) -> Access: ...


def identity(call: ToolCall) -> str:
    """Equal for calls of equal arguments, whatever their order."""
    return _encode(call.arguments).decode()


_SCREEN = tuple(Operation("computer", Access.READ, 1, last, changing=True) for last in range(2, 7))
_DESK_OPERATIONS = tuple(
    Operation(tool, access, index, accounted=False)
    for tool, access, last in (
        ("bash", Access.WRITE, 6),
        ("powershell", Access.WRITE, 6),
        ("write_file", Access.WRITE, 2),
        ("read_file", Access.READ, 3),
        ("computer", Access.READ, 8),
    )
    for index in range(1, last + 1)
)


def desk_operations(tools: frozenset[str]) -> tuple[Operation, ...]:
    """What is struck on a desk, where nobody can tell beforehand what will be called."""
    return tuple(operation for operation in (*_DESK_OPERATIONS, *_SCREEN) if operation.tool in tools)


def desk_access(tool: str) -> Access:
    """How a desk tool is struck: `computer` through its screen, everything else as what it is."""
    return Access.READ if tool in {"read_file", "computer"} else Access.WRITE
