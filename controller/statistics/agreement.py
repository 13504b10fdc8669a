"""How two gradings of the same agents agree, and how well an agent stands faults."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of items by how two rankings order them; `tied` in one of the rankings or both."""

    concordant: int
    discordant: int
    tied: int
    tau_b: float | None

    @property
    def agreement(self) -> float | None:
        """Share of pairs ordered alike, a tie counting half."""
        total = self.concordant + self.discordant + self.tied
        return None if total == 0 else (self.concordant + self.tied / 2) / total


def pairs(first: Mapping[str, float], second: Mapping[str, float]) -> Pairs:
    """Two rankings over their common items; `tau_b` (Kendall 1945) is `None` where one is constant."""
    common = sorted(first.keys() & second.keys())
    concordant = discordant = tied_first = tied_second = tied_both = 0
    for one, other in itertools.combinations(common, 2):
        left, right = first[one] - first[other], second[one] - second[other]
        if left == 0 or right == 0:
            tied_first += left == 0
            tied_second += right == 0
            tied_both += left == 0 and right == 0
        elif (left > 0) == (right > 0):
            concordant += 1
        else:
            discordant += 1
    total = math.comb(len(common), 2)
    spread = math.sqrt((total - tied_first) * (total - tied_second))
    tau_b = (concordant - discordant) / spread if spread else None
    return Pairs(concordant, discordant, tied_first + tied_second - tied_both, tau_b)


def robustness(clean: float, faulted: Mapping[str, float]) -> float | None:
    """Worst rate under faults over the clean rate; `None` where either is missing or the clean one is 0."""
    return min(faulted.values()) / clean if clean and faulted else None
