"""The engine: checked arguments, transactions, journal, hashes, replay."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from practicum.infra.environment import ToolCall, ToolErrorKind
from practicum.infra.errors import WorldFault
from practicum.infra.faults.operations import Access
from practicum.infra.world import journal
from practicum.infra.world.engine import WorldEnvironment, replay
from practicum.infra.world.tables import Tables

Open = Callable[[], WorldEnvironment]
SAME_WORLD = settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)

ids = st.sampled_from(["pen", "ink", "cap", "nothing", ""])
calls = st.one_of(
    st.tuples(st.just("list_goods"), st.just({})),
    st.tuples(st.just("read_good"), st.fixed_dictionaries({"good": ids})),
    st.tuples(
        st.just("sell"),
        st.fixed_dictionaries(
            {"good": ids, "amount": st.integers(0, 9)}, optional={"rush": st.sampled_from([True, "false", 1])}
        ),
    ),
    st.tuples(st.just("drop_good"), st.fixed_dictionaries({"good": ids})),
    st.tuples(st.just("wait"), st.fixed_dictionaries({"minutes": st.integers(-5, 2000)})),
    st.tuples(st.just("no_such_tool"), st.just({})),
    st.tuples(st.just("activity_log"), st.just({})),
    st.tuples(st.just("submit"), st.fixed_dictionaries({"sold": st.lists(st.text(max_size=3), max_size=2)})),
)


def run(world: WorldEnvironment, sequence: list[tuple[str, dict[str, Any]]]) -> None:
    for number, (tool, arguments) in enumerate(sequence):
        world.call(ToolCall(f"c{number}", tool, arguments))


@SAME_WORLD
@given(sequence=st.lists(calls, max_size=25))
def test_any_sequence_replays_to_equal_hashes_and_the_hash_is_that_of_the_state(
    open_shop: Open, sequence: list[tuple[str, dict[str, Any]]]
) -> None:
    """Journal and hashes are a function of the start and the calls; the running hash is never wrong."""
    world = open_shop()
    start = world.rules.load(world.snapshot()["tables"])
    run(world, sequence)
    again = replay(world.rules, start, world.entries)
    assert again.snapshot() == world.snapshot()
    assert world.rules.load(world.snapshot()["tables"]).digest == world.snapshot()["digest"]
    for before, after in zip(world.entries, world.entries[1:], strict=False):
        assert before.after == after.before


@SAME_WORLD
@given(sequence=st.lists(calls, max_size=25))
def test_an_error_never_changes_the_state_and_invariants_always_hold(
    open_shop: Open, sequence: list[tuple[str, dict[str, Any]]]
) -> None:
    world = open_shop()
    for number, (tool, arguments) in enumerate(sequence):
        before = world.snapshot()
        result = world.call(ToolCall(f"c{number}", tool, arguments))
        if result.error is not None:
            assert world.snapshot() == before
        assert all(row["stock"] >= 0 for row in world.snapshot()["tables"]["Good"])


@SAME_WORLD
@given(sequence=st.lists(calls, max_size=20))
def test_the_journaled_changes_lead_from_the_start_to_the_end(
    open_shop: Open, sequence: list[tuple[str, dict[str, Any]]]
) -> None:
    """Somebody without the rules can follow the state through the journal alone."""
    world = open_shop()
    tables = world.rules.load(world.snapshot()["tables"])
    run(world, sequence)
    for entry in world.entries:
        assert entry.before == tables.digest
        for change in entry.changes:
            tables.replay(change)
        assert entry.after == tables.digest
    assert tables.plain() == world.snapshot()["tables"]


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    arguments=st.dictionaries(
        st.sampled_from(["good", "amount", "rush", "more"]),
        st.one_of(st.text(max_size=3), st.integers(-3, 20), st.booleans(), st.none(), st.just("false")),
    )
)
def test_arguments_are_taken_exactly_when_the_schema_allows_them(
    shop: WorldEnvironment, arguments: dict[str, Any]
) -> None:
    """What the model is told and what is checked are the same thing; `"false"` is no boolean."""
    (tool,) = (tool for tool in shop.tools() if tool.name == "sell")
    allowed = jsonschema.Draft202012Validator(tool.parameters).is_valid(arguments)
    result = shop.call(ToolCall("1", "sell", arguments))
    assert (result.error is not ToolErrorKind.BAD_ARGUMENTS) == allowed


def test_every_schema_is_valid_and_states_units(shop: WorldEnvironment) -> None:
    for tool in shop.tools():
        jsonschema.Draft202012Validator.check_schema(tool.parameters)
        assert "$ref" not in json.dumps(tool.parameters)
    (sell,) = (tool for tool in shop.tools() if tool.name == "sell")
    assert sell.parameters["properties"]["amount"]["description"] == "pieces in count"
    assert "title: string" in next(tool for tool in shop.tools() if tool.name == "list_goods").description


def test_a_refusal_in_the_middle_of_a_write_undoes_all_of_it(shop: WorldEnvironment) -> None:
    before = shop.snapshot()
    result = shop.call(ToolCall("1", "sell", {"good": "pen", "amount": 7}))
    assert result.error is ToolErrorKind.REFUSED
    assert shop.snapshot() == before


def test_a_broken_invariant_is_refused_in_words(shop: WorldEnvironment) -> None:
    result = shop.call(ToolCall("1", "sell", {"good": "ink", "amount": 5}))
    assert result.error is ToolErrorKind.REFUSED
    assert "below zero" in result.text


def test_a_crashing_tool_is_our_fault_and_leaves_the_state_alone(shop: WorldEnvironment) -> None:
    before = shop.snapshot()
    with pytest.raises(WorldFault, match="explode crashed"):
        shop.call(ToolCall("1", "explode", {}))
    assert shop.snapshot() == before


def test_the_clock_moves_only_when_a_tool_moves_it(shop: WorldEnvironment) -> None:
    shop.call(ToolCall("1", "list_goods", {}))
    assert shop.snapshot()["tables"]["Clock"][0]["now"] == "2026-01-05T09:00:00Z"
    shop.call(ToolCall("2", "wait", {"minutes": 90}))
    assert shop.snapshot()["tables"]["Clock"][0]["now"] == "2026-01-05T10:30:00Z"


def test_after_handing_in_nothing_is_written_and_reads_go_on(shop: WorldEnvironment) -> None:
    assert shop.call(ToolCall("1", "submit", {"sold": []})).error is None
    assert shop.call(ToolCall("2", "submit", {"sold": ["S-1"]})).error is ToolErrorKind.REFUSED
    assert shop.call(ToolCall("3", "sell", {"good": "pen", "amount": 1})).error is ToolErrorKind.REFUSED
    assert shop.call(ToolCall("4", "list_goods", {})).error is None
    assert shop.answer == {"sold": [], "cash": 0}


def test_lists_tell_their_total_and_every_answer_its_revision(shop: WorldEnvironment) -> None:
    first = shop.call(ToolCall("1", "list_goods", {})).data
    shop.call(ToolCall("2", "sell", {"good": "pen", "amount": 1}))
    second = shop.call(ToolCall("3", "read_good", {"good": "pen"})).data
    assert first is not None
    assert second is not None
    assert (first["revision"], first["total"], len(first["items"])) == (0, 3, 3)
    assert (second["revision"], second["record"]["stock"]) == (1, 9)


def test_the_activity_log_has_exactly_the_writes_that_took_effect(shop: WorldEnvironment) -> None:
    shop.call(ToolCall("1", "sell", {"good": "pen", "amount": 2}))
    shop.call(ToolCall("2", "sell", {"good": "pen", "amount": 99}))
    shop.call(ToolCall("3", "list_goods", {}))
    log = shop.call(ToolCall("4", "activity_log", {})).data
    assert log is not None
    assert [(item["tool"], item["arguments"]) for item in log["items"]] == [
        ("sell", {"good": "pen", "amount": 2})
    ]


def test_what_is_left_is_read_back_as_it_was(shop: WorldEnvironment, tmp_path: Path) -> None:
    shop.call(ToolCall("1", "sell", {"good": "pen", "amount": 2}))
    shop.call(ToolCall("2", "sell", {"good": "pen", "amount": 200}))
    shop.collect(tmp_path)
    assert not (tmp_path / "answer.json").exists()
    assert list(journal.read(tmp_path / "journal.jsonl")) == shop.entries
    assert json.loads((tmp_path / "state.json").read_bytes()) == shop.snapshot()


def test_a_replay_that_differs_says_where(open_shop: Open) -> None:
    world = open_shop()
    world.call(ToolCall("1", "sell", {"good": "pen", "amount": 2}))
    other = open_shop()
    other.call(ToolCall("0", "sell", {"good": "pen", "amount": 1}))
    tables: Tables = world.rules.load(other.snapshot()["tables"])
    with pytest.raises(WorldFault, match="call 1"):
        replay(world.rules, tables, world.entries)


def test_unknown_tools_count_as_reads_and_submit_as_a_write(shop: WorldEnvironment) -> None:
    assert shop.access("submit") is Access.WRITE
    assert shop.access("sell") is Access.WRITE
    assert shop.access("no_such_tool") is Access.READ
