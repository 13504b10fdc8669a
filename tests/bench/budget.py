"""What share of a sweep's cost tells its result: plain random, uniform stratified, and `--spend wisely`.

Synthetic sweeps of two agents whose difficulty, ability and cost spread follow published figures
(`controller/data/published.json`). Per tier: the share of the full cost at which an agent's pass rate, and
the difference of the two, lie within ±3 points of the full sweep's with 90 % probability; and how often the
90 % intervals hold the full sweep's value.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib import resources
from random import Random

import numpy as np
from rich.console import Console
from rich.table import Table

from practicum.controller.wisely import Round, Stratum, Tier, difference, estimate

SHARES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
WITHIN = 0.03
AGENTS = ("first", "second")
METHODS = ("random", "stratified", "wisely")
SPREAD_TASK, SPREAD_SUBDOMAIN, SPREAD_AGENT = 2.2, 0.8, 0.7
SPREAD_COST_TASK, SPREAD_COST_TRY = 0.7, 0.3


@dataclass(frozen=True)
class Published:
    tier: str
    tasks: int
    rates: tuple[float, float]
    dollars: float


@dataclass(frozen=True)
class Question:
    """Answers and costs by agent, as the full sweep has them."""

    key: str
    task: str
    subdomain: str
    answers: tuple[float, float]
    costs: tuple[float, float]


@dataclass(frozen=True)
class Guess:
    """Error of an estimate, and whether its interval holds the truth."""

    error: float
    held: bool


def published() -> list[Published]:
    data = json.loads(resources.files("practicum.controller").joinpath("data/published.json").read_text())
    ale = data["ale"]
    first, second, *_ = ale["pass"].values()
    rows = zip(ale["tiers"], ale["tasks"], first, second, ale["dollars"], strict=True)
    return [Published(tier, n, (a / 100, b / 100), usd / n) for tier, n, a, b, usd in rows]


def synthesise(facts: Published, seeds: int, rng: np.random.Generator) -> list[Question]:
    """One full sweep of a tier: a logistic model with task, subdomain and agent-by-task effects."""
    subdomains = max(4, facts.tasks // 5)
    of_task = rng.integers(0, subdomains, facts.tasks)
    hard = rng.normal(0, SPREAD_TASK, facts.tasks) + rng.normal(0, SPREAD_SUBDOMAIN, subdomains)[of_task]
    taste = rng.normal(0, SPREAD_AGENT, (2, facts.tasks))
    ability = [_ability(max(rate, 0.01)) for rate in facts.rates]
    chance = [1 / (1 + np.exp(-(ability[a] - hard + taste[a]))) for a in range(2)]
    price = facts.dollars * np.exp(rng.normal(0, SPREAD_COST_TASK, facts.tasks) - SPREAD_COST_TASK**2 / 2)
    noise = np.exp(rng.normal(0, SPREAD_COST_TRY, (2, facts.tasks, seeds)))
    passed = rng.random((2, facts.tasks, seeds)) < np.array(chance)[:, :, None]
    return [
        Question(
            f"{task}/{seed}",
            str(task),
            str(of_task[task]),
            (float(passed[0, task, seed]), float(passed[1, task, seed])),
            (float(price[task] * noise[0, task, seed]), float(price[task] * noise[1, task, seed])),
        )
        for task in range(facts.tasks)
        for seed in range(seeds)
    ]


def _ability(rate: float) -> float:
    """Where the mean of the logistic-normal model is the rate (MacKay's approximation)."""
    variance = SPREAD_TASK**2 + SPREAD_SUBDOMAIN**2 + SPREAD_AGENT**2
    return math.log(rate / (1 - rate)) * math.sqrt(1 + math.pi * variance / 8)


def truth(questions: Sequence[Question]) -> tuple[float, float, float]:
    rates = [sum(q.answers[a] for q in questions) / len(questions) for a in range(2)]
    return rates[0], rates[1], rates[0] - rates[1]


def sample(
    questions: Sequence[Question], budget: float, rng: Random, *, stratified: bool
) -> tuple[Guess, ...]:
    """Trials of both agents one by one, unpaired, until the budget is spent; the usual estimates."""
    chosen: tuple[dict, dict] = ({}, {})
    spent = 0.0
    for question, agent in _order(questions, rng, stratified=stratified):
        spent += question.costs[agent]
        if spent > budget:
            break
        chosen[agent].setdefault(question.subdomain if stratified else "", []).append(question.answers[agent])
    sizes = _sizes(questions, stratified=stratified)
    found = [_stratified_mean(chosen[agent], sizes) for agent in range(2)]
    both = (found[0][0] - found[1][0], math.hypot(found[0][1], found[1][1]))
    return tuple(
        Guess(mean - real, abs(mean - real) <= 1.645 * error + 1e-9)
        for (mean, error), real in zip([*found, both], truth(questions), strict=True)
    )


def _order(questions, rng, *, stratified):
    trials = [(question, agent) for question in questions for agent in range(2)]
    rng.shuffle(trials)
    if stratified:
        seen: dict[tuple[str, int], int] = {}
        sizes = _sizes(questions, stratified=True)

        def rank(trial):
            question, agent = trial
            seen[question.subdomain, agent] = seen.get((question.subdomain, agent), 0) + 1
            return (seen[question.subdomain, agent] - rng.random()) / sizes[question.subdomain]

        trials.sort(key=rank)
    return trials


def _sizes(questions, *, stratified):
    sizes: dict[str, int] = {}
    for question in questions:
        key = question.subdomain if stratified else ""
        sizes[key] = sizes.get(key, 0) + 1
    return sizes


def _stratified_mean(chosen, sizes):
    everything = [value for values in chosen.values() for value in values]
    overall = (sum(everything) + 0.5) / (len(everything) + 1)
    pooled = overall * (1 - overall)
    total = sum(sizes.values())
    mean = variance = 0.0
    for key, size in sizes.items():
        values = chosen.get(key, [])
        share = size / total
        if not values:
            mean, variance = mean + share * overall, variance + share**2 * pooled
            continue
        centre = sum(values) / len(values)
        mean += share * centre
        scatter = (
            pooled
            if len(values) < 2
            else (sum((v - centre) ** 2 for v in values) + 2 * pooled) / (len(values) + 1)
        )
        variance += share**2 * scatter / len(values) * (1 - len(values) / size)
    return mean, math.sqrt(variance)


def wisely(questions: Sequence[Question], budgets: Sequence[float], rng: Random) -> list[tuple[Guess, ...]]:
    """The product's own chooser and estimator, looked at whenever another budget is reached."""
    by_key = {question.key: question for question in questions}
    strata: dict[str, Stratum] = {}
    for question in questions:
        strata.setdefault(question.task, Stratum([], group=question.subdomain)).waiting.append(question.key)
    tier = Tier("tier", strata, AGENTS, rng)
    rounds: list[Round] = []
    asked: list[str] = []
    spent, found = 0.0, []
    waiting = list(budgets)
    while waiting and (this := tier.next_round()):
        rounds.append(this)
        for stratum, key in this.order:
            cost = sum(by_key[key].costs)
            while waiting and spent + cost > waiting[0]:
                found.append(_wise_guesses(rounds, asked, by_key, truth(questions)))
                waiting.pop(0)
            spent += cost
            asked.append(key)
            tier.learn(stratum, dict(zip(AGENTS, by_key[key].answers, strict=True)), cost)
    return found


def _wise_guesses(rounds, asked, by_key, real):
    answers = [{key: by_key[key].answers[a] for key in asked} for a in range(2)]
    guesses = []
    for agent in range(2):
        one = estimate(rounds, answers[agent], AGENTS[agent])
        guesses.append(Guess(one.mean - real[agent], real[agent] in one.interval()))
    both = difference(rounds, *answers, AGENTS)
    return (*guesses, Guess(both.mean - real[2], real[2] in both.normal_interval()))


def one_sweep(job: tuple[int, int, int]) -> dict[str, list[tuple[Guess, ...]]]:
    tier, seeds, number = job
    facts = published()[tier]
    rng = np.random.default_rng([tier, seeds, number])
    questions = synthesise(facts, seeds, rng)
    full = sum(sum(question.costs) for question in questions)
    budgets = [share * full for share in SHARES]
    pick = Random(number)
    return {
        "random": [sample(questions, budget, pick, stratified=False) for budget in budgets],
        "stratified": [sample(questions, budget, pick, stratified=True) for budget in budgets],
        "wisely": wisely(questions, budgets, pick),
    }


def share_needed(errors: np.ndarray) -> float:
    """The least share of the cost with 90 % of errors within the bound, between shares interpolated."""
    good = (np.abs(errors) <= WITHIN + 1e-9).mean(axis=0)
    shares, rates = [0.0, *SHARES, 1.0], [0.0, *good, 1.0]
    for index in range(1, len(shares)):
        if rates[index] >= 0.9:
            before, after = rates[index - 1], rates[index]
            step = shares[index] - shares[index - 1]
            return shares[index - 1] + step * (0.9 - min(before, 0.9)) / max(after - before, 1e-9)
    return 1.0


def measure(sweeps: int, seeds: int, workers: int) -> dict[str, dict[str, float | str]]:
    results: dict[str, dict[str, float | str]] = {}
    with ProcessPoolExecutor(workers) as pool:
        for tier, facts in enumerate(published()):
            jobs = [(tier, seeds, number) for number in range(sweeps)]
            runs = list(pool.map(one_sweep, jobs, chunksize=8))
            for method in METHODS:
                errors = np.array([[[g.error for g in at] for at in run[method]] for run in runs])
                held = np.array([[[g.held for g in at] for at in run[method]] for run in runs])
                for index, what in enumerate(("first", "second", "difference")):
                    name = f"{facts.tier}/{what}/{method}"
                    spread = [share_needed(part[:, :, index]) for part in np.array_split(errors, 5)]
                    results[name] = {
                        "median": share_needed(errors[:, :, index]),
                        "min": min(spread),
                        "max": max(spread),
                        "unit": "share of full cost",
                        "coverage": float(held[:, 2:, index].mean()),
                        "worst_coverage": float(held[:, 2:, index].mean(axis=0).min()),
                        "bias": float(np.abs(errors[:, 2:, index].mean(axis=0)).max()),
                    }
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sweeps", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    results = measure(arguments.sweeps, arguments.seeds, arguments.workers)
    if arguments.json:
        print(json.dumps(results))
        return
    table = Table(title=f"Share of the full cost for ±3 points at 90 % ({arguments.sweeps} sweeps a tier)")
    for column in ("tier / of what / method", "share", "fifths", "coverage of 90 %", "worst", "bias, points"):
        table.add_column(column)
    for name, row in results.items():
        table.add_row(
            name,
            f"{row['median']:.2f}",
            f"{row['min']:.2f}–{row['max']:.2f}",
            f"{row['coverage']:.3f}",
            f"{row['worst_coverage']:.3f}",
            f"{100 * float(row['bias']):.2f}",
        )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
