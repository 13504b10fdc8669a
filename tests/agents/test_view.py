"""Kind B: a place in a sent picture finds its place on the desk, and back."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from practicum.agents.generalist.view import BadPlace, Size, Space, View
from practicum.infra.desk.actions import Point

sides = st.integers(1, 4096)
sizes = st.builds(Size, sides, sides)
views = st.builds(View, sizes, sizes, st.sampled_from(Space))


@st.composite
def views_and_points(draw: st.DrawFn) -> tuple[View, Point]:
    view = draw(views)
    x = draw(st.integers(0, view.desk.width - 1))
    return view, Point(x, draw(st.integers(0, view.desk.height - 1)))


def _grain(view: View) -> tuple[int, int]:
    """Desk pixels that one unit of the model's space spans, rounded up."""
    if not view.whole:
        return 1, 1
    end_x, end_y = view.ends
    return (
        max(1, math.ceil((view.desk.width - 1) / max(end_x, 1))) if end_x else view.desk.width,
        max(1, math.ceil((view.desk.height - 1) / max(end_y, 1))) if end_y else view.desk.height,
    )


@given(views_and_points())
def test_there_and_back_is_within_a_pixel_or_one_unit_of_the_space(case: tuple[View, Point]) -> None:
    view, point = case
    back = view.to_desk(*view.to_model(point))
    grain_x, grain_y = _grain(view)
    assert abs(back.x - point.x) <= grain_x
    assert abs(back.y - point.y) <= grain_y


@given(st.builds(lambda size, space: View(size, size, space), sizes, st.sampled_from(Space)))
def test_an_unscaled_picture_in_pixels_or_fractions_is_exact(view: View) -> None:
    if view.space in {Space.PIXELS, Space.FRACTION}:
        corner = Point(view.desk.width - 1, view.desk.height - 1)
        for point in (Point(0, 0), corner, Point(corner.x // 2, corner.y // 3)):
            assert view.to_desk(*view.to_model(point)) == point


@given(views)
def test_corners_go_to_corners(view: View) -> None:
    end_x, end_y = view.ends
    assert view.to_desk(0, 0) == Point(0, 0)
    if end_x and end_y:
        assert view.to_desk(end_x, end_y) == Point(view.desk.width - 1, view.desk.height - 1)


@given(views, st.floats(0, 1), st.floats(0, 1))
def test_the_map_is_monotone_and_stays_on_the_desk(view: View, one: float, other: float) -> None:
    low, high = sorted((one, other))
    end_x, end_y = view.ends
    first, second = view.to_desk(low * end_x, low * end_y), view.to_desk(high * end_x, high * end_y)
    assert 0 <= first.x <= second.x < view.desk.width
    assert 0 <= first.y <= second.y < view.desk.height


@given(sizes, st.integers(2, 64), st.data())
def test_a_scaled_down_pixel_lands_on_a_desk_pixel_it_shows(
    sent: Size, scale: int, data: st.DataObject
) -> None:
    view = View(Size(sent.width * scale, sent.height * scale), sent)
    x = data.draw(st.integers(0, sent.width - 1))
    assert x * scale <= view.to_desk(x, 0).x < (x + 1) * scale


@pytest.mark.parametrize("place", [(-1, 0), (0, 1280), (1280, 0), (math.nan, 3), (math.inf, 3)])
def test_a_place_outside_the_picture_is_a_mistake_and_not_clamped(place: tuple[float, float]) -> None:
    view = View(Size(2560, 1600), Size(1280, 800))
    with pytest.raises(BadPlace):
        view.to_desk(*place)


def test_a_mark_of_a_picture_without_marks_is_a_mistake() -> None:
    with pytest.raises(BadPlace, match="no marks"):
        View(Size(10, 10), Size(10, 10)).mark(1)
