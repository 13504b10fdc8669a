"""required ⊆ actual ⊆ allowed, evidence in the journal, and structured answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from practicum.infra.world.journal import Entry
from practicum.infra.world.world import View, World
from practicum.tasks.worlds import grade
from practicum.tasks.worlds.evidence import looked, looked_after
from practicum.tasks.worlds.expected import Expected, became, difference, gone, handed_in, made, matches, may


@dataclass(frozen=True, slots=True)
class Cup:
    id: str
    full: bool
    note: str


@dataclass(frozen=True, slots=True)
class Said:
    cups: list[str]
    litres: float


BEFORE: dict[str, list[Any]] = {
    "Cup": [{"id": "a", "full": False, "note": ""}, {"id": "b", "full": False, "note": ""}]
}


def state(*rows: dict[str, Any]) -> dict[str, list[Any]]:
    return {"Cup": list(rows)}


def cup(key: str, full: bool, note: str = "") -> dict[str, Any]:
    return {"id": key, "full": full, "note": note}


def changes(expected: Expected, after: dict[str, list[Any]]) -> tuple[bool, float]:
    found = grade.changes(expected, difference(BEFORE, after), [])
    return found.passed, found.score


FILL_A = Expected(required=(became(Cup, "a", full=True),), answer=handed_in(Said([], 0.0)))


def test_exactly_the_required_change_passes() -> None:
    assert changes(FILL_A, state(cup("a", True), cup("b", False))) == (True, 1.0)


def test_nothing_done_scores_nothing() -> None:
    assert changes(FILL_A, BEFORE) == (False, 0.0)


@pytest.mark.parametrize(
    "after",
    [
        state(cup("a", True), cup("b", True)),
        state(cup("a", True, "scribble"), cup("b", False)),
        state(cup("a", True), cup("b", False), cup("c", False)),
        state(cup("a", True)),
    ],
)
def test_a_change_nobody_asked_for_fails_and_lowers_the_score(after: dict[str, list[Any]]) -> None:
    assert changes(FILL_A, after) == (False, 0.5)


def test_an_allowed_change_may_be_there_or_not() -> None:
    free = Expected(FILL_A.required, FILL_A.answer, (may(Cup, "*", "note"),))
    assert changes(free, state(cup("a", True, "scribble"), cup("b", False, "too"))) == (True, 1.0)
    assert changes(free, state(cup("a", True), cup("b", False))) == (True, 1.0)
    assert changes(free, state(cup("a", True), cup("b", True)))[0] is False


def test_a_made_row_must_be_made_exactly_once() -> None:
    one = Expected((made(Cup, full=True, note="x"),), FILL_A.answer)
    rows = [cup("a", False), cup("b", False)]
    assert changes(one, state(*rows, cup("c", True, "x"))) == (True, 1.0)
    assert changes(one, state(*rows, cup("c", True, "x"), cup("d", True, "x")))[0] is False
    assert changes(one, state(*rows, cup("c", True, "y")))[0] is False


def test_a_row_that_must_go() -> None:
    away = Expected((gone(Cup, "b"),), FILL_A.answer)
    assert changes(away, state(cup("a", False))) == (True, 1.0)
    assert changes(away, state())[0] is False


@settings(max_examples=80, deadline=None)
@given(full=st.lists(st.booleans(), min_size=2, max_size=2), extra=st.booleans())
def test_more_damage_never_scores_more(full: list[bool], extra: bool) -> None:
    """Adding a stray change to any ending does not raise the score."""
    rows = [cup("a", full[0]), cup("b", full[1], "stray" if extra else "")]
    worse = [*rows, cup("z", True)]
    assert changes(FILL_A, state(*worse))[1] <= changes(FILL_A, state(*rows))[1]


@pytest.mark.parametrize(
    ("expected", "found", "same"),
    [(1, 1.0, True), (1, True, False), (True, "true", False), (0.5, 0.51, False), ([1, 2], [2, 1], False)],
)
def test_values_are_compared_as_json_means_them(expected: object, found: object, same: bool) -> None:
    assert matches(expected, found) is same


def test_tolerance_and_order_are_asked_for() -> None:
    assert matches(0.5, 0.51, 0.02)
    assert matches(["b", "a"], ["a", "b"], ordered=False)
    assert not matches(["a", "a"], ["a", "b"], ordered=False)


def read_cup(world: View, cup: str) -> Cup:
    """Read."""
    return world.get(Cup, cup)


def pour(world: World, cup: str) -> Cup:
    """Pour."""
    return world.put(replace(world.get(Cup, cup), full=True))


def entry(tool: str, cup: str, *, seq: int, failed: bool = False) -> Entry:
    error: Any = "refused" if failed else None
    return Entry(seq, str(seq), tool, {"cup": cup}, error, None, "", "")


def journal(*words: str) -> list[Entry]:
    """`r:a` reads cup a, `p:a` pours into it, with `!` in front the call was refused."""
    tools = {"r": "read_cup", "p": "pour"}
    return [entry(tools[word[-3]], word[-1], seq=n, failed=word[0] == "!") for n, word in enumerate(words, 1)]


LOOK_FIRST = looked("look", read_cup, before=pour, same={"cup": "cup"}, since=(pour,))


@pytest.mark.parametrize(
    ("words", "well"),
    [
        (("r:a", "p:a"), True),
        (("p:a", "r:a"), False),
        (("r:b", "p:a"), False),
        (("!r:a", "p:a"), False),
        (("r:a", "!p:a", "p:a"), True),
        (("r:a", "p:a", "p:a"), False),
        (("r:a", "p:a", "r:b", "p:b"), True),
        (("r:a", "r:b", "p:a", "p:b"), False),
        ((), False),
    ],
)
def test_a_decision_needs_a_fresh_look_at_the_same_thing(words: tuple[str, ...], well: bool) -> None:
    assert (LOOK_FIRST.judge(journal(*words)) is None) is well


@pytest.mark.parametrize(
    ("words", "well"), [(("p:a", "r:a"), True), (("r:a", "p:a"), False), (("p:a", "r:a", "p:b"), False)]
)
def test_the_work_is_looked_at_again_after_the_last_change(words: tuple[str, ...], well: bool) -> None:
    assert (looked_after("again", read_cup, after=pour).judge(journal(*words)) is None) is well
