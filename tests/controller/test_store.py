"""The record on disk: whole or absent, never lost, never mixed."""

from __future__ import annotations

import os
import signal
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from practicum.agents.agent import Ending, NoteStep, ToolStep
from practicum.controller import locks
from practicum.controller.errors import BadRecord, BadRequest
from practicum.controller.files import Appender, appending, read_lines, write_whole
from practicum.controller.index import summaries
from practicum.controller.outcome import Cancelled, Fault, FaultKind, Phase, Result, Scored, Spent
from practicum.controller.store import Run, StepWriter
from practicum.infra.desk.desk import Frame
from practicum.infra.environment import ToolCall, ToolResult
from practicum.verifiers.verdict import Evidence, Verdict, all_of, check

SCORED = Scored(verdict=Verdict((check("a", True),)), ending=Ending.DONE)
FAULT = Fault(phase=Phase.DRIVE, kind=FaultKind.DESK, error="gone")
CANCELLED = Cancelled(reason="stop")


@pytest.fixture
def run(lab) -> Run:
    return lab.begin(lab.spec("toys/near-term/0"))


def result_of(run: Run, outcome, attempt: int = 1) -> Result:
    trial = run.plan().trials[0]
    return Result(trial=trial, outcome=outcome, spent=Spent(), attempt=attempt, started="", finished="")


def record(run: Run, *outcomes) -> Result | None:
    folder = run.trial(run.plan().trials[0].id)
    with folder.lease():
        for outcome in outcomes:
            attempt = folder.begin()
            folder.finish(result_of(run, outcome, attempt.number))
    return folder.result()


@pytest.mark.parametrize(
    ("outcomes", "counting"),
    [
        ([CANCELLED], 1),
        ([FAULT, CANCELLED], 1),
        ([FAULT, SCORED], 2),
        ([SCORED, FAULT], 1),
        ([SCORED, CANCELLED], 1),
        ([SCORED, SCORED], 2),
        ([FAULT, FAULT], 2),
    ],
)
def test_an_attempt_takes_nothing_away_from_what_was_known(run, outcomes, counting):
    known = record(run, *outcomes)
    assert known is not None
    assert known.attempt == counting
    folder = run.trial(known.trial.id)
    assert [attempt.result().outcome for attempt in folder.attempts()] == outcomes


def test_a_crash_between_the_two_results_is_mended_by_the_next_owner(run):
    record(run, SCORED)
    folder = run.trial(run.plan().trials[0].id)
    folder.result_path.unlink()
    assert folder.result() is None
    with folder.lease():
        assert folder.result() == folder.attempts()[0].result()


def test_a_trial_has_one_owner(run):
    folder = run.trial(run.plan().trials[0].id)
    with folder.lease():
        assert folder.leased()
        with pytest.raises(locks.Held), folder.lease():
            pytest.fail("two owners")
    assert not folder.leased()


def test_a_lease_dies_with_its_owner(run):
    folder = run.trial(run.plan().trials[0].id)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with folder.lease():
            os.write(write, b"x")
            os.kill(os.getpid(), signal.SIGKILL)
    os.read(read, 1)
    os.waitpid(child, 0)
    os.close(read)
    os.close(write)
    with folder.lease():
        assert folder.attempts() == ()


def test_a_second_run_in_one_folder_is_refused(lab, run):
    before = run.plan_path.read_bytes()
    with pytest.raises(BadRequest, match="already holds a run"):
        lab.begin(lab.spec("toys/near-term/1"))
    assert run.plan_path.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"format": "practicum/9"}'])
def test_what_is_not_a_run_is_refused_in_words(tmp_path, content):
    (tmp_path / "plan.json").write_bytes(content)
    with pytest.raises(BadRecord):
        Run.open(tmp_path).record()


def test_evidence_lies_beside_the_verdict_by_its_hash(run):
    picture = Evidence("diff", "image/png", b"pixels", "what differs")
    inner = replace(check("inner", False), evidence=(picture,))
    verdict = Verdict((all_of("outer", [inner]),))
    known = record(run, Scored(verdict=verdict, ending=Ending.DONE))
    stored = known.outcome.verdict.checks[0].children[0].evidence[0]
    attempt = run.trial(known.trial.id).counting_attempt()
    assert stored.data == b""
    assert (attempt.evidence / stored.sha256).read_bytes() == b"pixels"


def test_equal_frames_are_stored_once(run):
    attempt = run.trial(run.plan().trials[0].id).attempt(1)
    attempt.root.mkdir(parents=True)
    frames = [Frame(png, 2, 2, True, 0.0) for png in (b"one", b"two", b"one")]
    writer = StepWriter(attempt)
    for number, frame in enumerate(frames):
        writer.step(ToolStep(ToolCall(str(number), "computer", {}), ToolResult(frames=(frame,)), 0.1))
    writer.step(NoteStep("body", "stuck"))
    writer.close()
    steps = list(attempt.steps())
    assert [step.n for step in steps] == [1, 2, 3, 4]
    assert len(list(attempt.frames.iterdir())) == 2
    assert attempt.frame_path(steps[0].frames[0].sha256).read_bytes() == b"one"


def test_the_index_is_only_a_cache(run):
    record(run, SCORED)
    (fresh,) = summaries(run)
    for spoiled in (b"", b"{}\n", run.index.read_bytes()[:-5], b"\xff\n"):
        run.index.write_bytes(spoiled)
        assert summaries(run) == (fresh,)
    record(run, Scored(verdict=Verdict((check("a", False),)), ending=Ending.TIME))
    assert summaries(run)[0].ending is Ending.TIME


lines = st.lists(st.text(), min_size=1, max_size=6)


@given(before=lines, after=lines, cut=st.integers(1, 200))
def test_a_torn_line_is_never_glued_to_the_next(tmp_path_factory, before, after, cut):
    path = tmp_path_factory.mktemp("lines") / "x.jsonl"
    with appending(path) as appender:
        for line in before:
            appender.append({"line": line})
    path.write_bytes(path.read_bytes()[:-cut])
    whole = list(read_lines(path))
    appender = Appender(path)
    for line in after:
        appender.append({"line": line})
    appender.close()
    read = []
    for raw in read_lines(path):
        try:
            read.append(msgspec.json.decode(raw))
        except msgspec.DecodeError:
            continue
    kept = len(read) - len(after)
    assert [entry["line"] for entry in read] == before[:kept] + after
    assert kept - len(whole) in (0, 1)


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path):
    path = tmp_path / "x"
    write_whole(path, b"before")
    with pytest.raises(TypeError):
        write_whole(path, "text")  # type: ignore[arg-type]  # the failure is the point
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]
