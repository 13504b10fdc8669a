"""The order in which the trials of a run are taken up: as planned, or so that each dollar tells most."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Protocol

import msgspec

from practicum.controller.files import appending, read_lines
from practicum.controller.outcome import Trial
from practicum.controller.prices import NANO
from practicum.controller.summary import Standing, Summary
from practicum.controller.wisely import Round, Stratum, Tier

TASKS_AS_STRATA_FROM = 4.0
"""Questions of a task from which each task is a stratum of its own; below, each subdomain is."""
DOLLARS_A_SECOND = 1e-4
"""What a second counts for where only time is spent."""


class Order(Protocol):
    def add(self, due: Iterable[Trial]) -> None: ...

    def peek(self) -> Trial | None:
        """The trial to take up next; `None` when there is none."""
        ...

    def take(self) -> Trial:
        """Take it out. Only after `peek` showed one."""
        ...

    def again(self, trial: Trial) -> None:
        """Take this one up again, after the others."""
        ...

    def drop(self, agent: str) -> int:
        """Forget what waits of this agent; returns how many."""
        ...

    def learn(self, summary: Summary) -> None:
        """A trial ended for good."""
        ...

    def __len__(self) -> int: ...


class AsPlanned:
    def __init__(self) -> None:
        self._waiting: deque[Trial] = deque()

    def add(self, due: Iterable[Trial]) -> None:
        self._waiting.extend(due)

    def peek(self) -> Trial | None:
        return self._waiting[0] if self._waiting else None

    def take(self) -> Trial:
        return self._waiting.popleft()

    def again(self, trial: Trial) -> None:
        self._waiting.append(trial)

    def drop(self, agent: str) -> int:
        before = len(self._waiting)
        self._waiting = deque(trial for trial in self._waiting if trial.agent != agent)
        return before - len(self._waiting)

    def learn(self, summary: Summary) -> None:
        del summary

    def __len__(self) -> int:
        return len(self._waiting)


def question_of(trial: Trial) -> str:
    """What all agents are asked alike."""
    return f"{trial.task}#{trial.seed}/{trial.repeat}/{trial.faults}"


def read_rounds(path: Path) -> list[Round]:
    return [msgspec.json.decode(line, type=Round) for line in read_lines(path)]


class Wisely:
    """Rounds of questions, each tier by its gain; see `controller.wisely`.

    Rounds are written to `path` before they are asked, so that a resumed run goes on with the same ones.
    """

    def __init__(self, path: Path, seed: str, plan: Sequence[Trial], known: Sequence[Summary]) -> None:
        self._path = path
        self._seed = seed
        self._trials: dict[str, list[Trial]] = {}
        for trial in plan:
            self._trials.setdefault(question_of(trial), []).append(trial)
        self._due: set[str] = set()
        self._ready: dict[str, deque[Trial]] = {}
        self._late: deque[Trial] = deque()
        self._answers: dict[str, dict[str, Summary]] = {}
        self._tiers = {tier.name: tier for tier in _tiers(plan)}
        self._rounds = read_rounds(path)
        for one in self._rounds:
            self._replay(one)
        for summary in known:
            if summary.standing is Standing.SCORED:
                self.learn(summary)

    def add(self, due: Iterable[Trial]) -> None:
        self._due |= {trial.id for trial in due}
        for one in self._rounds:
            self._queue(one)

    def peek(self) -> Trial | None:
        while (tier := self._best()) is not None:
            ready = self._ready.setdefault(tier.name, deque())
            if ready:
                return ready[0]
            self._begin(tier)
        return self._late[0] if self._late else None

    def take(self) -> Trial:
        tier = self._best()
        ready = self._late if tier is None else self._ready[tier.name]
        trial = ready.popleft()
        self._due.discard(trial.id)
        return trial

    def again(self, trial: Trial) -> None:
        self._due.add(trial.id)
        self._late.append(trial)

    def drop(self, agent: str) -> int:
        before = len(self)
        self._due -= {t.id for trials in self._trials.values() for t in trials if t.agent == agent}
        for name, ready in self._ready.items():
            self._ready[name] = deque(trial for trial in ready if trial.id in self._due)
        self._late = deque(trial for trial in self._late if trial.id in self._due)
        return before - len(self)

    def learn(self, summary: Summary) -> None:
        """A question teaches once, when the last of its agents has answered."""
        question = question_of(summary.trial)
        answers = self._answers.setdefault(question, {})
        answers[summary.trial.agent] = summary
        if len(answers) < len(self._trials[question]):
            return
        scored = {name: one for name, one in answers.items() if one.standing is Standing.SCORED}
        self._tiers[summary.trial.tier].learn(
            self._stratum_of(summary.trial),
            {name: float(bool(one.passed)) for name, one in scored.items()},
            sum(_cost(one) for one in answers.values()),
        )

    def __len__(self) -> int:
        return len(self._due)

    def _best(self) -> Tier | None:
        """The tier whose next question tells most for its cost, among those that have one."""
        open_tiers = [tier for tier in self._tiers.values() if self._has_more(tier)]
        return max(open_tiers, key=lambda tier: tier.gain(), default=None)

    def _has_more(self, tier: Tier) -> bool:
        if self._ready.get(tier.name):
            return True
        waiting = (question for one in tier.strata.values() for question in one.waiting)
        return any(trial.id in self._due for question in waiting for trial in self._trials[question])

    def _begin(self, tier: Tier) -> None:
        tier.rng = Random(f"{self._seed}/{tier.name}/{tier.rounds}")
        one = tier.next_round()
        if one is None:
            return
        with appending(self._path) as rounds:
            rounds.append(one)
        self._rounds.append(one)
        self._queue(one)

    def _queue(self, one: Round) -> None:
        ready = self._ready.setdefault(one.tier, deque())
        queued = {trial.id for trial in ready}
        for _, question in one.order:
            ready.extend(t for t in self._trials[question] if t.id in self._due and t.id not in queued)

    def _replay(self, one: Round) -> None:
        """Take out of the strata what an earlier controller has drawn."""
        tier = self._tiers[one.tier]
        tier.rounds = one.number
        for stratum, question in one.order:
            tier.strata[stratum].waiting.remove(question)

    def _stratum_of(self, trial: Trial) -> str:
        strata = self._tiers[trial.tier].strata
        return trial.task if trial.task in strata else trial.subdomain


def _tiers(plan: Sequence[Trial]) -> Iterator[Tier]:
    by_tier: dict[str, list[Trial]] = {}
    for trial in plan:
        by_tier.setdefault(trial.tier, []).append(trial)
    for name, trials in by_tier.items():
        questions = {question_of(trial): trial for trial in trials}
        tasks = {trial.task for trial in trials}
        fine = len(questions) / len(tasks) >= TASKS_AS_STRATA_FROM
        strata: dict[str, Stratum] = {}
        for question, trial in questions.items():
            key = trial.task if fine else trial.subdomain
            strata.setdefault(key, Stratum([], group=trial.subdomain)).waiting.append(question)
        agents = tuple(dict.fromkeys(trial.agent for trial in trials))
        yield Tier(name, strata, agents, Random(name))


def _cost(summary: Summary) -> float:
    spent = summary.spent
    return (spent.nano_dollars or 0) / NANO + spent.seconds * DOLLARS_A_SECOND
