"""Tables, their additive hash, and what a tool may not look like."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from practicum.infra.faults.operations import Access
from practicum.infra.world.tables import Change, Tables
from practicum.infra.world.tool import WorldTool
from practicum.infra.world.world import View


@dataclass(frozen=True, slots=True)
class Thing:
    id: str
    size: int


@dataclass(frozen=True, slots=True)
class Other:
    id: str
    size: int


things = st.dictionaries(st.text(max_size=3), st.integers(-9, 9), max_size=8)


@settings(max_examples=80, deadline=None)
@given(rows=things, order=st.randoms(use_true_random=False))
def test_the_hash_does_not_depend_on_the_order_of_writing(rows: dict[str, int], order: object) -> None:
    keys = sorted(rows)
    shuffled = list(keys)
    order.shuffle(shuffled)  # type: ignore[attr-defined]  # a Random, which hypothesis does not name
    first = Tables([Thing], [Thing(key, rows[key]) for key in keys])
    second = Tables([Thing], [Thing(key, rows[key]) for key in shuffled])
    assert first.digest == second.digest
    assert list(first.of(Thing)) == list(second.of(Thing)) == keys


@settings(max_examples=80, deadline=None)
@given(first=things, second=things)
def test_equal_hashes_mean_equal_states(first: dict[str, int], second: dict[str, int]) -> None:
    one = Tables([Thing], [Thing(*pair) for pair in first.items()])
    two = Tables([Thing], [Thing(*pair) for pair in second.items()])
    assert (one.digest == two.digest) == (first == second)


def test_rows_of_different_tables_hash_differently() -> None:
    assert Tables([Thing, Other], [Thing("a", 1)]).digest != Tables([Thing, Other], [Other("a", 1)]).digest


def test_a_journaled_change_from_another_row_is_refused() -> None:
    tables = Tables([Thing], [Thing("a", 1)])
    with pytest.raises(ValueError, match="was not what the journal says"):
        tables.replay(Change("Thing", "a", {"id": "a", "size": 2}, None))


def test_two_rows_of_one_id_are_refused() -> None:
    with pytest.raises(ValueError, match="two rows"):
        Tables([Thing], [Thing("a", 1), Thing("a", 2)])


@dataclass(frozen=True, slots=True)
class Holes:
    id: str
    note: str | None


def with_holes(world: View) -> list[Holes]:
    """List rows with a field that may be null."""
    return []


def number(world: View) -> int:
    """Answer with a bare number."""
    return 1


@pytest.mark.parametrize("function", [with_holes, number])
def test_a_tool_whose_answer_could_lose_a_field_unnoticed_cannot_be_made(function: object) -> None:
    """Degraded answers must have a witness, so answers have every field, never null."""
    with pytest.raises(TypeError, match="without optional fields"):
        WorldTool(function, Access.READ)  # type: ignore[arg-type]  # deliberately wrong
