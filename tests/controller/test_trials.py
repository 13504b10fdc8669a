"""The story of a trial: what each kind of agent and each kind of failure becomes."""

from __future__ import annotations

import pytest

from practicum.agents.agent import Ending
from practicum.controller.index import summaries
from practicum.controller.outcome import FaultKind, Phase
from practicum.controller.report import read
from practicum.controller.summary import Counts, Standing

FINE = "toys/near-term/0"


@pytest.mark.parametrize(
    ("agent", "ending", "passed"),
    [
        ("oracle", Ending.DONE, True),
        ("nop", Ending.DONE, False),
        ("give-up", Ending.GAVE_UP, False),
        ("look-for-ever", Ending.STEPS, False),
        ("deaf", Ending.STEPS, False),
        ("refuse", Ending.REFUSED, False),
    ],
)
def test_what_an_agent_left_is_graded_whatever_the_ending(lab, agent, ending, passed):
    summary = lab.only(lab.go(FINE, agents=(agent,)))
    assert (summary.standing, summary.ending, summary.passed) == (Standing.SCORED, ending, passed)


@pytest.mark.parametrize(
    ("task", "agent", "phase", "kind"),
    [
        ("toys/moods/no-instance", "oracle", Phase.INSTANCE, FaultKind.TASK),
        ("toys/moods/no-desk", "oracle", Phase.PROVISION, FaultKind.DESK),
        ("toys/moods/lost-desk", "look", Phase.DRIVE, FaultKind.DESK),
        ("toys/moods/lost-desk", "nop", Phase.COLLECT, FaultKind.DESK),
        ("toys/moods/no-verdict", "oracle", Phase.VERIFY, FaultKind.VERIFIER),
        (FINE, "crash", Phase.DRIVE, FaultKind.AGENT_CODE),
        (FINE, "unlucky:1", Phase.DRIVE, FaultKind.MODEL),
    ],
)
def test_each_failure_of_ours_is_a_fault_of_its_phase_and_kind(lab, task, agent, phase, kind):
    summary = lab.only(lab.go(task, agents=(agent,)))
    assert (summary.standing, summary.phase, summary.kind) == (Standing.FAULT, phase, kind)
    assert summary.score is None


def test_no_fault_moves_a_mean_and_the_planned_trials_always_add_up(lab):
    moods = ("no-instance", "no-desk", "no-verdict")
    run = lab.go(FINE, *(f"toys/moods/{mood}" for mood in moods), agents=("oracle", "nop", "crash"))
    counts = Counts.of(summaries(run))
    assert (counts.planned, counts.scored, counts.fault) == (12, 2, 10)
    report = read(run)
    rates = {row.agent: row.passed and row.passed.mean for row in report.of("all")}
    assert rates == {"oracle": 1.0, "nop": 0.0, "crash": None}
    assert all(sum(row.counts.values()) == 2 * row.counts["planned"] for row in report.rows)


def test_the_steps_of_a_trial_and_what_they_show_are_on_the_disk(lab):
    run = lab.go(FINE, agents=("look-for-ever",))
    attempt = run.trial(lab.only(run).trial.id).counting_attempt()
    calls = [step for step in attempt.steps() if step.__struct_config__.tag == "tool"]
    assert [step.n for step in calls] == list(range(1, 11))
    shown = {frame.sha256 for step in calls for frame in step.frames}
    assert shown
    assert shown == {path.stem for path in attempt.frames.glob("*.png")}
    assert attempt.instance().instruction.startswith("Write ")


def test_the_reference_stays_on_the_host_and_nothing_of_the_desk_is_left(lab):
    run = lab.go(FINE, agents=("oracle",))
    attempt = run.trial(lab.only(run).trial.id).counting_attempt()
    assert {path.name for path in attempt.outputs.iterdir()} == {"answer.txt"}
    assert (attempt.instance_folder / "reference" / "answer.txt").is_file()
    held = lab.sweep(run, lab.spec(FINE)).house.desks("fake").held()
    assert run.record().run not in {label.run for label in held}


def test_secrets_in_the_environment_do_not_reach_a_record(lab, monkeypatch):
    monkeypatch.setenv("SOMEBODYS_API_KEY", "outputs/answer.txt")
    run = lab.go(FINE, agents=("crash",))
    result = run.trial(lab.only(run).trial.id).result()
    assert "outputs/answer.txt" not in result.outcome.error + result.outcome.logs
    assert "[SOMEBODYS_API_KEY]" in result.outcome.error
