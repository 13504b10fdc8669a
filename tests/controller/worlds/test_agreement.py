"""Rank agreement of runs, its ceiling, and the interval of R."""

from __future__ import annotations

import itertools
from random import Random

import pytest
from scipy.stats import kendalltau

from practicum.controller.agreement import agree, ceiling, every_pair
from practicum.controller.statistics.robustness import paired_ratio


def run_of(rates: dict[str, float], questions: int, seed: int) -> dict[str, dict[str, float]]:
    rng = Random(seed)
    return {a: {f"q{n}": float(rng.random() < rate) for n in range(questions)} for a, rate in rates.items()}


SKILLS = {f"agent-{n}": 0.15 + 0.1 * n for n in range(8)}


def test_agreement_is_kendalls_tau_b_over_common_questions() -> None:
    """Against scipy, with ties; questions that one side lacks are left out."""
    one, other = run_of(SKILLS, 40, 1), run_of(SKILLS, 40, 2)
    for asked in other.values():
        asked["only here"] = 1.0
    found = agree(("a", one), ("b", other))
    assert found.questions == 40
    ranked = [[sum(run[agent][f"q{n}"] for n in range(40)) for agent in SKILLS] for run in (one, other)]
    assert found.pairs.tau_b == pytest.approx(kendalltau(*ranked).statistic)
    assert len(every_pair({"a": one, "b": other, "c": one})) == 3


def test_a_run_agrees_with_itself_better_the_more_it_asked() -> None:
    small, large = ceiling(run_of(SKILLS, 20, 3)), ceiling(run_of(SKILLS, 2000, 3))
    assert small is not None
    assert large is not None
    assert small.low <= small.mean <= small.high <= 1.0
    assert small.mean < large.mean
    assert large.mean > 0.9


def test_too_little_to_rank_gives_no_ceiling() -> None:
    assert ceiling(run_of({"one": 0.5}, 50, 4)) is None
    assert ceiling(run_of(SKILLS, 3, 4)) is None
    assert ceiling({"a": {f"q{n}": 1.0 for n in range(9)}, "b": {f"q{n}": 1.0 for n in range(9)}}) is None


def test_the_paired_interval_of_r_covers_the_truth() -> None:
    """200 simulated studies of 30 tasks: the 90 % interval has the true R about as often as it says."""
    covered = 0
    for study in range(200):
        rng = Random(study)
        clean: dict[tuple[str, str], float] = {}
        worse: dict[tuple[str, str], float] = {}
        for task, question in itertools.product(range(30), range(8)):
            skill = 0.4 + 0.5 * ((task * 7919) % 30) / 30
            passed = rng.random() < skill
            clean[str(task), str(question)] = float(passed)
            worse[str(task), str(question)] = float(passed and rng.random() < 0.7)
        found = paired_ratio(clean, {"E1": worse})
        assert found is not None
        assert found.interval is not None
        covered += 0.7 in found.interval
    assert 0.82 <= covered / 200 <= 0.97


def test_r_without_a_clean_pass_is_not_told() -> None:
    assert paired_ratio({("t", "0"): 0.0}, {"E1": {("t", "0"): 1.0}}) is None
    assert paired_ratio({("t", "0"): 1.0}, {}) is None
