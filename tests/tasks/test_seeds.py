"""Instances depend on task and seed alone; private sittings on the secret alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from practicum.tasks.errors import BadSitting
from practicum.tasks.seeds import Practice, Private, parse_numbers, private_sitting, stream

SECRETS = st.binary(min_size=16, max_size=40)
TASKS = st.sampled_from(["business/web-order", "media/photo", "worlds/x/y"])


@given(TASKS, st.integers(0, 2**63))
def test_a_stream_is_the_same_every_time_and_another_for_each_seed(task: str, seed: int) -> None:
    """Equal (task, seed) give equal numbers; the next seed gives others."""
    first, again, other = stream(task, seed), stream(task, seed), stream(task, seed + 1)
    drawn = [first.random() for _ in range(4)]
    assert drawn == [again.random() for _ in range(4)]
    assert drawn != [other.random() for _ in range(4)]


@given(SECRETS, TASKS)
def test_a_private_sitting_is_reproducible_and_no_practice(secret: bytes, task: str) -> None:
    """Same secret, same questions; no two alike; none of the public ones."""
    seeds = [Private(secret).seed(task, number) for number in range(20)]
    assert seeds == [Private(secret).seed(task, number) for number in range(20)]
    assert len(set(seeds)) == 20
    assert not set(seeds) & {Practice().seed(task, number) for number in range(20)}
    assert all(0 <= seed < 2**63 for seed in seeds)


@given(SECRETS, SECRETS)
def test_another_secret_gives_other_questions(one: bytes, other: bytes) -> None:
    """And other tasks of one secret do not share their seeds."""
    if one != other:
        assert Private(one).seed("a/b", 0) != Private(other).seed("a/b", 0)
    assert Private(one).seed("a/b", 0) != Private(one).seed("a/c", 0)


def test_the_secret_shows_neither_in_the_name_nor_in_the_text_of_a_sitting(tmp_path: Path) -> None:
    """A record may name its sitting."""
    path = tmp_path / "secret"
    path.write_text("correct horse battery staple\n")
    sitting = private_sitting(path)
    assert sitting.name.startswith("private-")
    assert "horse" not in repr(sitting) + sitting.name


def test_a_short_secret_is_refused(tmp_path: Path) -> None:
    """Sixteen bytes at least."""
    path = tmp_path / "secret"
    path.write_text("short")
    with pytest.raises(BadSitting, match="16 bytes"):
        private_sitting(path)


@pytest.mark.parametrize(
    ("text", "numbers"), [("3", (3,)), ("0-4", (0, 1, 2, 3, 4)), ("0-2,7, 9-9,1", (0, 1, 2, 7, 9))]
)
def test_numbers_are_ranges_and_lists(text: str, numbers: tuple[int, ...]) -> None:
    """Each once, in the order in which they were written."""
    assert parse_numbers(text) == numbers


@pytest.mark.parametrize("text", ["", "a", "-1", "4-0", "1..3", "1-"])
def test_what_names_no_number_is_refused(text: str) -> None:
    """With the text that was given."""
    with pytest.raises(BadSitting):
        parse_numbers(text)
