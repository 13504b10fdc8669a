"""The story of one attempt at one trial, in the order in which it happens:

task → instance → plan → provision → drive → collect → verify → record → report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

from practicum.agents import agent as agents
from practicum.agents.agent import Ending, Meter, seat
from practicum.controller.blame import TrialFault, as_planned, closing_late, phase
from practicum.controller.exam import Sitting
from practicum.controller.files import now
from practicum.controller.furnish import furnish
from practicum.controller.grading import grade
from practicum.controller.house import House
from practicum.controller.job import Job
from practicum.controller.outcome import Cancelled, Outcome, Phase, Result, Scored, Spent
from practicum.controller.store import Attempt, StepWriter
from practicum.infra.desk.desk import Label
from practicum.infra.environment import Environment
from practicum.tasks.spec import Instance, Task
from practicum.verifiers.verdict import Verdict


@dataclass(slots=True)
class Story:
    """One attempt: what was planned, what it works with, and what it has used so far."""

    job: Job
    house: House
    label: Label
    attempt: Attempt
    meter: Meter
    stopped: Callable[[], bool]
    started: str = field(default_factory=now)
    spent: Spent = field(default_factory=Spent)
    notes: dict[str, Any] = field(default_factory=dict)

    def tell(self) -> Result:
        """Raises for nothing that goes wrong with the trial: that is its outcome."""
        try:
            task = self.task()
            instance = self.instance(task)
            with self.provision(task, instance) as environment:
                self.notes["ending"] = ending = self.drive(task, instance, environment)
                self.collect(environment)
            outcome: Outcome = Scored(verdict=self.verify(task, instance), ending=ending)
        except TrialFault as error:
            outcome = error.fault
        except agents.Cancelled:
            outcome = Cancelled(reason="the controller was told to stop")
        return self.record(outcome)

    def task(self) -> Task:
        with phase(Phase.INSTANCE):
            return as_planned(self.house.task(self.job.task), self.job.trial)

    def instance(self, task: Task) -> Instance:
        with phase(Phase.INSTANCE):
            return task.instantiate(self.job.trial.seed, self.attempt.instance_folder)

    @contextmanager
    def provision(self, task: Task, instance: Instance) -> Iterator[Environment]:
        opened, desks = ExitStack(), self.house.desks(self.job.desk)
        with closing_late(opened, self.notes):
            with phase(Phase.PROVISION, task.spec.kind):
                clean = opened.enter_context(task.open(instance, desks, self.label))
                environment = furnish(clean, self.job.trial, self.meter)
                self.attempt.describe(task, instance, environment.tools())
            yield environment

    def drive(self, task: Task, instance: Instance, environment: Environment) -> Ending:
        with phase(Phase.DRIVE, task.spec.kind), closing(StepWriter(self.attempt)) as recorder:
            exam = Sitting.of(instance, environment, self.job.trial.limits, self.meter, recorder)
            exam.stopped = self.stopped
            try:
                return exam.seat(seat(self.house.sitter(self.job.agent), task, instance))
            finally:
                self.spent = exam.spent()

    def collect(self, environment: Environment) -> None:
        with phase(Phase.COLLECT):
            self.attempt.outputs.mkdir()
            self.notes["left_out"] = environment.collect(self.attempt.outputs)

    def verify(self, task: Task, instance: Instance) -> Verdict:
        with phase(Phase.VERIFY):
            return grade(task, self.attempt.outputs, instance.reference, instance.params)

    def record(self, outcome: Outcome) -> Result:
        times = {"started": self.started, "finished": now()}
        number, trial = self.attempt.number, self.job.trial
        return Result(
            trial=trial, outcome=outcome, spent=self.spent, attempt=number, environment=self.notes, **times
        )
