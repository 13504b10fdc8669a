"""Clicks, drags and wheels arrive as asked, where the sent picture shows their target."""

from __future__ import annotations

import io
import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from practicum.infra.desk.actions import (
    Action,
    Button,
    ButtonDown,
    ButtonUp,
    Click,
    Drag,
    Move,
    Point,
    Scroll,
    TypeText,
)

pytestmark = pytest.mark.docker

NUMBERS = {Button.LEFT: 1, Button.MIDDLE: 2, Button.RIGHT: 3}
points = st.builds(Point, st.integers(40, 980), st.integers(60, 560))
buttons = st.sampled_from(list(Button))
actions = st.one_of(
    st.builds(Move, points),
    st.builds(Click, points, buttons, st.integers(1, 3)),
    st.builds(Scroll, points, st.integers(-3, 3), st.integers(-3, 3)),
    st.lists(points, min_size=2, max_size=3, unique=True).map(lambda path: Drag(tuple(path))),
)


@pytest.fixture(scope="module")
def events(window):
    window.show("events")
    return window


def predicted(action: Action) -> list[tuple[Any, ...]]:
    """Presses, releases and wheel notches of an action, each with its place."""
    match action:
        case Click(at, button, count):
            one = [("button-press", NUMBERS[button], at), ("button-release", NUMBERS[button], at)]
            return one * count
        case Scroll(at, dx, dy):
            vertical = [("scroll", "down" if dy > 0 else "up", at)] * abs(dy)
            return vertical + [("scroll", "right" if dx > 0 else "left", at)] * abs(dx)
        case Drag(path):
            return [("button-press", 1, path[0]), ("button-release", 1, path[-1])]
    return []


def logged(entries: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """The same from the log; GTK adds double and triple presses to the plain ones."""
    return [
        (entry["pointer"], entry.get("button", entry.get("direction")), Point(entry["x"], entry["y"]))
        for entry in entries
        if entry.get("pointer") in {"button-press", "button-release", "scroll"}
    ]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sequence=st.lists(actions, min_size=1, max_size=5))
def test_the_log_is_exactly_the_predicted_one(events, sequence: list[Action]) -> None:
    """For random sequences: every press, release and notch, in order, at its place, and no other."""
    events.desk.act(*sequence)
    assert logged(events.events()) == list(itertools.chain.from_iterable(map(predicted, sequence)))


@pytest.mark.parametrize(
    ("count", "kinds"), [(1, set()), (2, {"2button-press"}), (3, {"2button-press", "3button-press"})]
)
def test_a_double_click_is_one_and_two_clicks_are_not(events, count: int, kinds: set[str]) -> None:
    """The toolkit counts what was asked for; separate clicks at one place never add up."""
    events.desk.act(Click(Point(300, 300), count=count), Click(Point(300, 300)))
    seen = [entry["pointer"] for entry in events.events() if "pointer" in entry]
    assert {kind for kind in seen if kind[0] in "23"} == kinds
    assert seen.count("button-press") == count + 1


@pytest.mark.parametrize("length", [6, 60, 600])
def test_a_drag_moves_with_the_button_down(events, length: int) -> None:
    """Several motions between press and release, monotone, the last at the end."""
    start, end = Point(100, 200), Point(100 + length, 200)
    events.desk.act(Drag((start, end)))
    moves = [entry for entry in events.events() if entry.get("pointer") == "motion-notify"]
    held = [entry["x"] for entry in moves if entry["state"] & 256]
    assert len(held) >= 3
    assert held == sorted(held)
    assert held[-1] == end.x


def test_keys_are_held_through_a_click(events) -> None:
    """Modifiers of a click are down at its press and up afterwards."""
    events.desk.act(Click(Point(200, 200), held=("ctrl", "shift")))
    seen = events.events()
    press = next(entry for entry in seen if entry.get("pointer") == "button-press")
    assert press["state"] & 5 == 5
    assert [entry["key"] for entry in seen if entry.get("press") is False] == ["Shift_L", "Control_L"]


def test_a_button_stays_down_between_actions(events) -> None:
    """For drags that an agent composes itself."""
    events.desk.act(Move(Point(100, 100)), ButtonDown())
    events.desk.act(Move(Point(200, 100)))
    events.desk.act(ButtonUp())
    moves = [
        entry for entry in events.events() if entry.get("pointer") == "motion-notify" and entry["x"] == 200
    ]
    assert moves[0]["state"] & 256


def test_the_edges_of_the_screen_can_be_reached(window) -> None:
    """Zero is a place."""
    window.show("events")
    for point in (Point(0, 0), Point(1023, 0), Point(0, 639), Point(1023, 639)):
        window.desk.act(Move(point))
        assert pointer_of(window) == point


def pointer_of(window) -> Point:
    script = (
        "import gi; gi.require_version('Gdk', '3.0'); from gi.repository import Gdk;"
        "p = Gdk.Display.get_default().get_default_seat().get_pointer().get_position(); print(p.x, p.y)"
    )
    x, y = window.desk.run(["python3", "-c", script]).stdout.split()
    return Point(int(x), int(y))


def test_each_target_is_hit_where_the_picture_shows_it(window) -> None:
    """Numbered squares, found by colour in the sent picture and clicked there, are hit."""
    window.show("targets")
    frame = window.desk.observe()
    pixels = np.asarray(Image.open(io.BytesIO(frame.png)).convert("RGB"))
    for number in range(40):
        rows, columns = np.nonzero((pixels == (number + 1, 255, 0)).all(axis=-1))
        window.desk.act(Click(Point(round(columns.mean()), round(rows.mean()))))
        assert window.await_(lambda entry: "hit" in entry)[-1]["hit"] == number


def test_text_goes_where_the_click_before_it_led(window) -> None:
    """A click moves the focus some time later; what is typed in the same breath waits for that."""
    window.show("text")
    window.desk.run(["sh", "-c", "exec setsid xfce4-terminal --geometry 40x8+0+0 >/dev/null 2>&1 &"])
    window.desk.run(
        ["sh", "-c", "until xprop -root _NET_CLIENT_LIST | grep -q '0x.*0x.*0x'; do sleep 0.02; done"]
    )
    for number in range(5):
        window.desk.act(Click(Point(60, 60)), Click(Point(700, 500)), TypeText(f"here {number}"))
        assert window.text() == f"here {number}"
