"""The ladder of policies over worlds, seeds and fault levels, in worker processes without desks or models.

Each cell is one situation worked and graded through the files that a trial leaves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import msgspec

from practicum.agents.policies import HABITS, LADDER, wander
from practicum.controller.statistics.robustness import Ratio, paired_ratio
from practicum.infra.faults.account import FaultAccount
from practicum.tasks.worlds import library
from practicum.tasks.worlds.trialrun import Situation, Work, nothing, situation

LEVELS = ("E0", "E1", "E2", "E3")
RECORDS = "results.jsonl"
_SEEDS_AT_ONCE = 5
_RANDOM_CALLS = 24


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one policy in one situation under one level of faults."""

    policy: str
    level: str
    world: str
    seed: int
    passed: bool
    score: float
    calls: int
    state: str
    failures: tuple[str, ...]
    stopped: str | None
    faults: FaultAccount


@dataclass(frozen=True, slots=True)
class Climb:
    """What to run. `worlds` are names of scenarios."""

    worlds: tuple[str, ...]
    seeds: tuple[int, ...]
    levels: tuple[str, ...] = LEVELS
    policies: tuple[str, ...] = LADDER

    @property
    def size(self) -> int:
        return len(self.worlds) * len(self.seeds) * len(self.levels) * len(self.policies)


def climb(what: Climb, *, workers: int = 2, records: Path | None = None) -> list[Cell]:
    """Every cell, in the order of worlds, seeds, levels and policies; one JSON line each under `records`."""
    parts = [(world, seeds) for world in what.worlds for seeds in _batches(what.seeds)]
    cells: list[Cell] = []
    with ProcessPoolExecutor(workers) as pool:
        futures = [pool.submit(_part, world, seeds, what) for world, seeds in parts]
        for future in as_completed(futures):
            cells += future.result()
    order = {name: at for at, name in enumerate((*what.worlds, *what.levels, *what.policies))}
    cells.sort(key=lambda cell: (order[cell.world], cell.seed, order[cell.level], order[cell.policy]))
    if records is not None:
        records.mkdir(parents=True, exist_ok=True)
        (records / RECORDS).write_bytes(msgspec.json.Encoder().encode_lines(cells))
    return cells


def _batches(seeds: Sequence[int]) -> Iterator[tuple[int, ...]]:
    left = iter(seeds)
    while batch := tuple(islice(left, _SEEDS_AT_ONCE)):
        yield batch


def _part(world: str, seeds: Sequence[int], what: Climb) -> list[Cell]:
    scenario = library.scenario(world)
    cells = []
    for seed in seeds:
        with situation(scenario, seed) as it:
            for level in what.levels:
                cells += [_cell(it, level, policy) for policy in what.policies]
    return cells


def _cell(it: Situation, level: str, policy: str) -> Cell:
    done = it.work(at_work(policy, it), level)
    return Cell(
        policy=policy,
        level=level,
        world=it.scenario.rules.name,
        seed=it.seed,
        passed=done.verdict.passed,
        score=done.verdict.score,
        calls=len(done.entries),
        state=done.entries[-1].after if done.entries else "",
        failures=done.verdict.failures(),
        stopped=done.stopped,
        faults=done.faults,
    )


def at_work(policy: str, it: Situation) -> Work:
    """The work of one rung of the ladder. Raises `KeyError` for a name that is none."""
    if policy == "nop":
        return nothing
    if policy == "random-valid":
        return lambda call: wander(it.scenario.rules.menu, call, it.seed, _RANDOM_CALLS)
    habits = HABITS["careful" if policy == "oracle" else policy]
    return lambda call: it.scenario.work(call, it.setup.facts, habits)


@dataclass(frozen=True, slots=True)
class Rung:
    """One policy: pass rate and mean score by level, R, and what became of the faults it met."""

    policy: str
    passed: Mapping[str, float]
    score: Mapping[str, float]
    robustness: Ratio | None
    faults: FaultAccount
    trials: int


def rungs(cells: Iterable[Cell]) -> tuple[Rung, ...]:
    """A summary of each policy, in the order in which they occur."""
    by_policy: dict[str, list[Cell]] = {}
    for cell in cells:
        by_policy.setdefault(cell.policy, []).append(cell)
    return tuple(_rung(policy, members) for policy, members in by_policy.items())


def _rung(policy: str, cells: Sequence[Cell]) -> Rung:
    levels: dict[str, list[Cell]] = {}
    for cell in cells:
        levels.setdefault(cell.level, []).append(cell)
    passes = {
        level: {(cell.world, str(cell.seed)): float(cell.passed) for cell in members}
        for level, members in levels.items()
    }
    clean = passes.pop("E0", None)
    return Rung(
        policy=policy,
        passed={level: sum(c.passed for c in members) / len(members) for level, members in levels.items()},
        score={level: sum(c.score for c in members) / len(members) for level, members in levels.items()},
        robustness=paired_ratio(clean, passes) if clean else None,
        faults=sum((cell.faults for cell in cells), FaultAccount()),
        trials=len(cells),
    )
