"""What a verifier says: a tree of named checks that a person can read.

A verdict *passes* when every required check passed. Its score is the weighted mean of its checks,
and 0 as soon as one gate failed: a gate states what must hold before partial credit means anything
(the file opens, it is not the untouched input).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

import msgspec


class Role(StrEnum):
    """How a failing check weighs on its verdict."""

    GATE = "gate"
    REQUIRED = "required"
    BONUS = "bonus"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A file made by the verifier for a person to look at.

    In a stored verdict `data` is empty and `sha256` names the file that holds it.
    """

    name: str
    media_type: str
    data: bytes = field(repr=False)
    caption: str = ""
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """One named fact, with what was expected and what was found.

    `score` is in [0, 1]; `passed` is the verifier's decision and not derived from the score, because a
    tolerance may be met by something less than perfect. `reason` says in words why the check failed.
    """

    name: str
    passed: bool
    score: float
    expected: str = ""
    found: str = ""
    reason: str = ""
    weight: float = 1.0
    role: Role = Role.REQUIRED
    children: tuple[Check, ...] = ()
    evidence: tuple[Evidence, ...] = ()

    def __post_init__(self) -> None:
        if not (math.isfinite(self.score) and 0.0 <= self.score <= 1.0):
            raise ValueError(f"check {self.name!r}: score {self.score} is outside [0, 1]")
        if not (math.isfinite(self.weight) and self.weight >= 0.0):
            raise ValueError(f"check {self.name!r}: weight {self.weight} is negative or not finite")

    def weighing(self, weight: float) -> Check:
        return replace(self, weight=weight)

    def as_gate(self) -> Check:
        return replace(self, role=Role.GATE)

    def as_bonus(self) -> Check:
        return replace(self, role=Role.BONUS)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of grading one set of outputs."""

    checks: tuple[Check, ...]

    def __post_init__(self) -> None:
        if not self.checks:
            raise ValueError("a verdict without checks would pass everything")

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks if check.role is not Role.BONUS)

    @property
    def score(self) -> float:
        return _score(self.checks)

    def failures(self) -> tuple[str, ...]:
        """Names of all failing checks, parents joined to children by `/`, in reading order."""
        return tuple(_failures(self.checks, ""))


def check(
    name: str,
    passed: bool,
    *,
    expected: object = "",
    found: object = "",
    reason: str = "",
    score: float | None = None,
) -> Check:
    """A leaf check; the score is 1 or 0 unless partial credit is given."""
    return Check(
        name=name,
        passed=passed,
        score=float(passed) if score is None else score,
        expected=str(expected),
        found=str(found),
        reason="" if passed else reason or f"expected {expected}, found {found}",
    )


def all_of(name: str, checks: Iterable[Check]) -> Check:
    """Passes when each required child passes; scores as a verdict of the children would."""
    children = tuple(checks)
    inner = Verdict(children)
    return Check(name, inner.passed, inner.score, reason=_first_reason(children), children=children)


def any_of(name: str, checks: Iterable[Check]) -> Check:
    """Passes when one child passes; scores as the best child. Children never see one another's state."""
    children = tuple(checks)
    if not children:
        raise ValueError(f"any_of {name!r} without alternatives")
    best = max(children, key=lambda child: (child.passed, child.score))
    return Check(name, best.passed, best.score, reason="" if best.passed else best.reason, children=children)


def dumps(verdict: Verdict) -> bytes:
    return msgspec.json.encode(verdict)


def loads(data: bytes) -> Verdict:
    """Raises `msgspec.ValidationError` where the bytes are not a verdict."""
    return msgspec.json.decode(data, type=Verdict)


def _score(checks: tuple[Check, ...]) -> float:
    if any(check.role is Role.GATE and not check.passed for check in checks):
        return 0.0
    graded = [check for check in checks if check.role is not Role.GATE] or list(checks)
    total = math.fsum(check.weight for check in graded)
    if total == 0.0:
        return 0.0
    return min(1.0, math.fsum(check.weight * check.score for check in graded) / total)


def _failures(checks: tuple[Check, ...], prefix: str) -> Iterable[str]:
    for item in checks:
        if item.passed:
            continue
        name = f"{prefix}{item.name}"
        yield name
        yield from _failures(item.children, f"{name}/")


def _first_reason(checks: tuple[Check, ...]) -> str:
    return next((item.reason for item in checks if not item.passed and item.role is not Role.BONUS), "")
