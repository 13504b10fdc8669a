"""Kill anything in the middle of a run, go on, and nothing is lost, billed twice or left running."""

from __future__ import annotations

import signal
from collections.abc import Callable

import psutil
import pytest

TOYS = ("--desk", "fake", "--house", "practicum.controller.toys:ToyHouse")
PRICES = ("--price-in", "1", "--price-out", "4")
TRIALS = ("toys/*/[0-3]", "--agent", "oracle,spender:2", *TOYS, *PRICES)
CALL = 1000 * 1000 + 100 * 4000


@pytest.fixture
def bills(tmp_path, monkeypatch) -> Callable[[], int]:
    path = tmp_path / "bills.txt"
    monkeypatch.setenv("PRACTICUM_TOY_BILLS", str(path))
    return lambda: sum(int(line) for line in path.read_text().split())


def require_whole(root, probe, bills):
    """All 24 trials scored as an uninterrupted run scores them; the book agrees with the provider."""
    counts = probe.counts(root)
    assert (counts.planned, counts.scored) == (24, 24)
    assert {
        (passed, score, str(ending)) for _, passed, score, ending, _ in probe.outcomes(root).values()
    } == {(True, 1.0, "done")}
    spent, held = probe.book(root)
    assert spent <= bills() <= spent + held
    assert spent >= 12 * 2 * CALL
    assert probe.owners(root) == []
    assert probe.fake_desks(root) == set()


@pytest.mark.parametrize("after", [1, 7, 19])
def test_a_controller_killed_at_any_time_is_replaced_by_the_next(after, tmp_path, watch, probe, bills):
    root = tmp_path / "run"
    first = watch(*TRIALS, "--out", str(root))
    first.until("trial_ended", after)
    workers = first.workers()
    first.kill()
    psutil.wait_procs(workers, timeout=10)
    assert not any(worker.is_running() for worker in workers)
    before = probe.finished(root)
    assert len(before) >= after
    second = watch("--resume", str(root))
    assert second.end() == 0
    assert {path: at for path, at in probe.finished(root).items() if path in before} == before
    require_whole(root, probe, bills)


def test_killed_workers_cost_a_retry_and_nothing_else(tmp_path, watch, probe, bills):
    root = tmp_path / "run"
    run = watch(*TRIALS, "--out", str(root))
    for _ in range(3):
        run.until("trial_ended", run.count("trial_ended") + 3)
        for worker in run.workers():
            worker.kill()
    assert run.end() == 0
    assert run.count("trial_started") > 24
    require_whole(root, probe, bills)


def test_the_first_interrupt_finishes_what_runs_and_starts_nothing_more(tmp_path, watch, probe, bills):
    root = tmp_path / "run"
    run = watch(*TRIALS, "--out", str(root))
    run.until("trial_ended", 5)
    run.send(signal.SIGINT)
    run.until("draining")
    started = run.count("trial_started")
    assert run.end() == 0
    assert run.count("trial_started") == started
    counts = probe.counts(root)
    assert counts.scored == started
    assert counts.pending == 24 - started
    assert counts.cancelled == counts.fault == 0
    assert probe.owners(root) == []
    assert probe.fake_desks(root) == set()
    assert watch("--resume", str(root)).end() == 0
    require_whole(root, probe, bills)


@pytest.mark.parametrize("signals", [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM,)])
def test_the_second_interrupt_stops_now_and_leaves_nothing_behind(signals, tmp_path, watch, probe):
    root = tmp_path / "run"
    run = watch("toys/near-term/[0-5]", "--agent", "oracle,dawdle", *TOYS, "--out", str(root))
    run.until("trial_started", 4)
    for number, each in enumerate(signals, 1):
        run.send(each)
        run.until("draining", number)
    run.end()
    counts = probe.counts(root)
    assert counts.planned == 12
    assert counts.cancelled >= 1
    assert counts.fault == 0
    assert probe.owners(root) == []
    assert probe.fake_desks(root) == set()


def test_a_trial_that_does_not_listen_is_killed_after_the_grace(tmp_path, watch, probe):
    root = tmp_path / "run"
    run = watch("toys/near-term/0", "--agent", "hang", *TOYS, "--out", str(root))
    run.until("trial_started")
    run.send(signal.SIGTERM)
    assert run.end() == 1
    assert probe.counts(root).cancelled == 1
    assert probe.owners(root) == []
    assert probe.fake_desks(root) == set()


def test_two_controllers_share_one_run(tmp_path, watch, probe, bills):
    root = tmp_path / "run"
    first = watch(*TRIALS, "--out", str(root))
    first.until("trial_ended")
    second = watch("--resume", str(root))
    assert first.end() == 0
    assert second.end() == 0
    require_whole(root, probe, bills)
    attempts = [len(list(path.iterdir())) for path in (root / "trials").glob("*/attempts")]
    assert attempts == [1] * 24
