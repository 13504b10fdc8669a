"""The faults of one trial, decided before it starts: which operation is struck, at which attempt, and how.

E0 is clean; E1 strikes explicitly (an error the caller sees); E2 implicitly (a degraded answer to a read);
E3 half and half. A strike ends after `duration` attempts of its operation, so every fault is transient.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from practicum.infra.faults.operations import Access, Operation


class Level(StrEnum):
    E0 = "E0"
    E1 = "E1"
    E2 = "E2"
    E3 = "E3"


class Strike(StrEnum):
    """Three errors, two of them before or after the write took effect, and four degraded answers."""

    SERVER_ERROR = "server_error"
    SERVER_ERROR_AFTER = "server_error_after"
    TIMEOUT = "timeout"
    TIMEOUT_AFTER = "timeout_after"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    DROPPED = "dropped"
    NULL = "null"
    STALE = "stale"

    @property
    def explicit(self) -> bool:
        return self not in _IMPLICIT

    @property
    def takes_effect(self) -> bool:
        """Whether the operation is carried out although its answer is lost."""
        return self in {Strike.SERVER_ERROR_AFTER, Strike.TIMEOUT_AFTER}


_IMPLICIT = frozenset({Strike.TRUNCATED, Strike.DROPPED, Strike.NULL, Strike.STALE})
_ON_READ = (Strike.SERVER_ERROR, Strike.TIMEOUT, Strike.REFUSED)
_ON_WRITE = (*_ON_READ, Strike.SERVER_ERROR_AFTER, Strike.TIMEOUT_AFTER)
_TEXT = re.compile(r"^(E[0-3])(?:x(\d+)(?:x(\d+))?)?$")


@dataclass(frozen=True, slots=True)
class FaultSpec:
    """How much goes wrong. Written `E2`, or `E2x3x1` with count and duration."""

    level: Level = Level.E0
    count: int = 2
    duration: int = 2

    @classmethod
    def parse(cls, text: str) -> FaultSpec:
        """Raises `ValueError`."""
        match = _TEXT.match(text)
        if match is None:
            raise ValueError(f"faults are E0 to E3, or such as E2x3x1 with count and duration; got {text!r}")
        count, duration = int(match[2] or 2), int(match[3] or 2)
        if count < 1 or duration < 1:
            raise ValueError(f"count and duration of faults are at least 1; got {text!r}")
        return cls(Level(match[1]), count, duration)

    def __str__(self) -> str:
        if self.level is Level.E0 or (self.count, self.duration) == (2, 2):
            return str(self.level)
        return f"{self.level}x{self.count}x{self.duration}"


@dataclass(frozen=True, slots=True)
class PlannedFault:
    """Strikes attempts `attempt` to `attempt + duration - 1` of the `index`-th distinct call of `tool`.

    `salt` decides what is left out of a degraded answer.
    """

    tool: str
    index: int
    attempt: int
    duration: int
    strike: Strike
    salt: int

    def strikes(self, tool: str, index: int, attempt: int) -> bool:
        return (
            self.tool == tool
            and self.index == index
            and self.attempt <= attempt < self.attempt + self.duration
        )


def draw(spec: FaultSpec, operations: Sequence[Operation], seed: str) -> tuple[PlannedFault, ...]:
    """The faults of one trial: no operation is struck twice. Fewer than `count` only where the operations
    do not suffice."""
    rng = Random(f"faults/{spec}/{seed}")
    left = list(operations)
    planned: list[PlannedFault] = []
    for explicit in _halves(spec, rng):
        fit = [operation for operation in left if explicit or operation.access is Access.READ]
        if not fit:
            continue
        operation = rng.choice(fit)
        left = [other for other in left if (other.tool, other.index) != (operation.tool, operation.index)]
        planned.append(_fault(spec, operation, explicit, rng))
    return tuple(planned)


def _halves(spec: FaultSpec, rng: Random) -> list[bool]:
    if spec.level is Level.E0:
        return []
    if spec.level is not Level.E3:
        return [spec.level is Level.E1] * spec.count
    first = rng.random() < 0.5
    return [first if number % 2 == 0 else not first for number in range(spec.count)]


def _fault(spec: FaultSpec, operation: Operation, explicit: bool, rng: Random) -> PlannedFault:
    attempt = 1
    if explicit:
        strike = rng.choice(
            _ON_WRITE if operation.access is Access.WRITE and operation.accounted else _ON_READ
        )
    elif operation.changing and rng.random() < 0.5:
        strike, attempt = Strike.STALE, operation.attempts
    else:
        strike = rng.choice((Strike.TRUNCATED, Strike.DROPPED, Strike.NULL))
    return PlannedFault(operation.tool, operation.index, attempt, spec.duration, strike, rng.getrandbits(32))
