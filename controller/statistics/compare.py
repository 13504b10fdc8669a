"""Two agents on the same questions: effect, interval, p, and what could have been detected."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from practicum.controller.statistics.wilson import Interval

EXACT_CLUSTERS = 14
SIGN_FLIPS = 20_000
POWER = 0.8


@dataclass(frozen=True, slots=True)
class Comparison:
    """`effect` is first minus second, over `pairs` common questions in `clusters` tasks.

    `p` is two-sided. `detectable` is the effect that a study of this size and noise finds with 80 % power.
    """

    effect: float
    interval: Interval
    p: float
    detectable: float
    pairs: int
    clusters: int
    only_first: int
    only_second: int


def compare(
    first: Mapping[tuple[str, str], float],
    second: Mapping[tuple[str, str], float],
    *,
    confidence: float = 0.95,
) -> Comparison | None:
    """Paired comparison over questions (task, question) that both answered; `None` under two common tasks.

    The interval is t with cluster-robust variance (Liang and Zeger 1986); p comes from flipping the signs of
    whole tasks, exactly where there are few.
    """
    common = sorted(first.keys() & second.keys())
    by_task: dict[str, list[float]] = {}
    for key in common:
        by_task.setdefault(key[0], []).append(first[key] - second[key])
    if len(by_task) < 2:
        return None
    sums = np.array([math.fsum(diffs) for diffs in by_task.values()])
    counts = np.array([len(diffs) for diffs in by_task.values()], dtype=float)
    effect, error = ratio_and_error(sums, counts)
    freedom = len(sums) - 1
    tail = float(stdtrit(freedom, 0.5 + confidence / 2))
    return Comparison(
        effect=effect,
        interval=Interval(max(-1.0, effect - tail * error), min(1.0, effect + tail * error)),
        p=sign_flip_p(sums),
        detectable=(tail + NormalDist().inv_cdf(POWER)) * error,
        pairs=len(common),
        clusters=len(sums),
        only_first=sum(first[key] > second[key] for key in common),
        only_second=sum(first[key] < second[key] for key in common),
    )


def ratio_and_error(sums: NDArray[np.float64], counts: NDArray[np.float64]) -> tuple[float, float]:
    """Mean over all members of clusters, and its standard error with the clusters as units."""
    clusters = len(sums)
    mean = float(sums.sum() / counts.sum())
    residuals = sums - mean * counts
    error = math.sqrt(clusters / (clusters - 1) * float(residuals @ residuals)) / float(counts.sum())
    return mean, error


def sign_flip_p(sums: NDArray[np.float64]) -> float:
    """Two-sided p of "no difference" by flipping the sign of each cluster's sum.

    All 2ⁿ flips up to 14 clusters, else 20,000 drawn with a fixed seed and one added to both sides
    (Phipson and Smyth 2010).
    """
    observed = abs(float(sums.sum())) - 1e-12
    if len(sums) <= EXACT_CLUSTERS:
        signs = np.array(list(itertools.product((-1.0, 1.0), repeat=len(sums))))
        return float(np.mean(np.abs(signs @ sums) >= observed))
    rng = np.random.default_rng(len(sums))
    signs = rng.choice((-1.0, 1.0), size=(SIGN_FLIPS, len(sums)))
    return float((np.sum(np.abs(signs @ sums) >= observed) + 1) / (SIGN_FLIPS + 1))


def holm(ps: Sequence[float]) -> tuple[float, ...]:
    """p values adjusted for being several (Holm 1979), in the order given."""
    adjusted, highest = [0.0] * len(ps), 0.0
    for rank, index in enumerate(sorted(range(len(ps)), key=lambda index: ps[index])):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[index]))
        adjusted[index] = highest
    return tuple(adjusted)
