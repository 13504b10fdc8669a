"""Store, leases and ledger under any interleaving: workers that die at any moment, two controllers, caps.

Workers are real processes doing what `worker` does to the record, killed by the kernel at any point: at the
n-th change of a file, or after so many microseconds, be it inside SQLite or in the middle of a line.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from practicum.agents.agent import Ending, NoteStep
from practicum.controller import launch, locks
from practicum.controller.index import summaries
from practicum.controller.ledger import RUN, Ledger, OverCap, Owner, Unit
from practicum.controller.outcome import Result, Scored, Spent, Trial
from practicum.controller.runfile import RunFile
from practicum.controller.store import Run, StepWriter
from practicum.controller.summary import Standing
from practicum.verifiers.verdict import Check, Evidence, Verdict

MONEY = Unit.NANO_DOLLARS
COST, WORST, CALLS = 7, 10, 2
TRIALS = 4

instant = (
    st.none()
    | st.tuples(st.just("write"), st.integers(1, 60))
    | st.tuples(st.just("us"), st.integers(1, 30_000))
)


def work(root: Path, trial: Trial, bills: Path) -> None:
    """What a worker does to the record for one trial; the provider keeps its own book in `bills`."""
    run = Run(root)
    with run.trial(trial.id).lease() as folder, closing(Ledger(run.ledger)) as ledger:
        if folder.result() is not None:
            return
        attempt = folder.begin()
        owner = Owner(trial.id, attempt.number, trial.agent)
        with closing(StepWriter(attempt)) as steps:
            for call in range(CALLS):
                reservation = ledger.reserve(owner, "m", {MONEY: WORST})
                book = os.open(bills, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
                os.write(book, f"{trial.id} {attempt.number} {COST}\n".encode())
                ledger.settle(reservation, owner, {MONEY: COST})
                steps.step(NoteStep("worker", f"call {call}"))
        picture = Evidence("a", "text/plain", trial.id.encode())
        verdict = Verdict((Check("a", True, 1.0, evidence=(picture,)),))
        folder.finish(
            Result(
                trial=trial,
                outcome=Scored(verdict=verdict, ending=Ending.DONE),
                spent=Spent(nano_dollars=COST * CALLS),
                attempt=attempt.number,
                started="",
                finished="",
            )
        )


def spawn(root: Path, trial: Trial, bills: Path, crash: tuple[str, int] | None) -> int:
    """Start a worker that dies at `crash`; returns its process id."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        arm(crash)
        work(root, trial, bills)
        code = 0
    except (locks.Held, OverCap):
        code = 3
    finally:
        os._exit(code)


def arm(crash: tuple[str, int] | None) -> None:
    if crash is None:
        return
    kind, when = crash
    if kind == "us":
        signal.setitimer(signal.ITIMER_REAL, when / 1e6)  # SIGALRM kills: nobody handles it
        return
    left = [when]

    def count(event: str, arguments: tuple) -> None:
        writes = (
            event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        )
        if writes or event in ("os.rename", "os.mkdir", "os.truncate"):
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)


class Record(RuleBasedStateMachine):
    @initialize()
    def begin(self):
        self.folder = TemporaryDirectory()
        spec = RunFile(
            tasks=(f"toys/near-term/[0-{TRIALS - 1}]",),
            agents=("oracle",),
            desk="fake",
            house="practicum.controller.toys:ToyHouse",
        )
        self.root = Path(self.folder.name) / "run"
        self.run = launch.begin(launch.propose(spec), self.root)
        self.bills = Path(self.folder.name) / "bills"
        self.trials = self.run.plan().trials
        self.cap: int | None = None
        self.done: dict[str, bytes] = {}

    @rule(index=st.integers(0, TRIALS - 1), crash=instant)
    def one_worker(self, index, crash):
        os.waitpid(spawn(self.root, self.trials[index], self.bills, crash), 0)

    @rule(index=st.integers(0, TRIALS - 1), others=st.lists(instant, min_size=2, max_size=3))
    def several_at_once(self, index, others):
        """Controllers that do not know of each other send their workers to the same trial."""
        children = [spawn(self.root, self.trials[index], self.bills, crash) for crash in others]
        for child in children:
            os.waitpid(child, 0)

    @rule(amount=st.integers(0, 200))
    def set_cap(self, amount):
        with closing(Ledger(self.run.ledger)) as ledger:
            total = ledger.total(RUN, MONEY)
            self.cap = max(amount, total.spent + total.held)
            ledger.set_cap(RUN, MONEY, self.cap)

    @invariant()
    def the_record_is_whole(self):
        standing = summaries(self.run)
        assert len(standing) == TRIALS
        for summary in standing:
            folder = self.run.trial(summary.trial.id)
            if summary.standing is not Standing.SCORED:
                continue
            content = folder.result_path.read_bytes()
            assert self.done.setdefault(summary.trial.id, content) == content, "a record changed"
            attempt = folder.counting_attempt()
            assert len(list(attempt.steps())) == CALLS
            evidence = attempt.result().outcome.verdict.checks[0].evidence[0]
            assert (attempt.evidence / evidence.sha256).read_bytes() == summary.trial.id.encode()

    @invariant()
    def the_book_agrees_with_the_provider(self):
        billed = (
            [int(line.split()[2]) for line in self.bills.read_text().splitlines()]
            if self.bills.exists()
            else []
        )
        with closing(Ledger(self.run.ledger)) as ledger:
            total = ledger.total(RUN, MONEY)
            assert ledger.recompute().get((RUN, MONEY), total) == total
        assert total.spent <= sum(billed) <= total.spent + total.held
        assert self.cap is None or total.spent + total.held <= self.cap

    @invariant()
    def nobody_is_left_holding_a_trial(self):
        assert not any(self.run.trial(trial.id).leased() for trial in self.trials)

    def teardown(self):
        """Resume without trouble: the final records are those of a run that nothing ever happened to."""
        with self.folder, closing(Ledger(self.run.ledger)) as ledger:
            ledger.set_cap(RUN, MONEY, None)
            self.cap = None
            for trial in self.trials:
                assert os.waitpid(spawn(self.root, trial, self.bills, None), 0)[1] == 0
            self.the_record_is_whole()
            self.the_book_agrees_with_the_provider()
            assert {one.standing for one in summaries(self.run)} == {Standing.SCORED}
            for trial in self.trials:
                finished = [one for one in self.run.trial(trial.id).attempts() if one.result_path.exists()]
                assert len(finished) == 1


Record.TestCase.settings = settings(max_examples=15, stateful_step_count=12, deadline=None)
TestRecord = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")(Record.TestCase)
