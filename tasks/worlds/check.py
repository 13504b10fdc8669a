"""The authoring gate of worlds: what must be true of a scenario before anybody may be scored in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from string import Formatter

from practicum.infra.errors import WorldFault
from practicum.infra.world.engine import replay
from practicum.infra.world.world import View
from practicum.tasks.worlds.scenario import Scenario, Setup
from practicum.tasks.worlds.trialrun import Worked, nothing, plan_work, work

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


Demand = Callable[[Scenario, Setup, int], str | None]
"""`None` where it holds for one seed, else what is wrong."""


def check(scenario: Scenario, seeds: Sequence[int]) -> tuple[Finding, ...]:
    """All demands on these seeds, in the order in which an author would mend them."""
    setups = [(seed, scenario.setup(seed)) for seed in seeds]
    return tuple(_finding(name, demand, scenario, setups) for name, demand in _demands(scenario))


def _finding(name: str, demand: Demand, scenario: Scenario, setups: Iterable[tuple[int, Setup]]) -> Finding:
    reasons = [(seed, demand(scenario, setup, seed)) for seed, setup in setups]
    return Finding(name, len(reasons), tuple(f"seed {seed}: {why}" for seed, why in reasons if why))


def _demands(scenario: Scenario) -> Iterator[tuple[str, Demand]]:
    yield "generation is deterministic", _deterministic
    yield "the brief says all facts", _brief
    yield "the start breaks no rule", _start
    yield "doing nothing scores 0", _nop
    yield "the oracle passes", _oracle
    yield "the journal replays to equal hashes", _replays
    yield "the oracle passes under faults", _under_faults
    for number, miss in enumerate(scenario.near_misses):
        yield f"near miss: {miss.name}", _miss(number)


def _deterministic(scenario: Scenario, setup: Setup, seed: int) -> str | None:
    again = scenario.setup(seed)
    if again != setup:
        return "two generations differ"
    if scenario.open(again).snapshot() != scenario.open(setup).snapshot():
        return "two worlds differ"
    return None


def _brief(scenario: Scenario, setup: Setup, _: int) -> str | None:
    """The plan is told the facts and nothing else, so what the brief says and tools answer is enough."""
    named = {name for _, name, _, _ in Formatter().parse(scenario.brief) if name}
    if named != set(setup.facts):
        return f"facts {sorted(setup.facts)} but the brief names {sorted(named)}"
    return None


def _start(scenario: Scenario, setup: Setup, _: int) -> str | None:
    view = View(scenario.rules.load(scenario.open(setup).snapshot()["tables"]))
    broken = scenario.rules.broken(view)
    return broken or next((why for rule in scenario.always if (why := rule(view)) is not None), None)


def _nop(scenario: Scenario, setup: Setup, seed: int) -> str | None:
    verdict = work(scenario, setup, seed, nothing).verdict
    return None if verdict.score == 0 and not verdict.passed else f"scores {verdict.score}"


def _oracle(scenario: Scenario, setup: Setup, seed: int) -> str | None:
    return _failure(work(scenario, setup, seed, plan_work(scenario, setup)))


def _failure(done: Worked) -> str | None:
    if done.verdict.passed and done.verdict.score == 1.0 and done.stopped is None:
        return None
    return f"fails {', '.join(done.verdict.failures())}; {done.stopped or 'did not stop'}"


def _replays(scenario: Scenario, setup: Setup, seed: int) -> str | None:
    done = work(scenario, setup, seed, plan_work(scenario, setup))
    tables = scenario.rules.load(scenario.open(setup).snapshot()["tables"])
    try:
        replay(scenario.rules, tables, done.entries)
    except WorldFault as fault:
        return str(fault)
    return None


def _under_faults(scenario: Scenario, setup: Setup, seed: int) -> str | None:
    for text in FAULTS:
        done = work(scenario, setup, seed, plan_work(scenario, setup), text)
        if (why := _failure(done)) is not None:
            return f"{text}: {why}"
        if done.faults.met == 0:
            return f"{text}: no fault was met"
    return None


def _miss(number: int) -> Demand:
    def demand(scenario: Scenario, setup: Setup, seed: int) -> str | None:
        miss = scenario.near_misses[number]
        done = work(scenario, setup, seed, lambda call: scenario.work(call, setup.facts, plan=miss.plan))
        if done.verdict.passed:
            return "passes"
        failures = done.verdict.failures()
        named = any(name == miss.fails or name.startswith(f"{miss.fails}/") for name in failures)
        return None if named else f"fails {', '.join(failures)} and not {miss.fails}; {done.stopped}"

    return demand
