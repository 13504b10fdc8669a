"""Give keys other meanings, all in one request: each change of the keymap sets every client to work.

Arguments: KEYCODE=NAME, where NAME is the X name of a key or one character.
"""

from __future__ import annotations

import sys
from ctypes import POINTER, byref, c_int, c_ulong, c_void_p

sys.path.insert(0, "/opt/practicum")

from practicum.vm_images.handsd.keymap import keysym_named, keysym_of
from practicum.vm_images.handsd.xlib import Connection, x11

x11.XGetKeyboardMapping.restype = POINTER(c_ulong)
x11.XGetKeyboardMapping.argtypes = (c_void_p, c_int, c_int, POINTER(c_int))


def main() -> None:
    pairs = (word.split("=", 1) for word in sys.argv[1:])
    loans = {int(code): keysym_of(name) if len(name) == 1 else keysym_named(name) for code, name in pairs}
    connection = Connection()
    first, width = min(loans), c_int()
    count = max(loans) - first + 1
    present = x11.XGetKeyboardMapping(connection.display, first, count, byref(width))
    table = (c_ulong * (count * width.value))(*present[: count * width.value])
    for keycode, keysym in loans.items():
        start = (keycode - first) * width.value
        table[start : start + width.value] = [keysym] * width.value
    x11.XChangeKeyboardMapping(connection.display, first, width.value, table, count)
    connection.sync()


main()
