"""What an application in a machine receives is what was asked: text, chords, clicks, notches, drags."""

from __future__ import annotations

import io
import itertools
from typing import Any

import numpy as np
import pytest
from PIL import Image

from practicum.infra.desk.actions import Action, Button, Click, Drag, Key, Move, Point, Scroll, TypeText
from practicum.infra.errors import Unsupported

pytestmark = [pytest.mark.docker, pytest.mark.vm]

ASCII = "".join(map(chr, range(32, 127)))
MIXED = "line one\n\täöüßéèçñ€£¥§°—“”… αβγДжщ 日本語の文字列 한국 🙂🚀𝔘 end"


@pytest.fixture(scope="module")
def area(window):
    window.show("text")
    return window


@pytest.fixture(scope="module", params=["de", "us,ru"])
def layout(request, area):
    """One layout, changed under the running application."""
    assert area.desk.run(["setxkbmap", "-layout", request.param]).exit_code == 0
    yield request.param
    area.desk.run(["setxkbmap", "us"])


def test_text_of_every_plane_arrives_under_every_layout(area, layout: str) -> None:
    """Each letter once and in order, whatever key it needs or has to be lent."""
    area.desk.act(TypeText(ASCII))
    assert area.text() == ASCII
    area.desk.act(TypeText(MIXED))
    assert area.text() == MIXED


def test_more_foreign_letters_than_keys_can_be_lent(area) -> None:
    """Keys are lent again and again, and no letter gets the meaning of another."""
    text = "".join(chr(0x4E00 + 7 * index) for index in range(40))
    area.desk.act(TypeText(text))
    assert area.text() == text


def test_caps_lock_does_not_change_what_is_typed(area) -> None:
    """And is as it was afterwards."""
    area.desk.act(Key(("caps_lock",)))
    area.desk.act(TypeText("aBc é 1!"), Key(("a",)))
    assert area.text() == "aBc é 1!A"
    area.desk.act(Key(("caps_lock",)), Key(("a",)))
    assert area.text() == "a"


@pytest.mark.parametrize("char", ["\x07", "\ud800", "\uffff"])
def test_what_is_no_character_is_refused_before_anything_is_typed(area, char: str) -> None:
    """As a whole."""
    with pytest.raises(Unsupported):
        area.desk.act(TypeText(f"a{char}b"))
    assert area.text() == ""


@pytest.fixture(scope="module")
def events(window):
    window.show("events")
    return window


@pytest.mark.parametrize(
    ("chord", "presses"),
    [
        (("ctrl", "s"), ["Control_L", "s"]),
        (("ctrl", "alt", "shift", "x"), ["Control_L", "Alt_L", "Shift_L", "X"]),
        (("kp_7",), ["KP_7"]),
        (("shift", "tab"), ["Shift_L", "ISO_Left_Tab"]),
        (("f24",), ["F24"]),
        (("é",), ["eacute"]),
    ],
)
def test_a_chord_goes_down_in_order_and_up_in_reverse(
    events, chord: tuple[str, ...], presses: list[str]
) -> None:
    """Also where a key must be lent, shifted, or needs Num Lock."""
    events.desk.act(Key(chord))
    seen = [entry for entry in events.events() if "key" in entry and entry["key"] != "Num_Lock"]
    assert [entry["key"] for entry in seen if entry["press"]] == presses
    first_up = next(index for index, entry in enumerate(seen) if not entry["press"])
    assert not any(entry["press"] for entry in seen[first_up:])
    assert len(seen) == 2 * len(presses)


def predicted(action: Action) -> list[tuple[Any, ...]]:
    """Presses, releases and notches of an action, each with its place."""
    match action:
        case Click(at, button, count):
            number = 1 + list(Button).index(button)
            return [("button-press", number, at), ("button-release", number, at)] * count
        case Scroll(at, dx, dy):
            vertical = [("scroll", "down" if dy > 0 else "up", at)] * abs(dy)
            return vertical + [("scroll", "right" if dx > 0 else "left", at)] * abs(dx)
        case Drag(path):
            return [("button-press", 1, path[0]), ("button-release", 1, path[-1])]
    return []


@pytest.mark.parametrize(
    "sequence",
    [
        [Click(Point(300, 300)), Click(Point(301, 300), Button.RIGHT), Click(Point(500, 90), count=3)],
        [Scroll(Point(400, 400), dy=3), Scroll(Point(400, 400), dy=-2), Move(Point(40, 60))],
        [Scroll(Point(400, 400), dx=2), Scroll(Point(410, 400), dx=-1), Click(Point(700, 500))],
        [Drag((Point(100, 100), Point(300, 200), Point(200, 400))), Click(Point(200, 400), Button.MIDDLE)],
    ],
)
def test_the_log_is_exactly_the_predicted_one(events, sequence: list[Action]) -> None:
    """Every press, release and notch, in order, at its place, and no other."""
    events.desk.act(*sequence)
    logged = [
        (entry["pointer"], entry.get("button", entry.get("direction")), Point(entry["x"], entry["y"]))
        for entry in events.events()
        if entry.get("pointer") in {"button-press", "button-release", "scroll"}
    ]
    assert logged == list(itertools.chain.from_iterable(map(predicted, sequence)))


def test_keys_are_held_through_a_click(events) -> None:
    """Two devices keep their order: modifiers are down at the press and up after the release."""
    events.desk.act(Click(Point(200, 200), held=("ctrl", "shift")))
    seen = events.events()
    press = next(entry for entry in seen if entry.get("pointer") == "button-press")
    assert press["state"] & 5 == 5
    order = [entry.get("pointer") or entry["key"] for entry in seen if entry.get("press") is not True]
    assert order.index("button-release") < order.index("Shift_L") < order.index("Control_L")


def test_each_target_is_hit_where_the_picture_shows_it(window) -> None:
    """Corners and middle: found in the sent picture by colour, and clicked there."""
    window.show("targets")
    pixels = np.asarray(Image.open(io.BytesIO(window.desk.observe().png)).convert("RGB"))
    for number in (0, 19, 39):
        rows, columns = np.nonzero((pixels == (number + 1, 255, 0)).all(axis=-1))
        window.desk.act(Click(Point(round(columns.mean()), round(rows.mean()))))
        assert window.await_(lambda entry: "hit" in entry)[-1]["hit"] == number


@pytest.mark.parametrize("place", [Point(0, 0), Point(1023, 639), Point(511, 320)])
def test_the_pointer_is_at_the_very_pixel(desk, place: Point) -> None:
    """Zero is a place, and so is the last one."""
    desk.act(Move(place))
    script = (
        "import sys; sys.path.insert(0, '/opt/practicum');"
        "from practicum.vm_images.handsd.xlib import Connection; print(*Connection().pointer())"
    )
    assert desk.run(["python3", "-c", script]).stdout.split() == [b"%d" % place.x, b"%d" % place.y]
