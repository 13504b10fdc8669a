"""The live keymap as JSON on standard output: which keycode, with which real modifiers, gives what.

Arguments: the keycodes that the emulated keyboard has, joined by commas; then the X names of the keys that
are asked for besides characters.
"""

from __future__ import annotations

import json
import sys
from ctypes import byref

sys.path.insert(0, "/opt/practicum")

from practicum.vm_images.handsd import xlib
from practicum.vm_images.handsd.keymap import KeymapReader, Stroke, keysym_named


def tell(stroke: Stroke) -> list[int]:
    return [stroke.keycode, stroke.modifiers]


def main() -> None:
    connection = xlib.Connection()
    state = xlib.XkbState()
    xlib.x11.XkbGetState(connection.display, xlib.USE_CORE_KEYBOARD, byref(state))
    pressable = frozenset(map(int, sys.argv[1].split(",")))
    keymap = KeymapReader(connection).read(state.group, pressable)
    named = {name: keymap.by_keysym.get(keysym_named(name)) for name in sys.argv[2:]}
    told = {
        "characters": {chr(code): tell(stroke) for code, stroke in keymap.by_character.items()},
        "named": {name: tell(stroke) for name, stroke in named.items() if stroke is not None},
        "holders": [[bit, keycode] for bit, keycode in keymap.holders.items()],
        "num_lock": keymap.num_lock,
    }
    json.dump(told, sys.stdout)


main()
