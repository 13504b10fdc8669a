"""What happens inside a worker process: take a job, own its trial, tell its story, record it.

Worker and controller speak over one pipe. A message that arrives while a job is running, or the end of the
pipe, means *stop now*.
"""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import time
from contextlib import closing
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection

from practicum import __version__
from practicum.agents.agent import Ending
from practicum.controller import locks
from practicum.controller.blame import fault_of
from practicum.controller.job import Answer, Broken, Done, Job, Skipped
from practicum.controller.ledger import MACHINE, Amounts, Ledger, OverCap, Owner, TrialMeter, Unit
from practicum.controller.outcome import Cancelled, Phase, Result, Scored, Trial
from practicum.controller.store import Attempt, Run, TrialFolder
from practicum.controller.summary import summarise
from practicum.controller.trial import Story
from practicum.controller.warm import Houses
from practicum.infra.desk.desk import Label

_PR_SET_PDEATHSIG = 1


def serve(connection: Connection) -> None:
    """The main loop of a worker process; ends when the pipe does."""
    _die_with_the_controller()
    with connection, Houses() as houses:
        while True:
            try:
                job = connection.recv()
            except EOFError:
                return
            if isinstance(job, Job):
                connection.send(work(job, connection, houses))


def work(job: Job, connection: Connection, houses: Houses) -> Answer:
    """One job to its answer. Raises only when there is nobody left to answer to."""
    run = Run(job.root)
    try:
        with run.trial(job.trial.id).lease() as folder, closing(Ledger(run.ledger)) as ledger:
            if folder.finished() != job.finished:
                return Skipped("somebody else worked on it meanwhile")
            return _Shift(job, folder, ledger, connection, houses).run()
    except locks.Held:
        return Skipped("another controller works on it")
    except OverCap as over:
        return Skipped(str(over), cap=True)
    except OSError as error:
        return Broken(fault_of(Phase.RECORD, error))


@dataclass(slots=True)
class _Shift:
    """One attempt under its lease: machine time reserved before, booked after, the record last."""

    job: Job
    folder: TrialFolder
    ledger: Ledger
    connection: Connection
    houses: Houses

    def run(self) -> Answer:
        attempt = self.folder.begin()
        owner = Owner(self.job.trial.id, attempt.number, self.job.trial.agent)
        machine = self.ledger.reserve(owner, MACHINE, self._machine(self.job.wall), purpose=self.job.desk)
        begun = time.monotonic()
        try:
            result = self._tell(attempt, owner)
        finally:
            self.ledger.settle(machine, owner, self._machine(time.monotonic() - begun))
        self.folder.finish(result)
        return Done(summarise(result))

    def _tell(self, attempt: Attempt, owner: Owner) -> Result:
        story = Story(
            job=self.job,
            house=self.houses.open(self.job.house, self.job.warm),
            label=Label(self.job.run, self.job.trial.id, time.time() + self.job.wall),
            attempt=attempt,
            meter=TrialMeter(self.ledger, self.job.prices, owner, caps_of(self.job.trial)),
            stopped=self.connection.poll,
            notes={
                "desk": self.job.trial.desk_kind,
                "digest": self.job.trial.environment_digest,
                "host": platform.node(),
                "practicum": __version__,
                "reopened": self.job.reopened,
            },
        )
        result = story.tell()
        if _never_began(result) and self.ledger.exhausted(owner.agent):
            return replace(result, outcome=Cancelled(reason="a cap left nothing to begin with"))
        return result

    def _machine(self, seconds: float) -> Amounts:
        milliseconds = max(0, round(seconds * 1000))
        cost = self.job.prices.machine_cost(self.job.trial.desk_kind, milliseconds)
        return {Unit.MACHINE_MS: milliseconds, Unit.NANO_DOLLARS: cost}


def caps_of(trial: Trial) -> Amounts:
    """The limits of one trial that are kept in the book."""
    limits = {Unit.NANO_DOLLARS: trial.limits.nano_dollars, Unit.TOKENS: trial.limits.tokens}
    return {unit: amount for unit, amount in limits.items() if amount is not None}


def _never_began(result: Result) -> bool:
    """Out of money before the first reply: nothing was shown of the agent, so there is nothing to grade."""
    outcome = result.outcome
    return (
        isinstance(outcome, Scored)
        and outcome.ending in (Ending.MONEY, Ending.TOKENS)
        and result.spent.steps == 0
    )


def _die_with_the_controller() -> None:
    """Be in a session of its own, so that Ctrl-C reaches only the controller, and die when that dies."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == 1:
        os.kill(os.getpid(), signal.SIGKILL)
