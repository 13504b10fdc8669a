"""Choosing trials by what they tell: unbiased whatever it learns, honest, and resumable."""

from __future__ import annotations

from random import Random

import msgspec
import numpy as np
import pytest

from practicum.controller import launch
from practicum.controller.index import summaries
from practicum.controller.order import Wisely, question_of, read_rounds
from practicum.controller.report import read
from practicum.controller.runfile import Spend
from practicum.controller.summary import Standing
from practicum.controller.wisely import Stratum, Tier, difference, estimate

AGENTS = ("ann", "bob")


def world(seed: int, strata: int = 6, size: int = 8):
    """Answers by question for two agents, strata as different as can be; costs by stratum."""
    rng = np.random.default_rng(seed)
    rates = rng.choice([0.02, 0.3, 0.5, 0.95], strata)
    answers = {
        agent: {
            f"{s}/{n}": float(rng.random() < np.clip(rates[s] + shift, 0, 1))
            for s in range(strata)
            for n in range(size)
        }
        for agent, shift in zip(AGENTS, (0.0, 0.15), strict=True)
    }
    return answers, rng.choice([1.0, 4.0], strata)


def ask(answers, costs, count: int, seed: int):
    """Ask `count` questions; returns the rounds and the answers to what was asked."""
    keys = list(answers["ann"])
    strata = {}
    for key in keys:
        name = key.split("/")[0]
        strata.setdefault(name, Stratum([], group="g")).waiting.append(key)
    tier = Tier("t", strata, AGENTS, Random(seed))
    rounds, asked = [], []
    while len(asked) < count:
        rounds.append(tier.next_round())
        for stratum, key in rounds[-1].order:
            if len(asked) == count:
                break
            asked.append(key)
            tier.learn(stratum, {a: answers[a][key] for a in AGENTS}, costs[int(stratum)])
    return rounds, {agent: {key: answers[agent][key] for key in asked} for agent in AGENTS}


@pytest.mark.parametrize("count", [5, 11, 24])
def test_the_estimate_is_unbiased_although_the_choice_follows_the_answers(count):
    answers, costs = world(1)
    truth = np.mean(list(answers["ann"].values()))
    gap = truth - np.mean(list(answers["bob"].values()))
    means, gaps = [], []
    for seed in range(600):
        rounds, seen = ask(answers, costs, count, seed)
        means.append(estimate(rounds, seen["ann"], "ann").mean)
        gaps.append(difference(rounds, seen["ann"], seen["bob"], AGENTS).mean)
    for found, real in ((means, truth), (gaps, gap)):
        assert abs(np.mean(found) - real) < 4 * np.std(found) / np.sqrt(len(found))


def test_the_plain_mean_of_wisely_chosen_trials_would_be_biased():
    """Why the weights: adaptive choice shifts the plain mean."""
    answers, costs = world(1)
    truth = np.mean(list(answers["ann"].values()))
    plain = [np.mean(list(ask(answers, costs, 24, seed)[1]["ann"].values())) for seed in range(300)]
    assert abs(np.mean(plain) - truth) > 4 * np.std(plain) / np.sqrt(len(plain))


def test_intervals_hold_the_value_of_the_whole_plan():
    held, total = 0, 0
    for seed in range(150):
        answers, costs = world(seed)
        truth = np.mean(list(answers["ann"].values()))
        rounds, seen = ask(answers, costs, 20, seed)
        held += truth in estimate(rounds, seen["ann"], "ann").interval()
        total += 1
    assert held / total >= 0.84


def test_asking_everything_leaves_nothing_to_estimate():
    answers, costs = world(2)
    rounds, seen = ask(answers, costs, len(answers["ann"]), 0)
    one = estimate(rounds, seen["ann"], "ann")
    assert one.error == 0.0
    assert one.mean == pytest.approx(np.mean(list(answers["ann"].values())))
    assert one.asked == one.questions


def test_every_question_is_drawn_once():
    answers, costs = world(3)
    rounds, _ = ask(answers, costs, len(answers["ann"]), 0)
    drawn = [question for one in rounds for _, question in one.order]
    assert sorted(drawn) == sorted(answers["ann"])


def test_dear_and_settled_strata_are_asked_less():
    answers = {a: {f"{s}/{n}": float(s == 1 and n % 2) for s in range(2) for n in range(40)} for a in AGENTS}
    _, seen = ask(answers, [4.0, 1.0], 40, 0)
    counts = [sum(key.startswith(f"{s}/") for key in seen["ann"]) for s in range(2)]
    assert counts[1] > 2 * counts[0] > 0


def test_no_answer_is_no_estimate():
    answers, costs = world(4)
    rounds, _ = ask(answers, costs, 5, 0)
    with pytest.raises(ValueError, match="no question"):
        estimate(rounds, {}, "ann")


def test_a_run_out_of_money_goes_on_with_the_same_questions(lab, bills):
    spec = lab.spec(
        "toys/near-term/[0-2]", agents=("spender:1:0.5", "spender:2"), seeds="0-3", spend=Spend.WISELY
    )
    run = lab.begin(spec)
    launch.set_caps(run, msgspec.structs.replace(spec.caps, dollars=0.03))
    lab.sweep(run, spec).go()
    half = read_rounds(run.rounds)
    report = read(run)
    assert 0 < report.counts["scored"] < 24
    assert {one.agents for one in report.designed} == {
        ("spender:1:0.5",),
        ("spender:2",),
        ("spender:1:0.5", "spender:2"),
    }
    launch.raise_budget(run, "+1")
    lab.sweep(run, spec).go()
    rounds = read_rounds(run.rounds)
    assert rounds[: len(half)] == half
    drawn = [question for one in rounds for _, question in one.order]
    assert sorted(drawn) == sorted({question_of(trial) for trial in run.plan().trials})
    done = read(run)
    rates = {row.agent: row.passed.mean for row in done.of("tier")}
    exact = {one.agents[0]: one.mean for one in done.designed if len(one.agents) == 1}
    assert exact == pytest.approx(rates)


def test_both_agents_sit_each_drawn_question(lab):
    spec = lab.spec("toys/near-term/[0-2]", agents=("oracle", "nop"), seeds="0-3", spend=Spend.WISELY)
    run = lab.begin(spec)
    order = Wisely(run.rounds, "seed", run.plan().trials, summaries(run))
    order.add(run.plan().trials)
    taken = [order.take() for _ in range(8) if order.peek()]
    asked = [question_of(trial) for trial in taken]
    assert asked[::2] == asked[1::2]
    assert len(set(asked)) == 4
    assert all(summary.standing is Standing.PENDING for summary in summaries(run))
