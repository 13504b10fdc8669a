"""Estimators against enumeration, intervals against simulation, and published figures recomputed."""

from __future__ import annotations

import itertools
import json
import math
from importlib import resources

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from practicum.controller.statistics.agreement import pairs, robustness
from practicum.controller.statistics.compare import compare, holm, sign_flip_p
from practicum.controller.statistics.intervals import estimate
from practicum.controller.statistics.repeats import pass_at_k, pass_hat_k
from practicum.controller.statistics.wilson import wilson

PUBLISHED = json.loads(resources.files("practicum.controller").joinpath("data/published.json").read_text())


@given(st.lists(st.booleans(), min_size=1, max_size=8), st.data())
def test_pass_at_k_and_pass_hat_k_are_means_over_all_choices_of_k_tries(tries, data):
    k = data.draw(st.integers(1, len(tries)))
    choices = list(itertools.combinations(tries, k))
    once = sum(any(choice) for choice in choices) / len(choices)
    always = sum(all(choice) for choice in choices) / len(choices)
    assert math.isclose(pass_at_k(len(tries), sum(tries), k), once, abs_tol=1e-12)
    assert math.isclose(pass_hat_k(len(tries), sum(tries), k), always, abs_tol=1e-12)


@pytest.mark.parametrize(("tries", "successes", "k"), [(3, 1, 4), (3, 4, 1), (3, 1, 0), (0, 0, 1)])
def test_more_tries_than_were_made_are_not_made_up(tries, successes, k):
    for estimator in (pass_at_k, pass_hat_k):
        with pytest.raises(ValueError, match="tries"):
            estimator(tries, successes, k)


@pytest.mark.parametrize("trials", [5, 10, 30, 100])
def test_wilson_holds_the_truth_about_as_often_as_it_says(trials):
    """Exact coverage, by enumerating every outcome, averaged over rates: never far below 90 %."""
    rates = np.linspace(0.02, 0.98, 49)
    held = []
    for rate in rates:
        chance = [math.comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(trials + 1)]
        held.append(sum(p for k, p in enumerate(chance) if rate in wilson(k, trials, 0.9)))
    assert np.mean(held) > 0.89
    assert min(held) > 0.80


@given(st.integers(1, 500), st.data())
def test_wilson_is_inside_the_unit_interval_and_holds_the_rate_seen(trials, data):
    successes = data.draw(st.integers(0, trials))
    interval = wilson(successes, trials)
    slack = 1e-12
    assert 0 <= interval.low <= successes / trials + slack
    assert successes / trials - slack <= interval.high <= 1
    assert interval.low < interval.high


@pytest.mark.parametrize(
    ("tasks", "tries", "mean", "least"),
    [(6, 1, 0.4, 0.9), (6, 3, 0.1, 0.9), (12, 3, 0.4, 0.9), (30, 1, 0.4, 0.86), (30, 3, 0.9, 0.84)],
)
def test_clustered_intervals_hold_the_truth(tasks, tries, mean, least):
    """Rates of tasks drawn from a wide beta, so that trials of a task are far from independent."""
    rng = np.random.default_rng([tasks, tries])
    held = 0
    rounds = 250
    for _ in range(rounds):
        rates = rng.beta(mean * 1.5, (1 - mean) * 1.5, tasks)
        groups = [(rng.random(tries) < rate).astype(float).tolist() for rate in rates]
        held += mean in estimate(groups).interval
    assert held / rounds >= least


def test_treating_trials_as_independent_would_be_too_sure():
    groups = [[1.0] * 10] * 4 + [[0.0] * 10] * 4
    clustered = estimate(groups).interval
    naive = wilson(40, 80, 0.9)
    assert clustered.half_width > 2 * naive.half_width


@given(st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=4), min_size=1, max_size=30), st.randoms())
def test_an_estimate_is_a_pure_function_of_the_records(groups, rng):
    one = estimate(groups)
    assert one.interval.low <= one.mean + 1e-9
    assert one.mean <= one.interval.high + 1e-9
    rng.shuffle(groups)
    again = estimate(groups)
    assert math.isclose(again.mean, one.mean, abs_tol=1e-12)
    assert math.isclose(again.interval.low, one.interval.low, abs_tol=1e-9)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9))
def test_the_p_value_is_the_share_of_sign_flips_at_least_as_far_out(sums):
    flips = list(itertools.product((-1, 1), repeat=len(sums)))
    observed = abs(sum(sums))
    exact = sum(abs(sum(s * x for s, x in zip(flip, sums, strict=True))) >= observed for flip in flips)
    assert math.isclose(sign_flip_p(np.array(sums, dtype=float)), exact / len(flips))


def test_p_values_of_equal_agents_are_not_small_more_often_than_they_say():
    rng = np.random.default_rng(3)
    small = [sign_flip_p(rng.normal(size=20)) <= 0.1 for _ in range(200)]
    assert np.mean(small) <= 0.15


def answers(rates, rng, seeds=3):
    return {
        (str(task), str(seed)): float(rng.random() < rate)
        for task, rate in enumerate(rates)
        for seed in range(seeds)
    }


def test_a_paired_comparison_finds_what_it_says_it_can_detect():
    """At an effect as large as `detectable`, about 80 % of studies must reject."""
    rng = np.random.default_rng(5)
    found = detectable = 0.0
    for _ in range(150):
        base = rng.uniform(0.2, 0.6, 40)
        comparison = compare(answers(base + 0.177, rng), answers(base, rng))
        found += 0.0 not in comparison.interval
        detectable += comparison.detectable / 150
    assert detectable == pytest.approx(0.177, abs=0.01)
    assert found / 150 == pytest.approx(0.8, abs=0.1)


def test_the_interval_of_a_difference_holds_the_truth():
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(250):
        base = rng.uniform(0.1, 0.8, 25)
        comparison = compare(answers(np.clip(base + 0.1, 0, 1), rng), answers(base, rng))
        held += 0.1 in comparison.interval
    assert held / 250 >= 0.92


def test_only_common_questions_are_compared():
    first = {("a", "0"): 1.0, ("b", "0"): 1.0, ("c", "0"): 0.0}
    second = {("a", "0"): 0.0, ("b", "0"): 1.0, ("d", "0"): 1.0}
    comparison = compare(first, second)
    assert (comparison.pairs, comparison.clusters, comparison.effect) == (2, 2, 0.5)
    assert (comparison.only_first, comparison.only_second) == (1, 0)
    assert compare(first, {("a", "0"): 1.0}) is None


@given(st.lists(st.floats(0, 1), max_size=8))
def test_adjusted_p_values_never_fall_and_keep_their_order(ps):
    adjusted = holm(ps)
    assert all(p <= a <= 1 for p, a in zip(ps, adjusted, strict=True))
    for i, j in itertools.combinations(range(len(ps)), 2):
        if ps[i] < ps[j]:
            assert adjusted[i] <= adjusted[j]


def test_holm_as_in_the_textbook():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))


@pytest.mark.parametrize("agent", PUBLISHED["occubench"]["robustness"])
def test_published_robustness_is_recomputed(agent):
    levels = dict(PUBLISHED["occubench"]["by_fault_level"][agent])
    ratio = robustness(levels.pop("E0"), levels)
    assert ratio == pytest.approx(PUBLISHED["occubench"]["robustness"][agent], abs=0.0051)


@pytest.mark.parametrize("pair", PUBLISHED["occubench"]["pairs"])
def test_published_pair_statistics_are_recomputed(pair):
    first, second = pair.split("~")
    rates = PUBLISHED["occubench"]["by_simulator"]
    ours = pairs(
        {agent: rows[first] for agent, rows in rates.items()},
        {agent: rows[second] for agent, rows in rates.items()},
    )
    theirs = PUBLISHED["occubench"]["pairs"][pair]
    assert (ours.concordant, ours.discordant, ours.tied) == (
        theirs["concordant"],
        theirs["discordant"],
        theirs["tied"],
    )
    assert ours.tau_b == pytest.approx(theirs["tau_b"], abs=0.0006)


rankings = st.dictionaries(st.sampled_from("abcdefg"), st.integers(0, 3), min_size=2)


@given(rankings, rankings)
def test_pairs_add_up_and_do_not_care_who_is_first(first, second):
    one, other = pairs(first, second), pairs(second, first)
    common = len(first.keys() & second.keys())
    assert one.concordant + one.discordant + one.tied == math.comb(common, 2)
    assert (one.concordant, one.discordant, one.tied) == (other.concordant, other.discordant, other.tied)
    if one.tau_b is not None:
        assert -1 <= one.tau_b <= 1
        assert one.tau_b == pytest.approx(other.tau_b)
