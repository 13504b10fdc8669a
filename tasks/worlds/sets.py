"""Fixed sets of worlds, so that results from different places are about the same questions."""

from __future__ import annotations

from collections.abc import Mapping

from practicum.tasks.worlds import library

SEEDS_EACH = 20


def public() -> Mapping[str, tuple[int, ...]]:
    """The public set: the first twenty practice seeds of each scenario, by task id."""
    return {f"worlds/{name}": tuple(range(SEEDS_EACH)) for name in library.names()}
