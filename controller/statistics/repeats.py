"""What repeated tries tell: succeeding at least once in k, and succeeding k times out of k."""

from __future__ import annotations

import math


def pass_at_k(tries: int, successes: int, k: int) -> float:
    """Probability that at least one of `k` tries, drawn without return from those made, succeeded.

    The unbiased estimator of Chen et al. 2021 (arXiv 2107.03374). Raises `ValueError` unless k ≤ tries.
    """
    _check(tries, successes, k)
    return 1.0 - math.comb(tries - successes, k) / math.comb(tries, k)


def pass_hat_k(tries: int, successes: int, k: int) -> float:
    """Probability that all of `k` tries succeeded: reliability, as in τ-bench (arXiv 2406.12045).

    Raises `ValueError` unless k ≤ tries.
    """
    _check(tries, successes, k)
    return math.comb(successes, k) / math.comb(tries, k)


def _check(tries: int, successes: int, k: int) -> None:
    if not (0 <= successes <= tries and 1 <= k <= tries):
        raise ValueError(f"k = {k} of {tries} tries with {successes} successes")
