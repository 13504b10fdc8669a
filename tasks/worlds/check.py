"""The authoring gate of worlds: what must be true of a scenario before anybody may be scored in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from string import Formatter

from practicum.infra.errors import WorldFault
from practicum.infra.world.engine import replay
from practicum.infra.world.tables import Tables
from practicum.infra.world.world import View
from practicum.tasks.worlds.scenario import NearMiss, Scenario
from practicum.tasks.worlds.trialrun import Situation, Worked, nothing, situation

FAULTS = ("E1", "E2", "E3", "E1x3x3", "E2x4x1", "E3x4x2")
"""Levels under which the oracle must still pass, with counts and durations beyond the usual ones."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One demand over all seeds: how often it held, and the first place where it did not."""

    demand: str
    seeds: int
    broken: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return self.seeds > 0 and not self.broken


Demand = Callable[[Situation], str | None]
"""`None` where it holds for one seed, else what is wrong."""


def check(scenario: Scenario, seeds: Sequence[int]) -> tuple[Finding, ...]:
    """All demands on these seeds, in the order in which an author would mend them."""
    broken: dict[str, list[str]] = {name: [] for name, _ in _demands(scenario)}
    for seed in seeds:
        with situation(scenario, seed) as it:
            for name, demand in _demands(scenario):
                if (why := demand(it)) is not None:
                    broken[name].append(f"seed {seed}: {why}")
    return tuple(Finding(name, len(seeds), tuple(reasons)) for name, reasons in broken.items())


def _demands(scenario: Scenario) -> Iterator[tuple[str, Demand]]:
    yield "generation is deterministic", _deterministic
    yield "the brief says all facts", _brief
    yield "the start breaks no rule", _start
    yield "doing nothing scores 0", _nop
    yield "the oracle passes", _oracle
    yield "the journal replays to equal hashes", _replays
    yield "the oracle passes under faults", _under_faults
    for miss in scenario.near_misses:
        yield f"near miss: {miss.name}", partial(_miss, miss)


def _deterministic(it: Situation) -> str | None:
    again = it.scenario.setup(it.seed)
    if again != it.setup:
        return "two generations differ"
    if it.scenario.open(again).snapshot() != it.scenario.open(it.setup).snapshot():
        return "two worlds differ"
    return None


def _brief(it: Situation) -> str | None:
    """The plan is told the facts and nothing else, so what the brief says and tools answer is enough."""
    named = {name for _, name, _, _ in Formatter().parse(it.scenario.brief) if name}
    if named != set(it.setup.facts):
        return f"facts {sorted(it.setup.facts)} but the brief names {sorted(named)}"
    return None


def _start(it: Situation) -> str | None:
    view = View(initial(it))
    broken = it.scenario.rules.broken(view)
    return broken or next((why for rule in it.scenario.always if (why := rule(view)) is not None), None)


def initial(it: Situation) -> Tables:
    return it.scenario.rules.load(it.scenario.open(it.setup).snapshot()["tables"])


def _nop(it: Situation) -> str | None:
    verdict = it.work(nothing).verdict
    return None if verdict.score == 0 and not verdict.passed else f"scores {verdict.score}"


def _oracle(it: Situation) -> str | None:
    return _failure(it.plan())


def _failure(done: Worked) -> str | None:
    if done.verdict.passed and done.verdict.score == 1.0 and done.stopped is None:
        return None
    return f"fails {', '.join(done.verdict.failures())}; {done.stopped or 'did not stop'}"


def _replays(it: Situation) -> str | None:
    try:
        replay(it.scenario.rules, initial(it), it.plan().entries)
    except WorldFault as fault:
        return str(fault)
    return None


def _under_faults(it: Situation) -> str | None:
    for level in FAULTS:
        done = it.plan(level)
        if (why := _failure(done)) is not None:
            return f"{level}: {why}"
        if done.faults.met == 0:
            return f"{level}: no fault was met"
    return None


def _miss(miss: NearMiss, it: Situation) -> str | None:
    done = it.plan(plan=miss.plan)
    if done.verdict.passed:
        return "passes"
    failures = done.verdict.failures()
    named = any(name == miss.fails or name.startswith(f"{miss.fails}/") for name in failures)
    return None if named else f"fails {', '.join(failures)} and not {miss.fails}; {done.stopped}"
