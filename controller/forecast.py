"""What a run will cost, before it starts: from what such trials cost before, else from their limits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import msgspec

from practicum.controller.errors import BadRecord
from practicum.controller.index import summaries
from practicum.controller.outcome import Trial
from practicum.controller.prices import Price
from practicum.controller.statistics.wilson import Interval, quantile
from practicum.controller.store import Run
from practicum.controller.summary import Standing, Summary

RESAMPLES = 1000
CONFIDENCE = 0.9


@dataclass(frozen=True, slots=True)
class Past:
    """One trial of the past: dollars in nano, seconds, and whether it passed."""

    task: str
    tier: str
    agent: str
    nano_dollars: int | None
    seconds: float
    passed: bool


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One agent in one tier. `source` says what the numbers come from; money is in nano-dollars.

    `most` is the bound that limits and prices give, `None` where they give none.
    """

    agent: str
    tier: str
    trials: int
    nano_dollars: float | None
    interval: Interval | None
    most: int | None
    seconds: float | None
    source: str


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    lines: tuple[Line, ...]
    nano_dollars: float | None
    interval: Interval | None
    budget: int | None
    affordable: int | None
    half_widths: dict[str, float]


def history(folder: Path) -> list[Past]:
    """Every scored trial of every run below `folder`."""
    past: list[Past] = []
    for plan in sorted(folder.glob("**/plan.json")):
        try:
            past += [_past(summary) for summary in summaries(Run.open(plan.parent)) if _is_scored(summary)]
        except BadRecord:
            continue  # some other plan.json
    return past


def forecast(
    trials: Sequence[Trial],
    past: Sequence[Past],
    prices: Mapping[str, Price | None],
    budget: int | None,
) -> Forecast:
    """Costs by agent and tier. `prices` of each agent's dearest model; `None` for agents without a model."""
    cells: dict[tuple[str, str], list[Trial]] = {}
    for trial in trials:
        cells.setdefault((trial.agent, trial.tier), []).append(trial)
    lines = tuple(
        _line(agent, tier, members, past, prices[agent]) for (agent, tier), members in cells.items()
    )
    known = [line for line in lines if line.nano_dollars is not None]
    whole = len(known) == len(lines)
    total = math.fsum(line.nano_dollars or 0.0 for line in known)
    spread = math.sqrt(math.fsum(line.interval.half_width**2 for line in known if line.interval))
    affordable = None if budget is None or not whole else _affordable(len(trials), total, budget)
    return Forecast(
        lines=lines,
        nano_dollars=total if whole else None,
        interval=Interval(max(0.0, total - spread), total + spread) if whole else None,
        budget=budget,
        affordable=affordable,
        half_widths=_half_widths(cells, past, 1.0 if affordable is None else affordable / len(trials)),
    )


def _line(agent: str, tier: str, members: Sequence[Trial], past: Sequence[Past], price: Price | None) -> Line:
    most = _most(members, price)
    mine = [one for one in past if one.agent == agent]
    same = [one for one in mine if one.tier == tier] or mine
    costs = [one.nano_dollars for one in same if one.nano_dollars is not None]
    seconds = math.fsum(one.seconds for one in same) / len(same) * len(members) if same else None
    found: tuple[float | None, Interval | None, str] = (None, None, "unknown: no history and no limit")
    if price is None:
        found = (0.0, Interval(0.0, 0.0), "no model")
    elif costs:
        found = (*_predicted(costs, len(members)), f"{len(costs)} earlier trials")
    elif most is not None:
        found = (float(most), Interval(0.0, float(most)), "limits: an upper bound")
    return Line(
        agent=agent,
        tier=tier,
        trials=len(members),
        nano_dollars=found[0],
        interval=found[1],
        most=most,
        seconds=seconds,
        source=found[2],
    )


def _predicted(costs: Sequence[int], count: int) -> tuple[float, Interval]:
    """Sum of `count` further trials: the mean resampled, and the scatter of single trials around it."""
    rng = Random(len(costs) * count)
    mean = math.fsum(costs) / len(costs)
    scatter = math.sqrt(math.fsum((cost - mean) ** 2 for cost in costs) / max(1, len(costs) - 1))
    sums = sorted(
        count * math.fsum(rng.choices(costs, k=len(costs))) / len(costs)
        + rng.gauss(0, 1) * scatter * math.sqrt(count)
        for _ in range(RESAMPLES)
    )
    tail = round(RESAMPLES * (1 - CONFIDENCE) / 2)
    return mean * count, Interval(max(0.0, sums[tail]), sums[-tail - 1])


def _most(members: Sequence[Trial], price: Price | None) -> int | None:
    """What the limits of the trials let them spend."""
    bounds = [_bound(trial, price) for trial in members]
    known = [bound for bound in bounds if bound is not None]
    return sum(known) if len(known) == len(bounds) else None


def _bound(trial: Trial, price: Price | None) -> int | None:
    if price is None:
        return 0
    money, tokens = trial.limits.nano_dollars, trial.limits.tokens
    dearest = max(price.input, price.output, price.cache_write, price.cache_write_long)
    bounds = [bound for bound in (money, None if tokens is None else tokens * dearest) if bound is not None]
    return min(bounds, default=None)


def _affordable(planned: int, total: float, budget: int) -> int:
    return planned if total <= budget else math.floor(planned * budget / total)


def _half_widths(
    cells: Mapping[tuple[str, str], Sequence[Trial]], past: Sequence[Past], share: float
) -> dict[str, float]:
    """Expected half width of each tier's pass rate, tasks as units; the worst where nothing is known."""
    widths: dict[str, float] = {}
    for (agent, tier), members in cells.items():
        mine = [one.passed for one in past if one.agent == agent and one.tier == tier]
        rate = (sum(mine) + 1) / (len(mine) + 2)
        tasks = min(len({trial.task for trial in members}), max(1.0, share * len(members)))
        widths[f"{agent} {tier}"] = quantile(CONFIDENCE) * math.sqrt(rate * (1 - rate) / tasks)
    return widths


def _past(summary: Summary) -> Past:
    trial = summary.trial
    return Past(
        trial.task,
        trial.tier,
        trial.agent,
        summary.spent.nano_dollars,
        summary.spent.seconds,
        bool(summary.passed),
    )


def _is_scored(summary: Summary) -> bool:
    return summary.standing is Standing.SCORED


def dearest(models: Iterable[Price]) -> Price | None:
    """The price with the highest output part."""
    return max(models, key=lambda price: price.output, default=None)
