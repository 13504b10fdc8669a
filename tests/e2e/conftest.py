"""Real runs in real processes, watched by their events and killed in the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from practicum.controller.index import summaries
from practicum.controller.ledger import RUN, Ledger, Unit
from practicum.controller.store import Run
from practicum.controller.summary import Counts
from practicum.infra.desk.fake import FakeDesks

ENTRY = "import sys; from practicum.controller.cli.main import run; sys.exit(run(sys.argv[1:]))"


class Watched:
    """A `practicum run --json` process; its events are read as it writes them."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", ENTRY, "run", "--json", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.events: list[dict] = []

    def read(self) -> Iterator[dict]:
        for line in self.process.stdout:
            event = json.loads(line)
            self.events.append(event)
            yield event

    def until(self, kind: str, count: int = 1) -> None:
        """Read until so many events of this kind were seen in all."""
        if self.count(kind) < count:
            for _ in self.read():
                if self.count(kind) >= count:
                    return
            raise AssertionError(f"ended before {count} × {kind}: {self.process.stderr.read()}")

    def count(self, kind: str) -> int:
        return sum(event["event"] == kind for event in self.events)

    def workers(self) -> list[psutil.Process]:
        """Worker processes, told from helpers by the lease they hold or will hold: they lead a session."""
        children = psutil.Process(self.process.pid).children()
        return [child for child in children if os.getsid(child.pid) == child.pid]

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def end(self) -> int:
        """Read to the end; returns the exit code."""
        for _ in self.read():
            pass
        return self.process.wait()

    def kill(self) -> None:
        """As `kill -9`, and what was still in the pipe is lost with it."""
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


@pytest.fixture
def watch() -> Iterator[type[Watched]]:
    """Starts watched runs, and leaves none behind."""
    started: list[Watched] = []

    class Kept(Watched):
        def __init__(self, *arguments: str) -> None:
            super().__init__(*arguments)
            started.append(self)

    yield Kept
    for watched in started:
        watched.process.kill()
        watched.process.wait()
        watched.process.stdout.close()
        watched.process.stderr.close()


class Probe:
    """What a run's folder, its processes and its desks tell after the fact."""

    @staticmethod
    def outcomes(root: Path) -> dict[str, tuple]:
        """What the record says of each trial, times apart."""
        return {
            one.trial.id: (one.standing, one.passed, one.score, one.ending, one.spent.steps)
            for one in summaries(Run.open(root))
        }

    @staticmethod
    def counts(root: Path) -> Counts:
        return Counts.of(summaries(Run.open(root)))

    @staticmethod
    def owners(root: Path) -> list[int]:
        """Processes named in leases that are still held."""
        run = Run.open(root)
        folders = [run.trial(trial.id) for trial in run.plan().trials]
        return [int(folder.lease_path.read_text()) for folder in folders if folder.leased()]

    @staticmethod
    def book(root: Path) -> tuple[int, int]:
        """Nano-dollars spent and held, after checking that the totals follow from the entries."""
        with closing(Ledger(Run.open(root).ledger)) as ledger:
            total = ledger.total(RUN, Unit.NANO_DOLLARS)
            assert ledger.recompute()[RUN, Unit.NANO_DOLLARS] == total
            return total.spent, total.held

    @staticmethod
    def fake_desks(root: Path) -> set[str]:
        """Trials of this run that have a fake desk open."""
        identity = Run.open(root).record().run
        return {label.trial for label in FakeDesks().held() if label.run == identity}

    @staticmethod
    def finished(root: Path) -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in (root / "trials").glob("*/result.json")}


@pytest.fixture
def probe() -> type[Probe]:
    return Probe
