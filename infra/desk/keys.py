"""Key names: one canonical vocabulary, and the reading of every vendor's spelling into it.

Canonical names are lower case (`ctrl`, `enter`, `page_up`, `f5`, `kp_3`); every printable character is its
own name (`a`, `?`, `é`). Read here: X keysyms as xdotool and Anthropic's computer tool write them, OpenAI's
computer-use names, pyautogui's names, and the `key` values of W3C UI Events.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

MODIFIERS = ("ctrl", "shift", "alt", "super", "altgr")

_ALIASES: Mapping[str, Iterable[str]] = {
    "ctrl": ("control", "control_l", "control_r", "ctrlleft", "ctrlright", "ctl"),
    "shift": ("shift_l", "shift_r", "shiftleft", "shiftright"),
    "alt": ("alt_l", "alt_r", "altleft", "altright", "option", "optionleft", "optionright", "opt"),
    "super": (
        *("super_l", "super_r", "win", "winleft", "winright", "windows", "os", "hyper"),
        *("cmd", "command", "meta", "meta_l", "meta_r"),
    ),
    "altgr": ("altgraph", "iso_level3_shift", "alt_gr"),
    "enter": ("return", "ret", "\n", "\r", "linefeed"),
    "tab": ("\t",),
    "escape": ("esc",),
    "backspace": ("back_space", "bksp", "\b"),
    "delete": ("del",),
    "insert": ("ins",),
    "home": (),
    "end": (),
    "page_up": ("pageup", "pgup", "prior"),
    "page_down": ("pagedown", "pgdn", "pgdown", "next"),
    "left": ("arrowleft", "arrow_left", "leftarrow"),
    "right": ("arrowright", "arrow_right", "rightarrow"),
    "up": ("arrowup", "arrow_up", "uparrow"),
    "down": ("arrowdown", "arrow_down", "downarrow"),
    "space": ("spacebar",),
    "caps_lock": ("capslock", "caps"),
    "num_lock": ("numlock",),
    "scroll_lock": ("scrolllock",),
    "print_screen": ("printscreen", "prntscrn", "prtscr", "prtsc", "prtscn", "print", "snapshot"),
    "pause": ("break",),
    "menu": ("apps", "contextmenu", "context_menu"),
    "kp_enter": ("numpadenter", "kpenter"),
    "kp_add": ("add", "numpadadd"),
    "kp_subtract": ("subtract", "numpadsubtract"),
    "kp_multiply": ("multiply", "numpadmultiply"),
    "kp_divide": ("divide", "numpaddivide"),
    "kp_decimal": ("decimal", "numpaddecimal", "separator"),
}

_CHARACTERS: Mapping[str, Iterable[str]] = {
    "+": ("plus",),
    "-": ("minus", "hyphen", "dash"),
    "_": ("underscore",),
    "=": ("equal", "equals"),
    ",": ("comma",),
    ".": ("period", "dot", "fullstop"),
    "/": ("slash",),
    "\\": ("backslash",),
    ";": ("semicolon",),
    ":": ("colon",),
    "'": ("apostrophe", "quote", "quoteright", "singlequote"),
    '"': ("quotedbl", "doublequote"),
    "`": ("grave", "backtick", "quoteleft"),
    "~": ("asciitilde", "tilde"),
    "[": ("bracketleft", "leftbracket"),
    "]": ("bracketright", "rightbracket"),
    "{": ("braceleft", "leftbrace"),
    "}": ("braceright", "rightbrace"),
    "(": ("parenleft",),
    ")": ("parenright",),
    "<": ("less",),
    ">": ("greater",),
    "?": ("question",),
    "!": ("exclam",),
    "@": ("at",),
    "#": ("numbersign", "hash"),
    "$": ("dollar",),
    "%": ("percent",),
    "^": ("asciicircum", "caret"),
    "&": ("ampersand",),
    "*": ("asterisk",),
    "|": ("bar", "pipe"),
}

_KEYSYMS: Mapping[str, str] = {
    "ctrl": "Control_L",
    "shift": "Shift_L",
    "alt": "Alt_L",
    "super": "Super_L",
    "altgr": "ISO_Level3_Shift",
    "enter": "Return",
    "tab": "Tab",
    "escape": "Escape",
    "backspace": "BackSpace",
    "delete": "Delete",
    "insert": "Insert",
    "home": "Home",
    "end": "End",
    "page_up": "Page_Up",
    "page_down": "Page_Down",
    "left": "Left",
    "right": "Right",
    "up": "Up",
    "down": "Down",
    "space": "space",
    "caps_lock": "Caps_Lock",
    "num_lock": "Num_Lock",
    "scroll_lock": "Scroll_Lock",
    "print_screen": "Print",
    "pause": "Pause",
    "menu": "Menu",
    "kp_enter": "KP_Enter",
    "kp_add": "KP_Add",
    "kp_subtract": "KP_Subtract",
    "kp_multiply": "KP_Multiply",
    "kp_divide": "KP_Divide",
    "kp_decimal": "KP_Decimal",
    **{f"kp_{digit}": f"KP_{digit}" for digit in range(10)},
    **{f"f{number}": f"F{number}" for number in range(1, 25)},
}

NAMED: frozenset[str] = frozenset(_KEYSYMS)
"""Every canonical name that is not a printable character."""


class UnknownKey(ValueError):
    """A name that no vocabulary has. The caller's mistake; nothing was pressed."""

    def __init__(self, name: str) -> None:
        super().__init__(f"unknown key {name!r}")
        self.name = name


def _table() -> Mapping[str, str]:
    table = {name: name for name in NAMED}
    table |= {alias: name for name, aliases in _ALIASES.items() for alias in aliases}
    table |= {alias: char for char, aliases in _CHARACTERS.items() for alias in aliases}
    for digit in range(10):
        table |= {f"num{digit}": f"kp_{digit}", f"numpad{digit}": f"kp_{digit}", f"digit{digit}": str(digit)}
    return MappingProxyType(table)


NAMES: Mapping[str, str] = _table()
"""Every accepted spelling, lower case, to its canonical name."""


def canonical(name: str) -> str:
    """The canonical name of one key. Raises `UnknownKey`."""
    if len(name) == 1 and name.isprintable():
        return "space" if name == " " else name
    found = NAMES.get(name.lower() if len(name) == 1 else name.strip().lower())
    if found is None:
        raise UnknownKey(name)
    return found


def chord(names: Iterable[str]) -> tuple[str, ...]:
    """Keys pressed together, in the order given.

    Vendors write `Ctrl+S` and mean the S key: with a modifier held, letters lose their case, and Shift is
    held only when it is named. Raises `UnknownKey`, and for no keys at all.
    """
    keys = tuple(canonical(name) for name in names)
    if not keys:
        raise UnknownKey("")
    if any(key in MODIFIERS for key in keys):
        return tuple(key.lower() if len(key) == 1 and len(key.lower()) == 1 else key for key in keys)
    return keys


def parse_chord(text: str) -> tuple[str, ...]:
    """`ctrl+shift+s`, `ctrl++`, `+`: keys joined by plus signs. Raises `UnknownKey`."""
    if text == "+":
        return chord(("+",))
    if text.endswith("++"):
        return chord((*text[:-2].split("+"), "+"))
    return chord(text.split("+"))


def render_chord(keys: Iterable[str]) -> str:
    """The inverse of `parse_chord` for canonical keys."""
    return "+".join("plus" if key == "+" else key for key in keys)


def keysym(name: str) -> str | None:
    """The X keysym name of a canonical named key; `None` for a printable character."""
    return _KEYSYMS.get(name)
