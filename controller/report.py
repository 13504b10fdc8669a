"""Reading a run: rates and means with their intervals, costs, comparisons. A pure function of its records.

A fault is in no mean. Every rate stands beside the number of trials and tasks that it comes from.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing

import msgspec

from practicum.agents.agent import Ending
from practicum.controller import wisely
from practicum.controller.errors import NothingScored
from practicum.controller.index import summaries
from practicum.controller.ledger import RUN, Ledger, Unit
from practicum.controller.order import question_of, read_rounds
from practicum.controller.statistics.compare import Comparison, compare, holm
from practicum.controller.statistics.intervals import Estimate, estimate
from practicum.controller.statistics.repeats import pass_at_k, pass_hat_k
from practicum.controller.statistics.robustness import paired_ratio
from practicum.controller.statistics.wilson import Interval
from practicum.controller.store import Run
from practicum.controller.summary import Counts, Standing, Summary
from practicum.controller.wisely import Round, Weighted

CLEAN = "E0"
GUI_TOOL = "computer"


class Repeats(msgspec.Struct, frozen=True, kw_only=True):
    """Over tasks that were tried at least `k` times: succeeding once in k, and k times in k."""

    k: int
    once: float
    always: float
    tasks: int


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One agent in one part of the run. Sums are over scored trials; `None` where nothing is known.

    `nano_dollars` sums what is known; `unknown_costs` counts the trials whose cost is not.
    """

    dimension: str
    value: str
    agent: str
    counts: dict[str, int]
    passed: Estimate | None
    score: Estimate | None
    repeats: tuple[Repeats, ...]
    endings: dict[str, int]
    seconds: float
    steps: int
    tokens: int
    nano_dollars: int
    unknown_costs: int
    gui_share: float | None


class Versus(msgspec.Struct, frozen=True, kw_only=True):
    """Two agents on their common questions; `p_adjusted` is Holm's for all comparisons of the report."""

    first: str
    second: str
    measure: str
    comparison: Comparison
    p_adjusted: float


class Robustness(msgspec.Struct, frozen=True, kw_only=True):
    """Pass rates of an agent by level of injected faults, and R over the `pairs` common questions."""

    agent: str
    rates: dict[str, float]
    ratio: float | None
    interval: Interval | None = None
    pairs: int = 0


class Designed(msgspec.Struct, frozen=True, kw_only=True):
    """What asking the whole plan of a tier would give, from a run that chose its trials wisely.

    `agents` is one agent's pass rate, or the difference of two. Unbiased for how the trials were chosen,
    which the plain rates of such a run are not.
    """

    tier: str
    agents: tuple[str, ...]
    mean: float
    interval: Interval
    asked: int
    questions: int


class Bill(msgspec.Struct, frozen=True, kw_only=True):
    """The book of the run. `unsettled` may have been spent: its owner died or the provider did not say."""

    nano_dollars: int
    unsettled: int
    cap: int | None
    tokens: int
    machine_ms: int


class Report(msgspec.Struct, frozen=True, kw_only=True):
    run: str
    created: str
    counts: dict[str, int]
    retried: int
    bill: Bill
    rows: tuple[Row, ...]
    versus: tuple[Versus, ...]
    robustness: tuple[Robustness, ...]
    designed: tuple[Designed, ...]
    notes: tuple[str, ...]

    def of(self, dimension: str) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.dimension == dimension)


DIMENSIONS: Mapping[str, Callable[[Summary], str]] = {
    "all": lambda _: "all",
    "tier": lambda summary: summary.trial.tier,
    "cluster": lambda summary: summary.trial.cluster,
    "subdomain": lambda summary: summary.trial.subdomain,
    "faults": lambda summary: summary.trial.faults,
}


def read(run: Run) -> Report:
    """The report of a run. Raises `BadRecord`, and `NothingScored` where there is no score to report."""
    record, standing = run.record(), summaries(run)
    counts = Counts.of(standing)
    if counts.scored == 0:
        raise NothingScored(f"{run.root}: nothing was scored: {counts.sentence()}")
    clean = [summary for summary in standing if summary.trial.faults == CLEAN]
    versus = comparisons(clean)
    return Report(
        run=record.run,
        created=record.created,
        counts=_as_dict(counts),
        retried=sum(summary.attempt > 1 for summary in standing),
        bill=bill_of(run),
        rows=tuple(rows(standing)),
        versus=versus,
        robustness=tuple(robustnesses(standing)),
        designed=tuple(designed(read_rounds(run.rounds), standing)),
        notes=tuple(_notes(standing, counts, versus)),
    )


def rows(standing: Sequence[Summary]) -> Iterable[Row]:
    """Each agent in each part of each dimension, in the order of the plan."""
    for dimension, part_of in DIMENSIONS.items():
        parts: dict[tuple[str, str], list[Summary]] = {}
        for summary in standing:
            parts.setdefault((part_of(summary), summary.trial.agent), []).append(summary)
        if dimension == "faults" and {part for part, _ in parts} == {CLEAN}:
            continue
        for (part, agent), members in parts.items():
            yield row(dimension, part, agent, members)


def row(dimension: str, value: str, agent: str, members: Sequence[Summary]) -> Row:
    scored = [summary for summary in members if summary.standing is Standing.SCORED]
    costs = [summary.spent.nano_dollars for summary in scored]
    tools = [summary.spent.tools for summary in scored]
    calls = sum(sum(used.values()) for used in tools)
    return Row(
        dimension=dimension,
        value=value,
        agent=agent,
        counts=_as_dict(Counts.of(members)),
        passed=_estimate(scored, lambda summary: float(bool(summary.passed))),
        score=_estimate(scored, lambda summary: summary.score or 0.0),
        repeats=tuple(_repeats(scored)),
        endings={ending: sum(summary.ending == ending for summary in scored) for ending in Ending},
        seconds=math.fsum(summary.spent.seconds for summary in scored),
        steps=sum(summary.spent.steps for summary in scored),
        tokens=sum(summary.spent.tokens or 0 for summary in scored),
        nano_dollars=sum(cost for cost in costs if cost is not None),
        unknown_costs=costs.count(None),
        gui_share=sum(used.get(GUI_TOOL, 0) for used in tools) / calls if calls else None,
    )


def comparisons(standing: Sequence[Summary]) -> tuple[Versus, ...]:
    """Every pair of agents, by pass rate and by mean score, on what both answered."""
    agents = list(dict.fromkeys(summary.trial.agent for summary in standing))
    found: list[tuple[str, str, str, Comparison]] = []
    for first, second in itertools.combinations(agents, 2):
        for measure in ("pass", "score"):
            answers = [_answers(standing, agent, measure) for agent in (first, second)]
            comparison = compare(*answers)
            if comparison is not None:
                found.append((first, second, measure, comparison))
    adjusted = holm([comparison.p for *_, comparison in found])
    return tuple(
        Versus(first=first, second=second, measure=measure, comparison=comparison, p_adjusted=p)
        for (first, second, measure, comparison), p in zip(found, adjusted, strict=True)
    )


def robustnesses(standing: Sequence[Summary]) -> Iterable[Robustness]:
    for agent in dict.fromkeys(summary.trial.agent for summary in standing):
        levels = _passes_by_level(standing, agent)
        clean = levels.get(CLEAN)
        faulted = {level: passes for level, passes in levels.items() if level != CLEAN}
        if clean is None or not faulted:
            continue
        found = paired_ratio(clean, faulted)
        yield Robustness(
            agent=agent,
            rates={level: sum(passes.values()) / len(passes) for level, passes in levels.items()},
            ratio=None if found is None else found.value,
            interval=None if found is None else found.interval,
            pairs=0 if found is None else found.pairs,
        )


def _passes_by_level(standing: Sequence[Summary], agent: str) -> dict[str, dict[tuple[str, str], float]]:
    levels: dict[str, dict[tuple[str, str], float]] = {}
    for summary in standing:
        trial = summary.trial
        if trial.agent == agent and summary.standing is Standing.SCORED:
            question = (trial.task, f"{trial.seed}/{trial.repeat}")
            levels.setdefault(trial.faults, {})[question] = float(bool(summary.passed))
    return levels


def designed(rounds: Sequence[Round], standing: Sequence[Summary]) -> Iterable[Designed]:
    """Estimates by tier for a run with rounds; none for a run that took its trials as planned."""
    answers: dict[str, dict[str, float]] = {}
    for summary in standing:
        if summary.standing is Standing.SCORED:
            mine = answers.setdefault(summary.trial.agent, {})
            mine[question_of(summary.trial)] = float(bool(summary.passed))
    for tier in dict.fromkeys(one.tier for one in rounds):
        of_tier = [one for one in rounds if one.tier == tier]
        for agents in [(agent,) for agent in answers] + list(itertools.combinations(answers, 2)):
            found = _weighted(of_tier, answers, agents)
            if found is not None:
                one, interval = found
                yield Designed(
                    tier=tier,
                    agents=agents,
                    mean=one.mean,
                    interval=interval,
                    asked=one.asked,
                    questions=one.questions,
                )


def _weighted(
    rounds: Sequence[Round], answers: Mapping[str, Mapping[str, float]], agents: tuple[str, ...]
) -> tuple[Weighted, Interval] | None:
    try:
        if len(agents) == 1:
            one = wisely.estimate(rounds, answers[agents[0]], agents[0])
            return one, one.interval()
        first, second = agents
        both = wisely.difference(rounds, answers[first], answers[second], (first, second))
    except ValueError:  # nothing of this tier was answered
        return None
    return both, both.normal_interval()


def bill_of(run: Run) -> Bill:
    with closing(Ledger(run.ledger)) as ledger:
        money = ledger.total(RUN, Unit.NANO_DOLLARS)
        return Bill(
            nano_dollars=money.spent,
            unsettled=money.held,
            cap=ledger.cap(RUN, Unit.NANO_DOLLARS),
            tokens=ledger.total(RUN, Unit.TOKENS).spent,
            machine_ms=ledger.total(RUN, Unit.MACHINE_MS).spent,
        )


def _answers(standing: Sequence[Summary], agent: str, measure: str) -> dict[tuple[str, str], float]:
    return {
        (summary.trial.task, f"{summary.trial.seed}/{summary.trial.repeat}"): (
            float(bool(summary.passed)) if measure == "pass" else summary.score or 0.0
        )
        for summary in standing
        if summary.trial.agent == agent and summary.standing is Standing.SCORED
    }


def _by_task(scored: Sequence[Summary]) -> Mapping[str, list[Summary]]:
    tasks: dict[str, list[Summary]] = {}
    for summary in scored:
        tasks.setdefault(summary.trial.task, []).append(summary)
    return tasks


def _estimate(scored: Sequence[Summary], value: Callable[[Summary], float]) -> Estimate | None:
    groups = [[value(summary) for summary in members] for members in _by_task(scored).values()]
    return estimate(groups) if groups else None


def _repeats(scored: Sequence[Summary]) -> Iterable[Repeats]:
    tries = [
        (len(members), sum(bool(summary.passed) for summary in members))
        for members in _by_task(scored).values()
    ]
    for k in sorted({count for count, _ in tries if count > 1}):
        enough = [(count, passed) for count, passed in tries if count >= k]
        yield Repeats(
            k=k,
            once=math.fsum(pass_at_k(count, passed, k) for count, passed in enough) / len(enough),
            always=math.fsum(pass_hat_k(count, passed, k) for count, passed in enough) / len(enough),
            tasks=len(enough),
        )


def _notes(standing: Sequence[Summary], counts: Counts, versus: Sequence[Versus]) -> Iterable[str]:
    short = sum(summary.ending in (Ending.MONEY, Ending.TOKENS) for summary in standing)
    if short:
        yield f"{short} trials ended because money or tokens ran out; they are graded as they stood."
    if counts.pending:
        yield f"{counts.pending} trials are pending: go on with `practicum run --resume`."
    if counts.fault:
        kinds = sorted({str(summary.kind) for summary in standing if summary.kind is not None})
        yield f"{counts.fault} trials are faults ({', '.join(kinds)}): they are in no rate."
    if len(versus) > 2:
        yield f"{len(versus)} comparisons were made; adjusted p values are Holm's."
    reopened = sum(summary.reopened and summary.standing is Standing.SCORED for summary in standing)
    if reopened:
        yield f"{reopened} scores replace earlier ones that --retry reopened: rates may be flattered."


def _as_dict(counts: Counts) -> dict[str, int]:
    return {
        "planned": counts.planned,
        "scored": counts.scored,
        "fault": counts.fault,
        "cancelled": counts.cancelled,
        "pending": counts.pending,
    }
