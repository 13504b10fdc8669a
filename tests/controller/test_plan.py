"""Planning is pure, content-addressed, and refuses what cannot be done."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from practicum.controller.errors import Impossible
from practicum.controller.plan import Matrix, plan, tighter
from practicum.controller.toys import ToyHouse
from practicum.infra.desk.desk import Capability
from practicum.infra.desk.fake import FakeDesks
from practicum.tasks.spec import Limits

HOUSE = ToyHouse()
TASKS = tuple(HOUSE.select(["toys/near-term/[0-2]"]))


def sitters(*names: str):
    return {HOUSE.sitter(name).name: HOUSE.sitter(name) for name in names}


def matrix(**changes: object) -> Matrix:
    return replace(
        Matrix(tasks=TASKS, sitters=sitters("oracle", "nop"), numbers=(0, 1), repeats=2), **changes
    )


@dataclass(frozen=True)
class OtherDesks(FakeDesks):
    def digest(self, spec):
        return f"other:{spec.width}"


def test_the_matrix_is_complete_and_every_id_is_its_own():
    trials = plan(matrix(), FakeDesks()).trials
    cells = {(trial.task, trial.agent, trial.seed, trial.repeat) for trial in trials}
    assert len(trials) == len(cells) == len({trial.id for trial in trials}) == 3 * 2 * 2 * 2


def test_planning_twice_gives_the_same_plan():
    assert plan(matrix(), FakeDesks()) == plan(matrix(), FakeDesks())


def test_an_early_stop_leaves_every_task_and_agent_tried_about_equally_often():
    trials = plan(matrix(), FakeDesks()).trials
    first = trials[: len(trials) // 2]
    assert {(trial.task, trial.agent) for trial in first} == {(t.task, t.agent) for t in trials}


@pytest.mark.parametrize(
    "changes",
    [
        {"tasks": tuple(HOUSE.select(["toys/near-term/[3-5]"]))},
        {"sitters": sitters("give-up", "refuse")},
        {"numbers": (2, 3)},
        {"faults": ("E1",)},
        {"limits": Limits(steps=3, seconds=None)},
    ],
)
def test_whatever_decides_a_result_is_in_the_id(changes):
    before = {trial.id for trial in plan(matrix(), FakeDesks()).trials}
    after = {trial.id for trial in plan(matrix(**changes), FakeDesks()).trials}
    assert not before & after


def test_another_environment_makes_another_trial():
    before = {trial.id for trial in plan(matrix(), FakeDesks()).trials}
    assert not before & {trial.id for trial in plan(matrix(), OtherDesks()).trials}


def test_what_the_run_is_called_and_what_else_is_in_it_do_not_change_an_id():
    small = plan(matrix(tasks=TASKS[:1], sitters=sitters("nop")), FakeDesks()).trials
    assert {trial.id for trial in small} <= {trial.id for trial in plan(matrix(), FakeDesks()).trials}


def test_a_run_that_needs_what_its_desks_cannot_do_is_refused_before_anything_boots():
    task = TASKS[0]
    needy = replace(
        task,
        spec=replace(
            task.spec, desk=replace(task.spec.desk, capabilities=frozenset({Capability.POWERSHELL}))
        ),
    )
    with pytest.raises(Impossible, match=r"toys/near-term/0 needs powershell"):
        plan(matrix(tasks=(needy, TASKS[1])), FakeDesks())


limit = st.none() | st.integers(0, 100)


@given(st.tuples(limit, limit), st.tuples(limit, limit))
def test_the_tighter_of_two_limits_holds(first, second):
    one = Limits(steps=first[0], seconds=first[1])
    other = Limits(steps=second[0], seconds=second[1])
    both = tighter(one, other)
    assert both == tighter(other, one)
    for mine, theirs, result in (
        (one.steps, other.steps, both.steps),
        (one.seconds, other.seconds, both.seconds),
    ):
        known = [value for value in (mine, theirs) if value is not None]
        assert result == (min(known) if known else None)
