"""From the guest's live keymap to the keys of the emulated keyboard.

An X keycode is a Linux input code plus eight, and QEMU calls keys by names of its own (`QKeyCode`). What the
keymap lacks is lent to keys that mean nothing to an office: the guest gives them the missing meaning, and
they are pressed like any other.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import msgspec

from practicum.infra.desk import keys
from practicum.infra.errors import Unsupported

_ROWS = (
    "esc 1 2 3 4 5 6 7 8 9 0 minus equal backspace tab q w e r t y u i o p bracket_left bracket_right ret "
    "ctrl a s d f g h j k l semicolon apostrophe grave_accent shift backslash z x c v b n m comma dot slash "
    "shift_r kp_multiply alt spc caps_lock f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 num_lock scroll_lock "
    "kp_7 kp_8 kp_9 kp_subtract kp_4 kp_5 kp_6 kp_add kp_1 kp_2 kp_3 kp_0 kp_decimal"
)
_REST = {
    **{86: "less", 87: "f11", 88: "f12", 89: "ro", 91: "hiragana", 92: "henkan", 93: "katakanahiragana"},
    **{94: "muhenkan", 96: "kp_enter", 97: "ctrl_r", 98: "kp_divide", 99: "print", 100: "alt_r", 102: "home"},
    **{
        103: "up",
        104: "pgup",
        105: "left",
        106: "right",
        107: "end",
        108: "down",
        109: "pgdn",
        110: "insert",
    },
    **{
        111: "delete",
        117: "kp_equals",
        119: "pause",
        121: "kp_comma",
        122: "lang1",
        123: "lang2",
        124: "yen",
    },
    **{125: "meta_l", 126: "meta_r", 127: "compose", 128: "stop", 129: "again", 130: "props", 131: "undo"},
    **{132: "front", 133: "copy", 134: "open", 135: "paste", 136: "find", 137: "cut", 138: "help"},
    **{
        140: "calculator",
        155: "mail",
        156: "ac_bookmarks",
        157: "computer",
        158: "ac_back",
        159: "ac_forward",
    },
    **{
        163: "audionext",
        164: "audioplay",
        165: "audioprev",
        166: "audiostop",
        172: "ac_home",
        173: "ac_refresh",
    },
    226: "mediaselect",
}
QCODES: Mapping[int, str] = dict(enumerate(_ROWS.split(), start=1)) | _REST
"""Linux input code to QEMU's name, for every key that is pressed here."""

_X_OFFSET = 8
_LENDABLE = (*range(129, 138), 140, 157)
"""Keys of old keyboards, close together since they are lent in one request. Media and browser keys are not
among them: Chromium acts upon those by their place, whatever they mean."""

_CHARACTER_NAMES = {"\n": "enter", "\t": "tab"}
KEYCODES = tuple(code + _X_OFFSET for code in QCODES)
"""X keycodes of every key that is pressed here."""


@dataclass(frozen=True, slots=True)
class Stroke:
    """A key by its X keycode, and the real modifiers it needs, as a bit mask."""

    keycode: int
    modifiers: int = 0

    @property
    def qcode(self) -> str:
        return QCODES[self.keycode - _X_OFFSET]


class _Told(msgspec.Struct, frozen=True):
    characters: dict[str, tuple[int, int]]
    named: dict[str, tuple[int, int]]
    holders: tuple[tuple[int, int], ...]
    num_lock: int


@dataclass(frozen=True, slots=True)
class Keymap:
    """One layout: `strokes` by character or canonical name, `holders` by the modifier they give."""

    strokes: Mapping[str, Stroke]
    holders: Mapping[int, Stroke]
    num_lock: int
    lendable: tuple[int, ...]

    @classmethod
    def read(cls, told: bytes) -> Keymap:
        """From the guest's account in JSON. Raises `msgspec.DecodeError`."""
        table = msgspec.json.decode(told, type=_Told)
        by_name = {keys.keysym(name): name for name in keys.NAMED}
        strokes = {char: Stroke(*where) for char, where in table.characters.items()}
        strokes |= {by_name[x]: Stroke(*where) for x, where in table.named.items()}
        taken = {stroke.keycode for stroke in strokes.values()}
        return cls(
            strokes=strokes,
            holders={bit: Stroke(keycode) for bit, keycode in table.holders},
            num_lock=table.num_lock,
            lendable=tuple(code + _X_OFFSET for code in _LENDABLE if code + _X_OFFSET not in taken),
        )

    def lent(self, loans: Mapping[str, int]) -> Keymap:
        """With keys lent to what was missing: names or characters to keycodes."""
        return Keymap(
            {**self.strokes, **{name: Stroke(keycode) for name, keycode in loans.items()}},
            self.holders,
            self.num_lock,
            self.lendable,
        )

    def missing(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those that no key gives, each once, in order."""
        return tuple(dict.fromkeys(name for name in names if name not in self.strokes))

    def holding(self, modifiers: int) -> Iterator[Stroke]:
        """The keys to hold down for a set of modifiers; Num Lock is not one that is held."""
        for bit, stroke in self.holders.items():
            if modifiers & bit:
                yield stroke


def names_of(text: str) -> tuple[str, ...]:
    """The keys of a text. Raises `Unsupported` for what no key can stand for."""
    for char in text:
        if char not in _CHARACTER_NAMES and _is_none(char):
            raise Unsupported(f"{char!r} cannot be typed")
    return tuple(_CHARACTER_NAMES.get(char, "space" if char == " " else char) for char in text)


def parts_of(names: tuple[str, ...], keymap: Keymap) -> Iterator[tuple[tuple[str, ...], dict[str, int]]]:
    """Cut where the lendable keys would not suffice; with each part, its loans of keycodes.

    Two parts in a row lend different keys: whoever was sent a key in its old meaning has time to read it.
    """
    room = len(keymap.lendable)
    part: list[str] = []
    loans: dict[str, int] = {}
    turn = 0
    for name in names:
        if name not in keymap.strokes and name not in loans:
            if len(loans) == max(1, room // 2) or not room:
                yield tuple(part), loans
                part, loans = [], {}
            if not room:
                raise Unsupported(f"this keyboard has no spare key for {name!r}")
            loans[name] = keymap.lendable[turn % room]
            turn += 1
        part.append(name)
    yield tuple(part), loans


def loan_words(loans: Mapping[str, int]) -> list[str]:
    """How the guest's program is told of loans: each keycode, and the X name or character it is to mean."""
    return [f"{keycode}={keys.keysym(name) or name}" for name, keycode in loans.items()]


def _is_none(char: str) -> bool:
    """Controls, surrogates and noncharacters have no keysym."""
    return (
        unicodedata.category(char) in {"Cc", "Cs"}
        or ord(char) & 0xFFFE == 0xFFFE
        or "\ufdd0" <= char <= "\ufdef"
    )
