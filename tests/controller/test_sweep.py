"""The loop of a run: what is due, how often, what a cap leaves undone, and who may work on what."""

from __future__ import annotations

import msgspec
import pytest

from practicum.agents.agent import Ending
from practicum.controller import events, launch
from practicum.controller.admission import Admission, Machine
from practicum.controller.engine import Local
from practicum.controller.errors import BadRequest
from practicum.controller.index import summaries
from practicum.controller.ledger import RUN, Ledger, Unit
from practicum.controller.outcome import FaultKind
from practicum.controller.policy import RETRIES, Policy, parse_retry
from practicum.controller.summary import Counts, Standing
from practicum.controller.toys import PRICE_IN, PRICE_OUT
from practicum.controller.worker import work

FINE = "toys/near-term/0"
CALL = 1000 * PRICE_IN + 100 * PRICE_OUT
WORST = 1000 * PRICE_IN + 200 * PRICE_OUT


def starts(lab, run):
    return [event for event in lab.events if isinstance(event, events.TrialStarted)]


def test_a_desk_that_fails_is_tried_again_so_often_and_no_more(lab):
    run = lab.go("toys/moods/no-desk")
    summary = lab.only(run)
    assert summary.attempt == 1 + RETRIES[FaultKind.DESK]
    assert len(run.trial(summary.trial.id).attempts()) == summary.attempt
    lab.events.clear()
    lab.sweep(run, lab.spec()).go()
    assert starts(lab, run) == []


def test_what_would_only_repeat_itself_is_not_tried_again(lab):
    assert lab.only(lab.go(FINE, agents=("crash",))).attempt == 1


def test_a_finished_run_is_left_alone(lab):
    run = lab.go(FINE, agents=("oracle", "nop"))
    before = {path: path.stat().st_mtime_ns for path in run.trials.rglob("*") if path.is_file()}
    counts = lab.sweep(run, lab.spec()).go()
    assert counts == Counts(scored=2, fault=0, cancelled=0, pending=0)
    after = {path: path.stat().st_mtime_ns for path in run.trials.rglob("*") if path.is_file()}
    assert after == before


def test_reopened_trials_get_a_new_attempt_and_the_old_one_stays(lab):
    run = lab.go(FINE, agents=("oracle", "nop"))
    lab.sweep(run, lab.spec(), policy=Policy(reopen=parse_retry("score<1"))).go()
    attempts = {summary.trial.agent: summary.attempt for summary in summaries(run)}
    assert attempts == {"oracle": 1, "nop": 2}
    nop = next(summary for summary in summaries(run) if summary.trial.agent == "nop")
    assert nop.reopened
    assert len(run.trial(nop.trial.id).attempts()) == 2


@pytest.mark.parametrize("text", ["fault", "fault:bad", "ended:", "score", "score<x", ""])
def test_a_retry_that_means_nothing_is_refused(text):
    with pytest.raises(BadRequest, match="--retry"):
        parse_retry(text)


def test_money_that_runs_out_ends_trials_as_money_and_leaves_the_rest_pending(lab, bills):
    spec = lab.spec("toys/near-term/[0-4]", agents=("spender:4", "oracle"))
    run = lab.begin(spec)
    budget = 10 * CALL + WORST
    with_cap = msgspec.structs.replace(spec.caps, dollars=budget / 1e9)
    launch.set_caps(run, with_cap)
    lab.sweep(run, spec).go()
    spent = Ledger(run.ledger).total(RUN, Unit.NANO_DOLLARS)
    assert spent.spent == sum(bills()) <= budget
    assert spent.held == 0
    by_agent = {
        agent: Counts.of([s for s in summaries(run) if s.trial.agent == agent])
        for agent in ("spender:4", "oracle")
    }
    assert by_agent["oracle"].scored == 5
    assert by_agent["spender:4"].pending == 5 - 3
    endings = [s.ending for s in summaries(run) if s.trial.agent == "spender:4" and s.ending]
    assert endings == [Ending.DONE, Ending.DONE, Ending.MONEY]
    assert any(isinstance(event, events.CapReached) for event in lab.events)


def test_with_more_money_the_run_goes_on_where_it_stood(lab, bills):
    spec = lab.spec("toys/near-term/[0-3]", agents=("spender:2",))
    run = lab.begin(spec)
    launch.set_caps(run, msgspec.structs.replace(spec.caps, dollars=3 * WORST / 1e9))
    lab.sweep(run, spec).go()
    assert Counts.of(summaries(run)).pending > 0
    launch.raise_budget(run, "+1")
    counts = lab.sweep(run, spec).go()
    assert counts.pending == counts.cancelled == 0
    assert Ledger(run.ledger).total(RUN, Unit.NANO_DOLLARS).spent == sum(bills())


def test_an_agent_at_its_own_cap_does_not_stop_the_others(lab):
    spec = lab.spec("toys/near-term/[0-2]", agents=("spender:2", "spender:1"))
    run = lab.begin(spec)
    launch.set_caps(run, msgspec.structs.replace(spec.caps, agents={"spender:2": 0.0}))
    lab.sweep(run, spec).go()
    standing = {(s.trial.agent, s.standing) for s in summaries(run)}
    assert ("spender:1", Standing.SCORED) in standing
    assert ("spender:2", Standing.SCORED) not in standing


def test_a_trial_somebody_else_owns_is_left_to_them(lab):
    spec = lab.spec(FINE)
    run = lab.begin(spec)
    with run.trial(run.plan().trials[0].id).lease():
        counts = lab.sweep(run, spec).go()
    assert counts.pending == 1
    assert any(isinstance(event, events.TrialSkipped) for event in lab.events)
    assert not run.trial(run.plan().trials[0].id).attempts()


def test_two_controllers_on_one_run_share_its_trials(lab):
    spec = lab.spec("toys/near-term/[0-5]", workers=1)
    run = lab.begin(spec)
    with Local(1) as engine:
        first = lab.sweep(run, spec, engine=engine)
        second = lab.sweep(run, spec)
        first.order.add(run.plan().trials)
        first.finished = dict.fromkeys((trial.id for trial in run.plan().trials), 0)
        first._admit()
        second.go()
        while first.running:
            first._settle(engine.wait(1.0))
    assert Counts.of(summaries(run)).scored == 6
    assert {len(run.trial(trial.id).attempts()) for trial in run.plan().trials} == {1}


def test_a_full_disk_starts_nothing_and_says_so(lab):
    spec = lab.spec(FINE)
    run = lab.begin(spec)
    sweep = lab.sweep(run, spec)
    sweep.gauge = lambda _: Machine(memory=1 << 40, disk=1, load=0.0)
    assert sweep.go().pending == 1
    held = [event for event in lab.events if isinstance(event, events.Held)]
    assert "disk" in held[0].reason


@pytest.mark.parametrize(
    ("machine", "running", "word"),
    [
        (Machine(memory=100 << 20, disk=1 << 40, load=0), 1, "memory"),
        (Machine(memory=1 << 40, disk=1 << 40, load=99), 1, "overloaded"),
        (Machine(memory=1 << 40, disk=1 << 40, load=0), 2, "desks"),
        (Machine(memory=1 << 40, disk=1, load=0), 0, "disk"),
        (Machine(memory=0, disk=1 << 40, load=99), 0, None),
    ],
)
def test_a_desk_waits_until_there_is_room_but_never_for_ever(lab, machine, running, word):
    spec = lab.sweep(lab.begin(lab.spec(FINE)), lab.spec()).house.task(FINE).spec
    objection = Admission(desks=2).objection(spec, running, machine)
    assert (objection is None) if word is None else word in objection


def test_a_worker_that_dies_is_a_fault_and_its_slot_is_filled_again(lab):
    spec = lab.spec(FINE, agents=("die", "oracle"))
    run = lab.begin(spec)
    with Local(1) as engine:
        lab.sweep(run, spec, engine=engine, policy=Policy(retries={})).go()
    outcomes = {summary.trial.agent: summary.kind or summary.passed for summary in summaries(run)}
    assert outcomes == {"die": FaultKind.WORKER_DIED, "oracle": True}


def test_an_agent_that_hangs_is_killed_at_the_wall(lab):
    spec = lab.spec(FINE, agents=("hang",))
    spec = msgspec.structs.replace(spec, limits=msgspec.structs.replace(spec.limits, seconds=1.0))
    run = lab.begin(spec)
    with Local(1) as engine:
        sweep = lab.sweep(run, spec, engine=engine, policy=Policy(retries={}))
        sweep.allowance = 3.0
        sweep.go()
        held = sweep.house.desks("fake").held()
    assert lab.only(run).kind is FaultKind.WALL_TIME
    assert run.record().run not in {label.run for label in held}


def test_a_stale_job_is_not_worked_on(lab):
    spec = lab.spec(FINE)
    run = lab.begin(spec)
    sweep = lab.sweep(run, spec)
    sweep.finished = {run.plan().trials[0].id: 0}
    sweep._start(run.plan().trials[0])
    (ended,) = sweep.engine.wait(0.0)
    again = work(ended.job, connection=None, houses=None)  # type: ignore[arg-type]  # it gets not so far
    assert again.reason == "somebody else worked on it meanwhile"
    assert len(run.trial(ended.job.trial.id).attempts()) == 1
