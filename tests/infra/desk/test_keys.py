"""Key names of every vendor mean the same key, and what nobody means is an error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from practicum.infra.desk import keys

# What each vocabulary calls some keys, from the published lists of xdotool/X11, OpenAI's computer-use
# actions, pyautogui and W3C UI Events, beside the canonical name.
SPELLINGS = [
    ("enter", ["Return", "ENTER", "enter", "Enter"]),
    ("page_down", ["Page_Down", "Next", "PAGEDOWN", "pagedown", "pgdn", "PageDown"]),
    ("ctrl", ["Control_L", "CTRL", "ctrlleft", "Control"]),
    ("super", ["Super_L", "CMD", "winleft", "command", "Meta", "win"]),
    ("alt", ["Alt_L", "ALT", "altright", "option"]),
    ("left", ["Left", "ARROWLEFT", "left", "ArrowLeft"]),
    ("escape", ["Escape", "ESC", "esc"]),
    ("delete", ["Delete", "DEL", "del"]),
    ("space", ["space", "SPACE", " "]),
    ("print_screen", ["Print", "printscreen", "prtsc", "PrintScreen"]),
    ("kp_7", ["KP_7", "num7", "Numpad7"]),
    ("f11", ["F11", "f11"]),
    ("?", ["question", "?"]),
    ("/", ["slash", "/"]),
]


@pytest.mark.parametrize(("name", "spellings"), SPELLINGS)
def test_vendors_spellings_are_one_key(name: str, spellings: list[str]) -> None:
    """Each vendor's name of a key reads as its canonical name."""
    assert {keys.canonical(spelling) for spelling in spellings} == {name}


@given(st.sampled_from(sorted(keys.NAMES)))
def test_reading_is_idempotent_and_ignores_case(spelling: str) -> None:
    """A canonical name reads as itself, and case never changes a named key."""
    name = keys.canonical(spelling)
    assert keys.canonical(name) == name
    if len(spelling) > 1:
        assert keys.canonical(spelling.upper()) == name


@given(st.lists(st.sampled_from([*sorted(keys.NAMED), *"abcxyz019+-=?/é"]), min_size=1, max_size=4))
def test_chords_round_trip(names: list[str]) -> None:
    """Rendering a chord and reading it again gives the same chord."""
    chord = keys.chord(names)
    assert keys.parse_chord(keys.render_chord(chord)) == chord


@given(st.sampled_from(keys.MODIFIERS), st.sampled_from("ABCDEFGHIJKLMNOPQRSTUVWXYZÄÉ"))
def test_letters_lose_their_case_under_a_modifier(modifier: str, letter: str) -> None:
    """`Ctrl+S` is the S key with Ctrl; Shift is held only when it is named."""
    assert keys.parse_chord(f"{modifier}+{letter}") == (modifier, letter.lower())


@pytest.mark.parametrize("text", ["", "ctrl+", "ctrl+sausage", "++", "hello", "ctrl++x", "\x07"])
def test_unknown_names_are_errors(text: str) -> None:
    """What no vocabulary has is refused, never typed as letters."""
    with pytest.raises(keys.UnknownKey):
        keys.parse_chord(text)


def test_plus_is_a_key() -> None:
    """The plus sign can be pressed alone and in a chord."""
    assert keys.parse_chord("+") == ("+",)
    assert keys.parse_chord("ctrl++") == ("ctrl", "+")
    assert keys.parse_chord("ctrl+plus") == ("ctrl", "+")


def test_every_named_key_has_a_keysym() -> None:
    """Named keys go to X by keysym; characters go by the keymap."""
    assert all(keys.keysym(name) for name in keys.NAMED)
    assert keys.keysym("a") is None
