"""Intervals and comparisons. Nothing here knows where its numbers come from."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import ndtri


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2


def wilson(successes: int, trials: int, confidence: float) -> Interval:
    """Wilson's score interval for one proportion (Wilson 1927); sound for small samples and at the ends."""
    if not 0 <= successes <= trials or trials == 0:
        raise ValueError(f"{successes} successes of {trials}")
    z = float(ndtri(0.5 + confidence / 2))
    rate, spread = successes / trials, z * z / trials
    centre = (rate + spread / 2) / (1 + spread)
    half = z * math.sqrt(rate * (1 - rate) / trials + spread / (4 * trials)) / (1 + spread)
    return Interval(max(0.0, centre - half), min(1.0, centre + half))
