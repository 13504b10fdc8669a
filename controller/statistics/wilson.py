"""Wilson's interval for one proportion."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

CONFIDENCE = 0.9


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2


def wilson(successes: float, trials: float, confidence: float = CONFIDENCE) -> Interval:
    """Wilson's score interval (Wilson 1927); sound for small samples and at both ends.

    Fractions are allowed, for effective sample sizes. Raises `ValueError` for an impossible proportion.
    """
    if not 0 <= successes <= trials or trials == 0:
        raise ValueError(f"{successes} successes of {trials}")
    return wilson_of(successes / trials, trials, quantile(confidence))


def wilson_of(rate: float, size: float, z: float) -> Interval:
    """The same for a rate seen in a sample of this effective size, with the quantile given."""
    spread = z * z / size
    centre = (rate + spread / 2) / (1 + spread)
    half = z * math.sqrt(rate * (1 - rate) / size + spread / (4 * size)) / (1 + spread)
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def quantile(confidence: float) -> float:
    """The two-sided normal quantile."""
    return NormalDist().inv_cdf(0.5 + confidence / 2)
