"""How well an agent stands faults: R = worst pass rate under faults over the clean one, with an interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from practicum.controller.statistics.wilson import CONFIDENCE, Interval

RESAMPLES = 2000

Passes = Mapping[tuple[str, str], float]
"""Pass or not, by (task, question)."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """`interval` is `None` where a resample has no clean pass, so that no bound can be told."""

    value: float
    interval: Interval | None
    pairs: int
    tasks: int


def paired_ratio(
    clean: Passes, faulted: Mapping[str, Passes], confidence: float = CONFIDENCE
) -> Ratio | None:
    """R over the questions that were answered at every level, with a percentile bootstrap of whole tasks.

    The same tasks are drawn at all levels together, so what a hard task costs at each of them cancels.
    `None` without a level, a common question or a clean pass.
    """
    common = sorted(set(clean).intersection(*faulted.values())) if faulted else []
    tasks = sorted({task for task, _ in common})
    levels = [clean, *faulted.values()]
    sums = np.zeros((len(levels), len(tasks)))
    for row, passes in enumerate(levels):
        for key in common:
            sums[row, tasks.index(key[0])] += passes[key]
    if not common or sums[0].sum() == 0:
        return None
    drawn = np.random.default_rng(len(common)).integers(0, len(tasks), size=(RESAMPLES, len(tasks)))
    totals = sums[:, drawn].sum(axis=2)
    value = float(sums[1:].sum(axis=1).min() / sums[0].sum())
    if not totals[0].all():
        return Ratio(value, None, len(common), len(tasks))
    ratios = totals[1:].min(axis=0) / totals[0]
    low, high = np.quantile(ratios, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Ratio(value, Interval(float(low), float(high)), len(common), len(tasks))
