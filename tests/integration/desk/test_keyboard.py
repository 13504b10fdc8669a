"""What an application receives is what was asked, or a typed refusal: text, keys, chords."""

from __future__ import annotations

from string import ascii_lowercase, ascii_uppercase

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from practicum.infra.desk import keys
from practicum.infra.desk.actions import Key, TypeText
from practicum.infra.errors import Unsupported

pytestmark = pytest.mark.docker

LAYOUTS = ["us", "de", "fr", "us(intl)", "ru", "gr", "jp", "us,ru"]
ASCII = "".join(map(chr, range(32, 127)))
PUNCTUATION = r"""~!@#$%^&*()_+{}|:"<>?`-=[]\;',./"""

bounded = settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
any_text = st.text(st.characters(exclude_categories=("Cc", "Cs", "Cn")), min_size=1, max_size=60)
mixed = st.text(
    st.sampled_from(ASCII + "äöüßéèçñ€£¥§°—“”…αβγДжщ日本語한국🙂🚀𝔘\n\t"), min_size=1, max_size=80
)

_PLAIN = f"1234567890-=[]\\;',./`{ascii_lowercase}"
_ABOVE = f'!@#$%^&*()_+{{}}|:"<>?~{ascii_uppercase}'
SHIFTED = dict(zip(_PLAIN, _ABOVE, strict=True))
MASKS = {"shift": 1, "ctrl": 4, "alt": 8, "super": 64}


@pytest.fixture(scope="module")
def area(window):
    window.show("text")
    return window


@pytest.fixture(scope="module", params=LAYOUTS)
def layout(request, area):
    """The desk under one keyboard layout, changed under the running application."""
    name, _, variant = request.param.rstrip(")").partition("(")
    done = area.desk.run(["setxkbmap", "-layout", name, "-variant", variant])
    assert done.exit_code == 0, done
    yield request.param
    area.desk.run(["setxkbmap", "us"])


def received(area, text: str) -> str | None:
    """What the application holds after `text` was typed; None when typing was refused."""
    try:
        area.desk.act(TypeText(text))
    except Unsupported:
        return None
    return area.text()


def test_every_printable_ascii_character_arrives(area, layout: str) -> None:
    """Shifted or not, under every layout, in both orders."""
    assert received(area, ASCII) == ASCII
    assert received(area, PUNCTUATION[::-1]) == PUNCTUATION[::-1]


@bounded
@given(text=mixed)
@example("日本語の文字列を入力する" * 3)
@example("aäaäAÄ" * 10)
@example("line one\n\tline two\n")
def test_usual_text_is_never_refused(area, layout: str, text: str) -> None:
    """Every letter arrives once and in order."""
    assert received(area, text) == text


@bounded
@given(text=any_text)
def test_any_text_arrives_or_is_refused(area, layout: str, text: str) -> None:
    """All planes; what no key can stand for is refused as a whole, before anything is typed."""
    found = received(area, text)
    if found is None:
        assert area.text() == ""
        assert any(ord(char) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(char) <= 0xFDEF for char in text)
    else:
        assert found == text


def test_more_foreign_characters_than_spare_keys(area) -> None:
    """Keys are lent again and again, and no letter gets the meaning of another."""
    for step in (7, 9):
        text = "".join(chr(0x4E00 + step * index) for index in range(400))
        assert received(area, text) == text


def test_caps_lock_does_not_change_what_is_typed(area) -> None:
    """And is as it was afterwards."""
    area.desk.act(Key(("caps_lock",)))
    try:
        assert received(area, "aBc éÉ 1!") == "aBc éÉ 1!"
        area.desk.act(Key(("a",)))
        assert area.text() == "A"
    finally:
        area.desk.act(Key(("caps_lock",)))
    area.desk.act(Key(("a",)))
    assert area.text() == "a"


@bounded
@given(char=st.characters(categories=("Cc", "Cs")))
def test_controls_are_refused(area, char: str) -> None:
    """Except for line feed and tab, nothing that is not a character is typed as one."""
    assume(char not in "\n\t")
    assert received(area, f"a{char}b") is None
    assert area.text() == ""


@pytest.fixture(scope="module")
def events(window):
    window.show("events")
    return window


@settings(bounded, max_examples=60)
@given(
    name=st.sampled_from(sorted(keys.NAMES)),
    modifiers=st.lists(st.sampled_from(["ctrl", "shift", "alt"]), unique=True),
)
def test_a_chord_is_pressed_in_order_and_released_in_reverse(events, name: str, modifiers: list[str]) -> None:
    """For every spelling of every vendor and every set of modifiers: exactly the canonical chord."""
    assume(keys.canonical(name) not in {"f12", "caps_lock", "num_lock", "scroll_lock", "super"})
    assume(keys.canonical(name) not in modifiers)
    assume(not ("shift" in modifiers and keys.canonical(name).startswith("kp_")))  # as Num Lock off
    assume(not window_manager_takes(keys.canonical(name), modifiers))
    chord = keys.chord((*modifiers, name))
    events.desk.act(Key(chord))
    seen = [entry for entry in events.events() if "key" in entry]
    pressed = [entry["key"] for entry in seen if entry["press"]]
    released = [entry["key"] for entry in seen if not entry["press"]]
    assert len(pressed) == len(released)
    assert [canonical_of(entry) for entry in seen if entry["press"]][-1] == shifted(chord)[-1]
    main = next(entry for entry in reversed(seen) if entry["press"])
    asked = sum(MASKS[modifier] for modifier in modifiers)
    assert main["state"] & asked == asked
    assert main["state"] & ~asked & (MASKS["ctrl"] | MASKS["alt"] | MASKS["super"]) == 0
    first_release = next(index for index, entry in enumerate(seen) if not entry["press"])
    assert all(entry["press"] for entry in seen[:first_release])
    assert not any(entry["press"] for entry in seen[first_release:])


def test_ctrl_s_is_not_an_s(events) -> None:
    """Control goes down before S and up after it."""
    events.desk.act(Key(keys.parse_chord("Ctrl+S")))
    seen = [(entry["key"], entry["press"]) for entry in events.events() if "key" in entry]
    assert seen == [("Control_L", True), ("s", True), ("s", False), ("Control_L", False)]


def test_a_key_is_held_for_as_long_as_asked(events) -> None:
    """It repeats meanwhile, as keys do, and is released once."""
    receipt = events.desk.act(Key(("x",), hold=1.0))
    seen = [entry for entry in events.events() if entry.get("key") == "x"]
    assert receipt.seconds >= 1.0
    assert len([entry for entry in seen if entry["press"]]) > 1


def window_manager_takes(key: str, modifiers: list[str]) -> bool:
    """Chords that are the window manager's or, with Control and Alt on the keypad, the X server's."""
    if {"ctrl", "alt"} <= set(modifiers) and key.startswith("kp_"):
        return True
    return "alt" in modifiers and key in {"tab", "space", "f4", "escape", *(f"f{n}" for n in range(1, 13))}


def canonical_of(entry: dict[str, object]) -> str:
    character = int(str(entry["character"]))
    if (
        character >= 32
        and not str(entry["key"]).startswith("KP_")
        and character != 127
        and entry["key"] != "space"
    ):
        return chr(character)
    names = {keys.keysym(name): name for name in keys.NAMED}
    names |= {"ISO_Left_Tab": "tab", "Sys_Req": "print_screen", "Break": "pause"}  # with a modifier held
    names |= {"Meta_L": "alt"}
    return names.get(str(entry["key"]), str(entry["key"]))


def shifted(chord: tuple[str, ...]) -> tuple[str, ...]:
    """With Shift held, the key of a character gives what stands above it."""
    above = SHIFTED if "shift" in chord else {}
    return tuple(above.get(key, key) for key in chord)
