"""Intervals for rates and means over tasks, honest about tasks being the unit and not trials."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from practicum.controller.statistics.wilson import CONFIDENCE, Interval, quantile, wilson_of

BOOTSTRAP_FROM = 20
"""Tasks from which the bootstrap is used; below, Wilson's interval with an effective sample size."""
RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over `trials` of `tasks` tasks, with its interval."""

    mean: float
    interval: Interval
    trials: int
    tasks: int


def estimate(groups: Sequence[Sequence[float]], confidence: float = CONFIDENCE) -> Estimate:
    """Mean of values in [0, 1] grouped by task, tasks being drawn and not trials.

    From 20 tasks on, a bias-corrected and accelerated bootstrap of whole tasks (Efron 1987) with a seed that
    follows from the data; below, and where all tasks are alike, Wilson's interval with the sample size that
    gives the variance seen between tasks (Korn and Graubard 1998), at most one per task.
    Raises `ValueError` without a value.
    """
    filled = [group for group in groups if group]
    if not filled:
        raise ValueError("nothing to estimate from")
    sums = np.array([math.fsum(group) for group in filled])
    counts = np.array([len(group) for group in filled], dtype=float)
    mean = float(sums.sum() / counts.sum())
    spread = _error(sums, counts) if len(filled) > 1 else 0.0
    if len(filled) < BOOTSTRAP_FROM or spread == 0.0:
        interval = _effective_wilson(mean, spread, len(filled), confidence)
    else:
        interval = _bca(sums, counts, mean, confidence)
    return Estimate(mean, interval, int(counts.sum()), len(filled))


def _effective_wilson(mean: float, error: float, tasks: int, confidence: float) -> Interval:
    z, size = quantile(confidence), float(tasks)
    if error > 0.0:
        size = min(size, mean * (1 - mean) / error**2)
    if tasks > 1:
        size *= (z / _student(tasks - 1, confidence)) ** 2
    return wilson_of(min(1.0, max(0.0, mean)), size, z)


def _bca(sums: NDArray[np.float64], counts: NDArray[np.float64], mean: float, confidence: float) -> Interval:
    means = _resampled(sums, counts)
    below = float(np.mean(means < mean) + np.mean(means == mean) / 2)
    bias = NormalDist().inv_cdf(min(max(below, 1 / RESAMPLES), 1 - 1 / RESAMPLES))
    without = (sums.sum() - sums) / (counts.sum() - counts)
    pull = without.mean() - without
    acceleration = float((pull**3).sum() / (6 * ((pull**2).sum() ** 1.5)))
    z = quantile(confidence)
    shifted = (bias + side * z for side in (-1, 1))
    levels = [NormalDist().cdf(bias + (point := shift) / (1 - acceleration * point)) for shift in shifted]
    low, high = np.quantile(means, levels)
    return Interval(max(0.0, float(low)), min(1.0, float(high)))


def _resampled(sums: NDArray[np.float64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means of resampled tasks. The order of the tasks does not matter: equal data, equal intervals."""
    order = np.lexsort((counts, sums))
    sums, counts = sums[order], counts[order]
    seed = np.frombuffer(np.concatenate([sums, counts]).tobytes(), dtype=np.uint32)
    drawn = np.random.default_rng(seed).integers(0, len(sums), size=(RESAMPLES, len(sums)))
    means: NDArray[np.float64] = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    return means


def _error(sums: NDArray[np.float64], counts: NDArray[np.float64]) -> float:
    residuals = sums - sums.sum() / counts.sum() * counts
    clusters = len(sums)
    return math.sqrt(clusters / (clusters - 1) * float(residuals @ residuals)) / float(counts.sum())


def _student(freedom: int, confidence: float) -> float:
    return float(stdtrit(freedom, 0.5 + confidence / 2))
