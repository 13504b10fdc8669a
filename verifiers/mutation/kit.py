"""What a mutation kit is: right files, ways to be wrong in one fact, ways to be written differently."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random


@dataclass(frozen=True, slots=True)
class Damage:
    """Makes a right file wrong in one fact, in place. Severity is in (0, 1]; more must not score higher.

    `graded` damages have such a scale, the others are wrong in one way only. `fails` is the check to see it.
    """

    name: str
    fails: str
    apply: Callable[[Path, float, Random], None]
    graded: bool = True


@dataclass(frozen=True, slots=True)
class Rewriting:
    """Writes a right file differently, in place: every verdict must stay a pass."""

    name: str
    apply: Callable[[Path, Random], None]


@dataclass(frozen=True, slots=True)
class Kit:
    """`sample` writes a right file of the family under the path given, whose name ends in `suffix`.

    `spec` is what candidates of the kit are compared with, the family's default where None.
    """

    kind: str
    suffix: str
    sample: Callable[[Path, Random], None]
    damages: tuple[Damage, ...]
    rewritings: tuple[Rewriting, ...]
    spec: object | None = None


def amount(severity: float, whole: int) -> int:
    """How many of `whole` things a severity means, at least one."""
    return max(1, min(whole, round(severity * whole)))
