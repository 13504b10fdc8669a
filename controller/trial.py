"""The story of one attempt at one trial, in the order in which it happens:

task → instance → plan → provision → drive → collect → verify → record → report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

from practicum.agents import agent as agents
from practicum.agents.agent import Ending, ExamOver, Meter, Sitter, seat
from practicum.controller.blame import TrialFault, closing_late, phase
from practicum.controller.exam import Sitting
from practicum.controller.files import now
from practicum.controller.outcome import Cancelled, Outcome, Phase, Result, Scored, Spent, Trial
from practicum.controller.store import Attempt, StepWriter
from practicum.infra.desk.desk import DeskProvider, Label
from practicum.infra.environment import Environment
from practicum.tasks.spec import Instance, Kind, Task
from practicum.verifiers import jail
from practicum.verifiers.verdict import Verdict


@dataclass(slots=True)
class Story:
    """One attempt: what it works with, and what it has used so far."""

    trial: Trial
    task: Task
    sitter: Sitter
    desks: DeskProvider
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
            instance = self.instance()
            with self.provision(instance) as environment:
                ending = self.drive(instance, environment)
                self.collect(environment)
            outcome: Outcome = Scored(verdict=self.verify(instance), ending=ending)
        except TrialFault as error:
            outcome = error.fault
        except agents.Cancelled:
            outcome = Cancelled(reason="the controller was told to stop")
        return self.record(outcome)

    def instance(self) -> Instance:
        with phase(Phase.INSTANCE):
            return self.task.instantiate(self.trial.seed, self.attempt.instance_folder)

    @contextmanager
    def provision(self, instance: Instance) -> Iterator[Environment]:
        house = ExitStack()
        with phase(Phase.PROVISION, self.kind):
            environment = house.enter_context(self.task.open(instance, self.desks, self.label))
        with closing_late(house, self.notes):
            self.attempt.describe(self.task, instance, environment.tools())
            yield environment

    def drive(self, instance: Instance, environment: Environment) -> Ending:
        with phase(Phase.DRIVE, self.kind), closing(StepWriter(self.attempt)) as recorder:
            exam = Sitting.of(self.trial, instance, environment, self.meter, recorder, self.stopped)
            try:
                seat(self.sitter, self.task, instance).sit(exam)
            except ExamOver as over:
                return exam.over or over.ending
            finally:
                self.spent = exam.tally.spent(exam.elapsed())
            return exam.over or Ending.DONE

    def collect(self, environment: Environment) -> None:
        with phase(Phase.COLLECT, self.kind):
            self.attempt.outputs.mkdir()
            self.notes["left_out"] = environment.collect(self.attempt.outputs)

    def verify(self, instance: Instance) -> Verdict:
        with phase(Phase.VERIFY):
            return jail.grade(self.task.verifier, self.attempt.outputs, instance.reference, instance.params)

    def record(self, outcome: Outcome) -> Result:
        return Result(
            trial=self.trial,
            outcome=outcome,
            spent=self.spent,
            attempt=self.attempt.number,
            started=self.started,
            finished=now(),
            environment=self.notes,
        )

    @property
    def kind(self) -> Kind:
        return self.task.spec.kind
