"""The film of a trial is a pure function of its steps, and everything in it is harmless to look at."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from practicum.controller.store import Run
from practicum.controller.viewer.matrix import State, cells, totals
from practicum.controller.viewer.moments import Arrow, Caption, Path, Ring, Shape, film, shape
from practicum.controller.viewer.pages import embedded
from practicum.controller.viewer.safe import clip, visible


@given(st.text())
def test_visible_text_has_no_control_characters(text: str) -> None:
    """Whatever a desk prints, no escape, control or direction override survives; plain text is untouched."""
    shown = visible(text)
    assert not any(unicodedata.category(c) == "Cc" for c in shown if c not in "\n\t")
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    if text.isprintable():
        assert shown == text or set(text) & set("\u200e\u200f")


@given(st.text(min_size=0, max_size=400), st.integers(10, 100))
def test_clipping_keeps_both_ends(text: str, limit: int) -> None:
    """An overlong text keeps its head and its tail and says how much is missing."""
    shown = clip(text, limit)
    if len(text) <= limit:
        assert shown == text
    else:
        half = limit // 2
        assert shown.startswith(text[:half])
        assert shown.endswith(text[-half:])
        assert str(len(text) - 2 * half) in shown


@given(st.text())
def test_embedded_data_cannot_leave_its_script(text: str) -> None:
    """No string in the data can close the element it stands in."""
    assert "<" not in embedded({"text": text})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(["action", "x", "y", "path", "dx", "count", "text"]), json_values))
def test_any_recorded_arguments_draw_something_or_nothing(arguments: dict[str, object]) -> None:
    """Arguments are whatever a model wrote; drawing never fails on them."""
    assert isinstance(shape("computer", arguments), Shape)


def test_actions_draw_in_their_own_coordinates() -> None:
    """A click is a ring, a drag its path, a scroll an arrow, typing a caption."""
    assert shape("computer", {"action": "click", "x": 3, "y": 4}) == Ring(3, 4, 1, "left")
    assert shape("computer", {"action": "drag", "path": [[1, 2], [3, 4]]}) == Path(((1, 2), (3, 4)))
    assert shape("computer", {"action": "scroll", "x": 1, "y": 2, "dy": -3}) == Arrow(1, 2, 0, -3)
    assert shape("computer", {"action": "key", "keys": "ctrl+s"}) == Caption("ctrl+s")
    assert shape("bash", {"action": "click", "x": 3, "y": 4}) == Shape()


def test_each_action_is_shown_on_the_frame_it_was_decided_on(run: Run) -> None:
    """`before` of a moment is the newest frame of the moments before it, and costs add up."""
    attempt = run.trial(run.plan().trials[0].id).counting_attempt()
    assert attempt is not None
    shown = film(attempt.steps())
    assert shown.moments[0].before is None
    for earlier, later in zip(shown.moments, shown.moments[1:], strict=False):
        assert later.before == earlier.after
    assert shown.moments[6].cost == 7_000_000
    assert shown.moments[-1].notes == ("body: all targets are hit",)


def test_totals_add_up(run: Run) -> None:
    """planned = scored + fault + cancelled + pending, and what is not scored has no score."""
    shown = cells(run)
    sums = totals(shown)
    assert sums.planned == sums.scored + sums.fault + sums.cancelled + sums.pending == 6
    assert (sums.scored, sums.fault, sums.cancelled, sums.pending, sums.passed) == (2, 1, 1, 2, 1)
    assert all((cell.score is None) == (cell.state is not State.SCORED) for cell in shown)
