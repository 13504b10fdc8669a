"""The loop of a run: admit what is due, wait for what ends, record what broke, until nothing is left.

All that is remembered lies in the run's folder; a controller that dies here is replaced by the next one.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field

from practicum.agents.agent import Ending
from practicum.controller import events, locks
from practicum.controller.admission import Admission, Gauge, measure
from practicum.controller.engine import Ended, Engine
from practicum.controller.events import Listener
from practicum.controller.files import now
from practicum.controller.house import House
from practicum.controller.index import summaries
from practicum.controller.job import Broken, Done, Job, Skipped
from practicum.controller.ledger import Ledger
from practicum.controller.order import AsPlanned, Order
from practicum.controller.outcome import Cancelled, Fault, FaultKind, Outcome, Result, Trial
from practicum.controller.plan import WORLD
from practicum.controller.policy import Policy
from practicum.controller.prices import PriceTable
from practicum.controller.store import PlanRecord, Run, TrialFolder
from practicum.controller.summary import Counts, Standing, Summary, summarise
from practicum.controller.tally import spent_so_far
from practicum.infra.desk.desk import DeskProvider, Label

TICK = 0.5
GRACE = 15.0
REAP_EVERY = 60.0
HELD_EVERY = 30.0
ALLOWANCE = 1500.0
"""Seconds a trial may take beyond its own limit: a boot, one longest tool call, collecting and grading."""
LONGEST = 6 * 3600.0
"""Seconds of a trial whose task sets no limit."""
RECHECKS = 3


@dataclass(slots=True)
class Sweep:
    """One controller at work on one run. `drain` and `stop` may be called from a signal handler."""

    run: Run
    record: PlanRecord
    house: House
    engine: Engine
    prices: PriceTable
    policy: Policy = field(default_factory=Policy)
    admission: Admission = field(default_factory=Admission)
    gauge: Gauge = measure
    tell: Listener = lambda _: None
    until: float | None = None
    allowance: float = ALLOWANCE
    warm: int = 0
    order: Order = field(default_factory=AsPlanned)
    running: dict[str, Job] = field(default_factory=dict)
    draining: bool = False
    stop_at: float | None = None
    finished: dict[str, int] = field(default_factory=dict)
    reopened: set[str] = field(default_factory=set)
    rechecks: dict[str, int] = field(default_factory=dict)
    reaped_at: float = 0.0
    held_at: float = -HELD_EVERY

    def go(self) -> Counts:
        """Work until nothing is due, or until told to stop. Returns how the trials of the run stand."""
        standing = summaries(self.run)
        due = [summary for summary in standing if self.policy.due(summary)]
        self.order.add(summary.trial for summary in due)
        self.finished = {one.trial.id: self.run.trial(one.trial.id).finished() for one in due}
        self.reopened = {s.trial.id for s in due if s.standing is Standing.SCORED}
        self.tell(
            events.RunStarted(
                run=self.record.run,
                planned=len(standing),
                due=len(due),
                workers=self.engine.free(),
            )
        )
        self._reap()
        try:
            while self._admit() or self.running:
                self._settle(self.engine.wait(TICK))
                self._keep_time()
        finally:
            self._settle(self.engine.close())
            self._reap()
        counts = Counts.of(summaries(self.run))
        self.tell(
            events.RunEnded(
                scored=counts.scored, fault=counts.fault, cancelled=counts.cancelled, pending=counts.pending
            )
        )
        return counts

    def drain(self, reason: str) -> None:
        """Start nothing more; let finish what runs."""
        self.draining = True
        self.tell(events.Draining(reason=reason))

    def stop(self, reason: str) -> None:
        """Start nothing more; ask what runs to end, and kill what has not ended after a grace."""
        self.draining = True
        self.stop_at = min(self.stop_at or time.monotonic() + GRACE, time.monotonic() + GRACE)
        self.engine.stop()
        self.tell(events.Draining(reason=reason, now=True))

    def _admit(self) -> bool:
        """Start what can be started; whether there is anything left to start later."""
        while not self.draining and self.engine.free() and (trial := self.order.peek()) is not None:
            spec = self.house.task(self.record.tasks[trial.task]).spec
            objection = self.admission.objection(spec, len(self.running), self.gauge(self.run.root))
            if objection is None:
                self._start(self.order.take())
                continue
            self._say_held(objection)
            if not self.running:
                self.drain(objection)
            return bool(self.running)
        return len(self.order) > 0 and not self.draining

    def _say_held(self, objection: str) -> None:
        """Once in a while: the machine is asked at every turn of the loop."""
        if time.monotonic() >= self.held_at + HELD_EVERY:
            self.held_at = time.monotonic()
            self.tell(events.Held(reason=objection))

    def _start(self, trial: Trial) -> None:
        job = Job(
            root=self.run.root,
            run=self.record.run,
            house=self.record.house,
            trial=trial,
            task=self.record.tasks[trial.task],
            agent=self.record.agents[trial.agent],
            desk=self.record.desk,
            finished=self.finished[trial.id],
            prices=self.prices,
            wall=(LONGEST if trial.limits.seconds is None else trial.limits.seconds) + self.allowance,
            reopened=trial.id in self.reopened,
            warm=self.warm,
        )
        self.running[trial.id] = job
        self.tell(events.TrialStarted(trial=trial))
        self.engine.start(job)

    def _settle(self, ended: Iterable[Ended]) -> None:
        for end in ended:
            del self.running[end.job.trial.id]
            match end.answer:
                case Done(summary):
                    self._finished(summary)
                case Skipped(reason, cap):
                    self._skipped(end.job.trial, reason, cap=cap)
                case Broken(fault):
                    self._broken(end.job, fault)

    def _finished(self, summary: Summary) -> None:
        again = summary.standing is Standing.FAULT and self.policy.unfinished(summary)
        if again:
            self._requeue(summary.trial)
        else:
            self.order.learn(summary)
        self.tell(events.TrialEnded(summary=summary, again=again))
        if summary.ending in (Ending.MONEY, Ending.TOKENS) or summary.standing is Standing.CANCELLED:
            self._drop_exhausted(summary.trial.agent)
        if summary.kind is FaultKind.DISK_FULL and not self.draining:
            self.drain("the disk is full")

    def _skipped(self, trial: Trial, reason: str, *, cap: bool) -> None:
        self.tell(events.TrialSkipped(trial=trial, reason=reason))
        if cap:
            self._drop_exhausted(trial.agent)
        elif self.rechecks.setdefault(trial.id, 0) < RECHECKS and not self.run.trial(trial.id).leased():
            self.rechecks[trial.id] += 1
            if self.run.trial(trial.id).result() is None:
                self._requeue(trial)

    def _requeue(self, trial: Trial) -> None:
        self.finished[trial.id] = self.run.trial(trial.id).finished()
        self.order.again(trial)

    def _drop_exhausted(self, agent: str) -> None:
        with closing(Ledger(self.run.ledger)) as ledger:
            if not ledger.exhausted(agent):
                return
        if self.order.drop(agent):
            self.tell(events.CapReached(agent=agent, reason="a cap leaves no room for the next call"))

    def _broken(self, job: Job, fault: Fault) -> None:
        """A worker died, or could not write: record what became of the attempt it had begun."""
        outcome: Outcome = fault
        if self.stop_at is not None:
            outcome = Cancelled(reason="stopped by its controller")
        self._reap()
        try:
            summary = self._record(self.run.trial(job.trial.id), job, outcome)
        except locks.Held:
            self.tell(events.TrialSkipped(trial=job.trial, reason="another controller works on it"))
        except OSError as error:
            self.tell(events.TrialSkipped(trial=job.trial, reason=f"not recorded: {error}"))
            self.drain(str(error))
        else:
            self._finished(summary)

    def _record(self, folder: TrialFolder, job: Job, outcome: Outcome) -> Summary:
        with folder.lease():
            known = folder.result()
            if known is not None and folder.finished() != job.finished:
                return summarise(known)
            last = folder.attempts()[-1:]
            attempt = last[0] if last and not last[0].result_path.exists() else folder.begin()
            result = Result(
                trial=job.trial,
                outcome=outcome,
                spent=spent_so_far(attempt),
                attempt=attempt.number,
                started=now(),
                finished=now(),
            )
            folder.finish(result)
        return summarise(result)

    def _keep_time(self) -> None:
        if self.stop_at is not None and time.monotonic() >= self.stop_at:
            self._settle(self.engine.close())
        if self.until is not None and time.monotonic() >= self.until and not self.draining:
            self.drain("the wall time of the run is over")
        if time.monotonic() - self.reaped_at >= REAP_EVERY:
            self._reap()

    def _reap(self) -> None:
        self.reaped_at = time.monotonic()
        if any(trial.desk_kind != WORLD for trial in self.record.trials):
            taken = reap(self.house.desks(self.record.desk), self.run, self.record.run)
            if taken:
                self.tell(events.Reaped(trials=taken))


def reap(desks: DeskProvider, run: Run, identity: str) -> tuple[str, ...]:
    """Take away what is past its deadline, and what was opened for trials of this run that nobody owns."""

    def abandoned(label: Label) -> bool:
        return label.run == identity and not run.trial(label.trial).leased()

    return tuple(label.trial for label in desks.reap(time.time(), abandoned))
