"""A disk that fills is a fault of ours and never a score of theirs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from practicum.controller import launch
from practicum.controller.admission import Admission
from practicum.controller.conduct import make_sweep
from practicum.controller.engine import Local
from practicum.controller.index import summaries
from practicum.controller.outcome import FaultKind
from practicum.controller.policy import Policy, parse_retry
from practicum.controller.runfile import RunFile
from practicum.controller.store import Run
from practicum.controller.summary import Counts, Standing

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")


@contextmanager
def small_disk(at: Path) -> Iterator[Path]:
    """A file system of 2 MiB."""
    at.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(at)], check=True)
    try:
        yield at
    finally:
        subprocess.run(["umount", "--lazy", str(at)], check=True)


def sweep(run: Run, spec: RunFile, policy: Policy | None = None) -> Counts:
    with Local(1) as engine:
        work = make_sweep(run, spec, engine, policy or Policy(), lambda _: None)
        work.admission = Admission(disk=0)
        return work.go()


@pytest.mark.parametrize("room", [8 << 10, 24 << 10, 48 << 10])
def test_a_disk_that_fills_costs_no_score_and_loses_no_record(room, tmp_path):
    spec = RunFile(
        tasks=("toys/near-term/[0-2]",),
        agents=("oracle", "look-for-ever"),
        desk="fake",
        house="practicum.controller.toys:ToyHouse",
    )
    with small_disk(tmp_path / "disk") as disk:
        run = launch.begin(launch.propose(spec), disk / "run")
        ballast = disk / "ballast"
        free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
        ballast.write_bytes(bytes(free - room - (128 << 10)))
        first = sweep(run, spec)
        assert first.planned == 6
        assert first.scored < 6
        for summary in summaries(run):
            if summary.standing is Standing.FAULT:
                assert summary.kind is FaultKind.DISK_FULL
            elif summary.standing is Standing.SCORED:
                assert summary.passed is (summary.trial.agent == "oracle")
        ballast.unlink()
        again = sweep(run, spec, Policy(reopen=parse_retry("faults")))
        assert (again.scored, again.fault, again.pending) == (6, 0, 0)
