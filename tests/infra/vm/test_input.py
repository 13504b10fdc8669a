"""Actions become events of the monitor by rules that need no machine."""

from __future__ import annotations

import itertools

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from practicum.infra.desk import keys
from practicum.infra.desk.actions import Click, Drag, Key, Move, Point, Scroll, TypeText
from practicum.infra.desk.vm.input import (
    FULL_SCALE,
    Device,
    Keyboard,
    Lend,
    Pace,
    Report,
    between,
    move,
    steps_of,
)
from practicum.infra.desk.vm.keymap import KEYCODES, QCODES, Keymap, names_of, parts_of
from practicum.infra.errors import Unsupported

SIZE = (1280, 800)
SHIFT, ALTGR, NUM = 1, 128, 16
_TOLD = {
    "characters": {
        **{char: [24 + index, 0] for index, char in enumerate("qwertyuiop")},
        **{char: [24 + index, SHIFT] for index, char in enumerate("QWERTYUIOP")},
        "@": [24, ALTGR],
        " ": [65, 0],
    },
    "named": {
        **{"Return": [36, 0], "Tab": [23, 0], "space": [65, 0], "Control_L": [37, 0], "Shift_L": [50, 0]},
        **{"Alt_L": [64, 0], "KP_7": [79, NUM], "Num_Lock": [77, 0], "Caps_Lock": [66, 0]},
    },
    "holders": [[SHIFT, 50], [ALTGR, 108]],
    "num_lock": NUM,
}
KEYMAP = Keymap.read(msgspec.json.encode(_TOLD))


def events(action, *, caps: bool = False, num: bool = True) -> list[str]:
    """Each event in short: `+a` down, `-a` up; loans as `lend`."""
    found = []
    for step in steps_of(action, SIZE, lambda: Keyboard(KEYMAP, caps, num)):
        if isinstance(step, Lend):
            found.append("lend")
        elif isinstance(step, Report):
            for event in step.events:
                data = event["data"]
                if "axis" in data:
                    continue
                name = data["key"]["data"] if "key" in data else data["button"]
                found.append(("+" if data["down"] else "-") + name)
    return found


@given(st.integers(1, 8192), st.data())
def test_the_guest_finds_the_very_pixel_again(extent: int, data: st.DataObject) -> None:
    """For any size of screen: scaled to the tablet and back it is the same pixel, and monotone."""
    place = data.draw(st.integers(0, extent - 1))
    report = move(Point(place, 0), (extent, 1))
    value = report.events[0]["data"]["value"]
    assert 0 <= value < FULL_SCALE
    assert value * extent // FULL_SCALE == place


def test_every_event_is_a_report_of_its_own() -> None:
    """A press and a release in one report cancel each other in the guest."""
    for action in (TypeText("qQ"), Click(Point(1, 1), count=2), Key(("ctrl", "q"))):
        for step in steps_of(action, SIZE, lambda: Keyboard(KEYMAP)):
            if isinstance(step, Pace):
                continue
            assert isinstance(step, Report)
            assert len(step.events) == 1 or step.device is Device.TABLET


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        (TypeText("qQW@"), "+q -q +shift +q -q +w -w -shift +alt_r +q -q -alt_r"),
        (TypeText("q\n\tw"), "+q -q +ret -ret +tab -tab +w -w"),
        (Key(("ctrl", "shift", "q")), "+ctrl +shift +q -q -shift -ctrl"),
        (Key(("@",)), "+alt_r +q -q -alt_r"),
        (Key(("shift", "Q")), "+shift +q -q -shift"),
        (Click(Point(0, 0), count=2), "+left -left +left -left"),
        (Click(Point(0, 0), held=("ctrl",)), "+ctrl +left -left -ctrl"),
        (Drag((Point(0, 0), Point(9, 9))), "+left -left"),
        (
            Scroll(Point(0, 0), dx=-1, dy=2),
            "+extra -extra +extra -extra +side -side",
        ),
    ],
)
def test_actions_become_these_events(action, expected: str) -> None:
    """Modifiers that a key needs are held for it, and only as long as they are needed."""
    assert events(action) == expected.split()


def test_locks_that_would_change_the_text_are_off_while_typing() -> None:
    """And on again afterwards; Num Lock is set for the keypad's digits alone."""
    caps, num = ["+caps_lock", "-caps_lock"], ["+num_lock", "-num_lock"]
    assert events(TypeText("q"), caps=True) == [*caps, "+q", "-q", *caps]
    assert events(Key(("kp_7",)), num=False) == [*num, "+kp_7", "-kp_7", *num]
    assert events(Key(("kp_7",)), num=True) == ["+kp_7", "-kp_7"]


def test_what_no_key_gives_is_lent_before_it_is_typed() -> None:
    """Once a part, and then pressed like any other."""
    assert events(TypeText("é"))[0] == "lend"
    assert len(events(TypeText("ééé"))) == 1 + 3 * 2


@given(st.text(st.characters(exclude_categories=("Cc", "Cs", "Cn")), max_size=120))
def test_parts_are_the_text_and_lend_enough(text: str) -> None:
    """Nothing is lost or reordered; in a part each key means one thing, and parts in a row lend others."""
    try:
        names = names_of(text)
    except Unsupported:
        return
    parts = list(parts_of(names, KEYMAP))
    assert tuple(itertools.chain.from_iterable(part for part, _ in parts)) == names
    for part, loans in parts:
        assert len(set(loans.values())) == len(loans)
        assert all(name in KEYMAP.strokes or name in loans for name in part)
    for (_, before), (_, after) in itertools.pairwise(parts):
        assert set(before.values()).isdisjoint(after.values())


@given(st.characters(categories=("Cc", "Cs")))
def test_what_is_no_character_cannot_be_typed(char: str) -> None:
    """Line feed and tab are keys; all other controls and halves of characters are refused."""
    if char in "\n\t":
        assert names_of(char) in {("enter",), ("tab",)}
    else:
        with pytest.raises(Unsupported):
            names_of(f"a{char}")


def test_a_drag_comes_by_every_point() -> None:
    """In several steps, ending where it was told to."""
    for end in (Point(3, 0), Point(60, 10), Point(900, 700)):
        way = between(Point(0, 0), end)
        assert 3 <= len(way) <= 32
        assert way[-1] == end
        assert [point.x for point in way] == sorted(point.x for point in way)


def test_moving_needs_no_keyboard() -> None:
    """The guest is not asked for its layout when nothing is typed."""

    def never() -> Keyboard:
        raise AssertionError("asked")

    assert list(steps_of(Move(Point(1, 1)), SIZE, never))


def test_the_tables_of_keys_are_whole() -> None:
    """Each name once, the usual rows where Linux has them, and every code within X's range."""
    assert len(set(QCODES.values())) == len(QCODES)
    rows = {1: "esc", 16: "q", 30: "a", 44: "z", 57: "spc", 83: "kp_decimal"}
    assert {code: QCODES[code] for code in rows} == rows
    assert all(8 < code < 256 for code in KEYCODES)
    assert keys.NAMED
