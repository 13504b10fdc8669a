"""Spending where it tells most: which questions to ask next, and an unbiased estimate from those asked.

Questions are asked in rounds. In the first, each stratum (a task, or a subdomain) is asked once; later a
stratum takes part with a probability in proportion to its spread over the root of its cost (Neyman 1934), and
a question is drawn evenly within it. All of that may follow from earlier answers, because a round's estimate
is unbiased given what came before it: what was asked, what is predicted of the rest, and each drawn answer's
surprise over its probability (difference estimator, Särndal et al. 1992). Rounds are weighted as draws
without return are (Farquhar et al. 2021, arXiv 2101.11665). Every agent sits each drawn question, so
comparisons are paired.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

import msgspec

from practicum.controller.statistics.wilson import CONFIDENCE, Interval, quantile, wilson_of

PRIOR_WEIGHT = 1.0
"""Answers that the mean of a group counts for in the prediction of a stratum."""
VARIANCE_WEIGHT = 2.0
"""Degrees of freedom that the variance within all strata counts for in that of one."""
FLOOR = 0.1
"""Least probability that a stratum takes part in a round."""


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """One round of a tier, written down before any of it is asked.

    `remaining`, `probability` and `predicted` are by stratum as the round begins, `predicted` also by agent.
    `order` lists what is asked as (stratum, question).
    """

    tier: str
    number: int
    remaining: dict[str, int]
    probability: dict[str, float]
    predicted: dict[str, dict[str, float]]
    order: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Weighted:
    """An estimate of what asking everything would give. `asked` of `questions` were, their sum is `total`.

    `varied` counts the answers other than the commonest one.
    """

    mean: float
    error: float
    asked: int
    questions: int
    total: float
    varied: int

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """For means in [0, 1]: Wilson's, with the sample size that gives this error.

        What was seen bounds it: the rest can only be all 0 or all 1. Answers that were all alike say nothing
        against the rest being so too.
        """
        if self.error == 0.0:
            return Interval(self.mean, self.mean)
        rate = min(1.0, max(0.0, self.mean))
        smoothed = (rate * self.asked + 0.5) / (self.asked + 1)
        size = min(smoothed * (1 - smoothed) / self.error**2, self._trusted_size())
        around = wilson_of(rate, size, quantile(confidence))
        least, most = self.total / self.questions, 1 - (self.asked - self.total) / self.questions
        low = 0.0 if self.total == 0 else max(least, around.low)
        high = 1.0 if self.total == self.asked else min(most, around.high)
        return Interval(min(low, most), max(high, least))

    def _trusted_size(self) -> float:
        """The sample size that plain sampling would give, and more the more often both answers were seen:
        strata that showed only zeros have not shown that they hold nothing else."""
        return self._plain_size() * (1 + self.varied / 10)

    def _plain_size(self) -> float:
        return self.asked * self.questions / max(1, self.questions - self.asked)

    def normal_interval(self, confidence: float = CONFIDENCE) -> Interval:
        """For differences: wider where they were seen too seldom to know how they scatter."""
        scarce = self.error**2 * (1 + 2 / (self.varied + 1)) + self._plain_size() ** -2
        half = quantile(confidence) * math.sqrt(scarce if self.error else 0.0)
        return Interval(max(-1.0, self.mean - half), min(1.0, self.mean + half))


@dataclass(slots=True)
class Stratum:
    """Questions that still wait, and sums over the answers so far.

    Strata of one `group` (tasks of a subdomain) are alike; `cost` is what a question is expected to cost.
    """

    waiting: list[str]
    group: str = ""
    cost: float = 1.0
    seen_cost: float = 0.0
    asked: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    sums: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @property
    def expected_cost(self) -> float:
        return max(1e-9, (self.cost + self.seen_cost) / (1 + self.asked))


@dataclass(slots=True)
class _Sums:
    """Answers of several strata together."""

    answers: Counter[str] = field(default_factory=Counter)
    sums: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def add(self, one: Stratum) -> None:
        self.answers.update(one.answers)
        for agent, total in one.sums.items():
            self.sums[agent] += total

    def mean(self, agent: str, towards: float, weight: float) -> float:
        return (self.sums[agent] + weight * towards) / (self.answers[agent] + weight)


@dataclass(slots=True)
class Tier:
    """The questions of one tier by stratum, and what was answered so far."""

    name: str
    strata: dict[str, Stratum]
    agents: Sequence[str]
    rng: Random
    rounds: int = 0

    def next_round(self) -> Round | None:
        """What to ask next; `None` when everything was asked."""
        remaining = {name: len(one.waiting) for name, one in self.strata.items() if one.waiting}
        if not remaining:
            return None
        predicted = self._predictions(remaining)
        probability = self._probabilities(predicted)
        taking_part = [name for name in remaining if self.rng.random() < probability[name]]
        order = [(name, self._take(name)) for name in taking_part]
        self.rng.shuffle(order)
        self.rounds += 1
        return Round(
            tier=self.name,
            number=self.rounds,
            remaining=remaining,
            probability=probability,
            predicted=predicted,
            order=tuple(order),
        )

    def learn(self, stratum: str, answers: Mapping[str, float], cost: float) -> None:
        """What the agents scored at a question, in [0, 1], and what it cost together."""
        here = self.strata[stratum]
        here.asked += 1
        here.seen_cost += cost
        for agent, answer in answers.items():
            here.answers[agent] += 1
            here.sums[agent] += answer

    def gain(self) -> float:
        """How much the variance of the tier falls by one more question, per unit of cost."""
        predicted = self._predictions(self.strata)
        sizes = {name: len(one.waiting) + one.asked for name, one in self.strata.items()}
        size, asked = sum(sizes.values()), sum(one.asked for one in self.strata.values())
        spread = math.fsum(n * _spread(predicted[name]) for name, n in sizes.items()) / size
        cost = math.fsum(n * self.strata[name].expected_cost for name, n in sizes.items()) / size
        return spread**2 / ((asked + 1) * (asked + 2)) / cost

    def _take(self, name: str) -> str:
        waiting = self.strata[name].waiting
        return waiting.pop(self.rng.randrange(len(waiting)))

    def _predictions(self, names: Iterable[str]) -> dict[str, dict[str, float]]:
        """Mean answer by stratum and agent, shrunk towards the group, that to the tier, that to ½."""
        groups: dict[str, _Sums] = defaultdict(_Sums)
        tier = _Sums()
        for one in self.strata.values():
            groups[one.group].add(one)
            tier.add(one)
        centre = {agent: tier.mean(agent, 0.5, 1.0) for agent in self.agents}
        return {
            name: {
                agent: self._shrunk(self.strata[name], groups, agent, centre[agent]) for agent in self.agents
            }
            for name in names
        }

    @staticmethod
    def _shrunk(one: Stratum, groups: Mapping[str, _Sums], agent: str, centre: float) -> float:
        group = groups[one.group].mean(agent, centre, PRIOR_WEIGHT)
        return (one.sums[agent] + PRIOR_WEIGHT * group) / (one.answers[agent] + PRIOR_WEIGHT)

    def _probabilities(self, predicted: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
        if self.rounds == 0:
            return dict.fromkeys(predicted, 1.0)
        raw = {
            name: _spread(means) / math.sqrt(self.strata[name].expected_cost)
            for name, means in predicted.items()
        }
        most = max(raw.values())
        return {name: max(FLOOR, value / most) for name, value in raw.items()}


Predict = Callable[[Round, str], float]


def estimate(rounds: Sequence[Round], answers: Mapping[str, float], agent: str) -> Weighted:
    """What an agent's mean over all questions of the tier of these rounds would be, had all been asked.

    `answers` are by question. Questions of a round without an answer, because the run ended or the trial was
    a fault, are taken to be missing at random. Raises `ValueError` where nothing was answered.
    """
    return _combine(rounds, answers, lambda one, stratum: one.predicted[stratum][agent])


def difference(
    rounds: Sequence[Round],
    first: Mapping[str, float],
    second: Mapping[str, float],
    agents: tuple[str, str],
) -> Weighted:
    """Mean difference of two agents over all questions of the tier, paired question by question."""
    one, other = agents
    answers = {key: first[key] - second[key] for key in first.keys() & second.keys()}
    return _combine(
        rounds, answers, lambda each, stratum: each.predicted[stratum][one] - each.predicted[stratum][other]
    )


def _combine(rounds: Sequence[Round], answers: Mapping[str, float], predict: Predict) -> Weighted:
    begun = [(one, _answered(one, answers)) for one in rounds]
    begun = [(one, answered) for one, answered in begun if answered]
    if not begun:
        raise ValueError("no question was answered")
    size = sum(begun[0][0].remaining.values())
    values = [value for _, answered in begun for _, value in answered]
    varied = len(values) - Counter(values).most_common(1)[0][1]
    if len(values) == size:
        return Weighted(math.fsum(values) / size, 0.0, size, size, math.fsum(values), varied)
    spreads = _spreads(begun)
    seen = total = noise = weights = 0.0
    done = 0
    for one, answered in begun:
        weight = math.fsum(1 / ((size - n) * max(size - n - 1, 1)) for n in range(done, done + len(answered)))
        share = len(answered) / len(one.order)
        total += weight * (seen + _of_the_rest(one, answered, share, predict))
        noise += weight**2 * _variance(one, share, spreads, predict)
        weights += weight
        seen += math.fsum(value for _, value in answered)
        done += len(answered)
    error = math.sqrt(noise) / weights / size
    return Weighted(total / weights / size, error, len(values), size, seen, varied)


def _answered(one: Round, answers: Mapping[str, float]) -> list[tuple[str, float]]:
    return [(stratum, answers[question]) for stratum, question in one.order if question in answers]


def _of_the_rest(one: Round, answered: Sequence[tuple[str, float]], share: float, predict: Predict) -> float:
    """Unbiased for the sum over all that remained as the round began; `share` of it was carried out."""
    expected = math.fsum(count * predict(one, name) for name, count in one.remaining.items())
    surprise = math.fsum(
        one.remaining[name] * (value - predict(one, name)) / (one.probability[name] * share)
        for name, value in answered
    )
    return expected + surprise


def _variance(
    one: Round, share: float, spreads: Mapping[str, tuple[float, float]], predict: Predict
) -> float:
    """Of one round's term, with the means and variances that the strata turned out to have."""
    parts = []
    for name, count in one.remaining.items():
        mean, variance = spreads[name]
        chance = one.probability[name] * share
        off = (mean - predict(one, name)) ** 2
        parts.append(count**2 * (variance * (1 - 1 / count) / chance + off * (1 - chance) / chance))
    return math.fsum(parts)


def _spreads(
    begun: Sequence[tuple[Round, Sequence[tuple[str, float]]]],
) -> Mapping[str, tuple[float, float]]:
    """Mean and variance of each stratum, the variance shrunk towards that within strata of the tier."""
    groups: dict[str, list[float]] = {name: [] for name in begun[0][0].remaining}
    for _, answered in begun:
        for name, value in answered:
            groups[name].append(value)
    everything = [value for group in groups.values() for value in group]
    centre = math.fsum(everything) / len(everything)
    squares = {name: _squares(group) for name, group in groups.items()}
    freedom = len(everything) - sum(bool(group) for group in groups.values())
    around = [(value - centre) ** 2 for value in everything]
    within = (math.fsum(squares.values()) + math.fsum(around) / len(around) + 0.25 / len(around)) / (
        freedom + 1
    )
    return {
        name: (
            (math.fsum(group) + PRIOR_WEIGHT * centre) / (len(group) + PRIOR_WEIGHT),
            (squares[name] + VARIANCE_WEIGHT * within) / (max(0, len(group) - 1) + VARIANCE_WEIGHT),
        )
        for name, group in groups.items()
    }


def _squares(group: Sequence[float]) -> float:
    """Sum of squares around the group's own mean."""
    if not group:
        return 0.0
    mean = math.fsum(group) / len(group)
    return math.fsum((value - mean) ** 2 for value in group)


def _spread(predicted: Mapping[str, float]) -> float:
    """Root mean variance of an answer over the agents; predictions are shrunk, so it is never 0."""
    return math.sqrt(math.fsum(p * (1 - p) for p in predicted.values()) / len(predicted) + 1e-6)
