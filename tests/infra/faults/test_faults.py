"""Injected faults: drawn before the run, keyed to operations, transient, logged beside the clean answer."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from practicum.infra.environment import Tool, ToolCall, ToolErrorKind, ToolResult
from practicum.infra.faults.account import FaultAccount, account
from practicum.infra.faults.degrade import degrade
from practicum.infra.faults.inject import LOG, FaultLog, FaultyEnvironment, inject
from practicum.infra.faults.operations import Access, Operation, desk_access, desk_operations
from practicum.infra.faults.plan import FaultSpec, Level, PlannedFault, Strike, draw

OPERATIONS = (
    Operation("look", Access.READ, 1, 2, changing=True),
    Operation("look", Access.READ, 2),
    Operation("list", Access.READ),
    Operation("put", Access.WRITE, 1),
    Operation("put", Access.WRITE, 2),
)


class Shelf:
    """An environment that remembers what was put into it."""

    def __init__(self) -> None:
        self.things: list[str] = []

    def tools(self) -> tuple[Tool, ...]:
        return tuple(Tool(name, name, {"type": "object"}) for name in ("look", "list", "put"))

    def operations(self) -> tuple[Operation, ...]:
        return OPERATIONS

    def access(self, tool: str) -> Access:
        return Access.WRITE if tool == "put" else Access.READ

    def call(self, call: ToolCall) -> ToolResult:
        if call.name == "put":
            self.things.append(call.arguments["thing"])
        rows = [{"id": thing, "size": len(thing)} for thing in self.things]
        data: dict[str, Any] = {"revision": len(self.things), "total": len(rows), "items": rows}
        if call.name != "list":
            data = {"revision": len(self.things), "record": {"id": "shelf", "count": len(rows)}}
        return ToolResult(text=msgspec.json.encode(data).decode(), data=data)

    def collect(self, into: Path) -> tuple[str, ...]:
        (into / "things").write_text("\n".join(self.things))
        return ()


def struck(
    strike: Strike, tool: str, *, duration: int = 1, attempt: int = 1
) -> tuple[Shelf, FaultyEnvironment]:
    shelf = Shelf()
    fault = PlannedFault(tool, 1, attempt, duration, strike, 5)
    return shelf, FaultyEnvironment(shelf, FaultSpec(Level.E3), (fault,), shelf.access)


def put(thing: str) -> ToolCall:
    return ToolCall("p", "put", {"thing": thing})


LIST, LOOK = ToolCall("l", "list", {}), ToolCall("k", "look", {})


@pytest.mark.parametrize("text", ["E0", "E1", "E2", "E3", "E1x1x1", "E3x4x2"])
def test_levels_are_written_as_they_are_read(text: str) -> None:
    assert str(FaultSpec.parse(text)) == text


@pytest.mark.parametrize("text", ["", "E4", "e1", "E1x0", "E1x1x0", "E2x", "E1 "])
def test_other_words_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"E0|at least 1"):
        FaultSpec.parse(text)


@settings(max_examples=200, deadline=None)
@given(
    level=st.sampled_from(Level),
    count=st.integers(1, 6),
    duration=st.integers(1, 4),
    seed=st.text(max_size=6),
)
def test_the_plan_follows_from_the_seed_and_keeps_its_level(
    level: Level, count: int, duration: int, seed: str
) -> None:
    """Equal seeds give equal faults; no operation is struck twice; implicit faults strike reads only."""
    spec = FaultSpec(level, count, duration)
    planned = draw(spec, OPERATIONS, seed)
    assert planned == draw(spec, OPERATIONS, seed)
    assert len({(fault.tool, fault.index) for fault in planned}) == len(planned) <= count
    for fault in planned:
        assert fault.duration == duration
        assert fault.strike.explicit or fault.tool != "put"
    kinds = {fault.strike.explicit for fault in planned}
    assert kinds <= {Level.E0: set(), Level.E1: {True}, Level.E2: {False}, Level.E3: {True, False}}[level]
    if level is Level.E3 and count == 2:
        assert kinds == {True, False}


def test_e0_is_the_environment_itself() -> None:
    shelf = Shelf()
    assert inject(shelf, "E0", "x") is shelf


@pytest.mark.parametrize("strike", [Strike.SERVER_ERROR, Strike.TIMEOUT, Strike.REFUSED])
def test_before_commit_the_write_did_not_happen(strike: Strike) -> None:
    shelf, faulty = struck(strike, "put")
    assert faulty.call(put("pen")).error in set(ToolErrorKind)
    assert shelf.things == []
    assert faulty.call(put("pen")).error is None
    assert shelf.things == ["pen"]


@pytest.mark.parametrize("strike", [Strike.SERVER_ERROR_AFTER, Strike.TIMEOUT_AFTER])
def test_after_commit_it_did_and_the_caller_cannot_tell(strike: Strike) -> None:
    shelf, faulty = struck(strike, "put")
    _, before = struck(Strike(strike.removesuffix("_after")), "put")
    assert faulty.call(put("pen")) == before.call(put("pen"))
    assert shelf.things == ["pen"]


def test_a_fault_ends_by_itself_and_strikes_only_its_operation() -> None:
    _, faulty = struck(Strike.TIMEOUT, "put", duration=2)
    errors = [faulty.call(put(thing)).error is not None for thing in ("a", "b", "a", "b", "a", "a")]
    assert errors == [True, False, True, False, False, False]


def test_a_shortened_list_still_tells_its_total() -> None:
    shelf, faulty = struck(Strike.TRUNCATED, "list")
    shelf.things = ["a", "b", "c"]
    data = faulty.call(LIST).data
    assert data is not None
    assert (data["total"], len(data["items"])) == (3, 1)
    again = faulty.call(LIST).data
    assert again is not None
    assert len(again["items"]) == 3


def test_an_old_answer_keeps_its_old_revision() -> None:
    _, faulty = struck(Strike.STALE, "look", attempt=2)
    first = faulty.call(LOOK)
    faulty.call(put("a"))
    second = faulty.call(LOOK)
    third = faulty.call(LOOK)
    assert second == first
    assert third.data != second.data


def test_the_log_keeps_the_clean_answer_beside_the_one_shown(tmp_path: Path) -> None:
    shelf, faulty = struck(Strike.DROPPED, "list")
    shelf.things = ["a", "b"]
    shown = faulty.call(LIST)
    faulty.collect(tmp_path)
    log = msgspec.json.decode((tmp_path / LOG).read_bytes(), type=FaultLog)
    (met,) = log.calls
    assert (met.shown, met.clean) == (shown.text, shelf.call(LIST).text)
    assert "lacks the promised field 'size'" in met.witness
    assert (tmp_path / "things").read_text() == "a\nb"


rows = st.lists(
    st.fixed_dictionaries({"id": st.text(max_size=3), "a": st.integers(), "b": st.text(max_size=3)}),
    max_size=5,
)


@settings(max_examples=150, deadline=None)
@given(
    items=rows,
    strike=st.sampled_from([Strike.TRUNCATED, Strike.DROPPED, Strike.NULL]),
    salt=st.integers(0, 2**32),
)
def test_every_degraded_answer_has_a_witness_that_a_reader_can_check(
    items: list[dict[str, Any]], strike: Strike, salt: int
) -> None:
    """It is wrong, and either the total disagrees, or a promised field is missing or null."""
    data = {"revision": 3, "total": len(items), "items": items}
    worse = degrade(ToolResult(text="", data=data), strike, salt, None)
    if worse is None:
        assert not items
        return
    shown = worse.result.data
    assert shown is not None
    assert shown != data
    holes = [row for row in shown["items"] if set(row) != {"id", "a", "b"} or None in row.values()]
    assert shown["total"] != len(shown["items"]) or len(holes) == 1
    assert worse.witness


def test_what_does_not_fit_gives_way_to_what_does() -> None:
    record = ToolResult(text="", data={"revision": 1, "record": {"id": "x", "size": 2}})
    assert (found := degrade(record, Strike.TRUNCATED, 0, None)) is not None
    assert found.strike is Strike.DROPPED
    assert (
        degrade(ToolResult(text="", data={"revision": 1, "total": 0, "items": []}), Strike.NULL, 0, None)
        is None
    )


def test_on_a_desk_a_write_is_struck_only_before_it_takes_effect() -> None:
    """Nobody could ask a desk afterwards, so making the call again must be right."""
    operations = desk_operations(frozenset({"bash", "computer", "read_file"}))
    planned = [fault for seed in range(200) for fault in draw(FaultSpec.parse("E3"), operations, str(seed))]
    assert {fault.tool for fault in planned} == {"bash", "computer", "read_file"}
    assert not [fault for fault in planned if fault.strike.takes_effect]
    assert [fault for fault in planned if fault.strike is Strike.STALE]


def test_an_old_screen_is_one_from_before() -> None:
    """The same question to the screen gets the answer of the last time, for a while."""
    first, second = ToolResult(text="before"), ToolResult(text="after")
    worse = degrade(second, Strike.STALE, 0, first)
    assert worse is not None
    assert worse.result == first
    assert degrade(second, Strike.STALE, 0, second) is not None
    assert degrade(ToolResult(text=""), Strike.STALE, 0, ToolResult(text="")) is None


def test_a_desk_is_struck_through_its_text_and_its_screen() -> None:
    worse = degrade(ToolResult(text="one line\ntwo lines\n"), Strike.NULL, 0, None)
    assert worse is not None
    assert worse.strike is Strike.TRUNCATED
    assert "one line\ntwo lines\n".startswith(worse.result.text)
    assert [desk_access(tool) for tool in ("read_file", "computer", "bash")] == [
        Access.READ,
        Access.READ,
        Access.WRITE,
    ]


@pytest.mark.parametrize(
    ("calls", "passed", "expected"),
    [
        ([], False, FaultAccount(1, 0, 0, 0, 0)),
        (["put"], False, FaultAccount(1, 1, 0, 0, 1)),
        (["put"], True, FaultAccount(1, 1, 0, 0, 0)),
        (["put", "put"], False, FaultAccount(1, 1, 1, 1, 0)),
        (["put", "list"], True, FaultAccount(1, 1, 1, 1, 0)),
    ],
)
def test_accounts_tell_met_noticed_recovered_and_harmed(
    calls: list[str], passed: bool, expected: FaultAccount
) -> None:
    _, faulty = struck(Strike.TIMEOUT_AFTER, "put")
    for name in calls:
        faulty.call(put("a") if name == "put" else LIST)
    assert account(faulty.log(), passed=passed) == expected


def test_all_callers_meet_the_same_faults_whatever_their_order() -> None:
    """The first distinct call of a tool is struck for everybody who makes it first."""
    for order in itertools.permutations(["x", "y"]):
        _, faulty = struck(Strike.REFUSED, "put")
        errors = {thing: faulty.call(put(thing)).error is not None for thing in order}
        assert errors[order[0]]
        assert not errors[order[1]]
