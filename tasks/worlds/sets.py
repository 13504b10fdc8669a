"""Fixed sets of worlds, so that results from different places are about the same questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from practicum.tasks.errors import UnknownTask
from practicum.tasks.worlds import library

SEEDS_EACH = 20


@dataclass(frozen=True, slots=True)
class FixedSet:
    """Patterns of tasks, and questions of the practice sitting, as a run takes them."""

    tasks: tuple[str, ...]
    seeds: str


SETS: Mapping[str, FixedSet] = {"public": FixedSet(("worlds",), f"0-{SEEDS_EACH - 1}")}
"""`public`: the first twenty practice questions of each scenario, 400 in all."""


def named(name: str) -> FixedSet:
    """Raises `UnknownTask`."""
    if name not in SETS:
        raise UnknownTask(name, SETS)
    return SETS[name]


def public() -> Mapping[str, tuple[int, ...]]:
    """The seeds of the public set, by task id."""
    return {f"worlds/{name}": tuple(range(SEEDS_EACH)) for name in library.names()}
