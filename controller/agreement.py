"""Do simulators rank agents alike? Rank agreement of runs, beside the agreement of a run with itself."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import mean, quantiles

from practicum.controller.index import summaries
from practicum.controller.statistics.agreement import Pairs, pairs
from practicum.controller.store import Run
from practicum.controller.summary import Standing

SPLITS = 200

Answers = Mapping[str, Mapping[str, float]]
"""By agent, by question: passed or not."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Agreement of one run with itself: rankings from two random halves of its questions.

    No other run can be expected to agree with it much better. Middle 90 % of the splits.
    """

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two runs over their common agents and questions; a tied pair counts as half agreed."""

    first: str
    second: str
    agents: int
    questions: int
    pairs: Pairs


def answers(run: Run) -> Answers:
    """Passes of the scored trials; several repeats of a question are averaged."""
    found: dict[str, dict[str, list[float]]] = {}
    for summary in summaries(run):
        if summary.standing is Standing.SCORED:
            trial = summary.trial
            question = f"{trial.task}/{trial.seed}/{trial.faults}"
            found.setdefault(trial.agent, {}).setdefault(question, []).append(float(bool(summary.passed)))
    return {agent: {key: mean(values) for key, values in asked.items()} for agent, asked in found.items()}


def agree(first: tuple[str, Answers], second: tuple[str, Answers]) -> Agreement:
    """Over the questions that every common agent answered in both runs."""
    (left, one), (right, other) = first, second
    agents = sorted(one.keys() & other.keys())
    common = _common([one[agent] for agent in agents] + [other[agent] for agent in agents])
    ranked = (
        [{agent: _rate(run[agent], common) for agent in agents} for run in (one, other)]
        if common
        else [{}, {}]
    )
    return Agreement(left, right, len(agents), len(common), pairs(*ranked))


def ceiling(run: Answers, splits: int = SPLITS) -> Ceiling | None:
    """`None` where halves leave no ranking: under two agents or four questions, or all rates equal."""
    common = sorted(_common(list(run.values())))
    if len(run) < 2 or len(common) < 4:
        return None
    rng = Random(len(common))
    taus = [tau for _ in range(splits) if (tau := _split(run, common, rng)) is not None]
    if len(taus) < 20:
        return None
    bounds = quantiles(taus, n=20)
    return Ceiling(mean(taus), bounds[0], bounds[-1])


def _split(run: Answers, common: Sequence[str], rng: Random) -> float | None:
    shuffled = rng.sample(common, len(common))
    halves = set(shuffled[::2]), set(shuffled[1::2])
    return pairs(*({agent: _rate(asked, half) for agent, asked in run.items()} for half in halves)).tau_b


def _common(asked: Sequence[Mapping[str, float]]) -> set[str]:
    return set.intersection(*(set(one) for one in asked)) if asked else set()


def _rate(asked: Mapping[str, float], questions: set[str]) -> float:
    return sum(asked[question] for question in sorted(questions)) / len(questions)


def every_pair(runs: Mapping[str, Answers]) -> tuple[Agreement, ...]:
    return tuple(agree(*two) for two in itertools.combinations(runs.items(), 2))
