"""The live keymap: which key, with which modifiers, gives a character or a named key right now."""

from __future__ import annotations

import ctypes
from collections.abc import Container, Iterator
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_ubyte, c_uint, c_uint16, c_uint32, c_void_p
from dataclasses import dataclass, field

from practicum.vm_images.handsd.xlib import USE_CORE_KEYBOARD, Connection, DisplayError, x11

LOCK = 2
_UNUSED = tuple(
    f"XF86{name}"
    for name in (
        *("Battery", "Bluetooth", "Brightness", "Display", "DOS", "Finance", "Game", "Go", "Kbd", "Launch"),
        *("Messenger", "MonBrightness", "Next_VMode", "Prev_VMode", "RFKill", "RotateWindows", "Shop"),
        *("TaskPane", "Tools", "Touchpad", "UWB", "WebCam", "WLAN", "WWAN", "Xfer"),
    )
)
"""Keys of laptops that no program acts upon. Others it would: Chromium goes home at the key of XF86HomePage,
whatever character that key was given."""
_OUTLYING = range(208, 256)
_CHANGES = 0b11  # XkbNewKeyboardNotify and XkbMapNotify: whoever speaks XKB gets no MappingNotify

_xkb = ctypes.CDLL("libxkbcommon.so.0")
_xkb_x11 = ctypes.CDLL("libxkbcommon-x11.so.0")
_x11_xcb = ctypes.CDLL("libX11-xcb.so.1")


def _declare(library: ctypes.CDLL, name: str, result: object, *arguments: object) -> None:
    function = getattr(library, name)
    function.restype = result
    function.argtypes = arguments


_declare(_x11_xcb, "XGetXCBConnection", c_void_p, c_void_p)
_declare(_xkb, "xkb_context_new", c_void_p, c_int)
_declare(_xkb, "xkb_keymap_unref", None, c_void_p)
_declare(_xkb, "xkb_keymap_min_keycode", c_uint32, c_void_p)
_declare(_xkb, "xkb_keymap_max_keycode", c_uint32, c_void_p)
_declare(_xkb, "xkb_keymap_num_layouts_for_key", c_uint32, c_void_p, c_uint32)
_declare(_xkb, "xkb_keymap_num_levels_for_key", c_uint32, c_void_p, c_uint32, c_uint32)
_declare(_xkb, "xkb_keymap_key_get_syms_by_level", c_int, c_void_p, c_uint32, c_uint32, c_uint32,
         POINTER(POINTER(c_uint32)))  # fmt: skip
_declare(_xkb, "xkb_keymap_key_get_mods_for_level", c_size_t, c_void_p, c_uint32, c_uint32, c_uint32,
         POINTER(c_uint32), c_size_t)  # fmt: skip
_declare(_xkb, "xkb_keysym_to_utf32", c_uint32, c_uint32)
_declare(_xkb, "xkb_utf32_to_keysym", c_uint32, c_uint32)
_declare(_xkb, "xkb_keysym_get_name", c_int, c_uint32, c_char_p, c_size_t)
_declare(_xkb, "xkb_keysym_from_name", c_uint32, c_char_p, c_int)
_declare(_xkb_x11, "xkb_x11_setup_xkb_extension", c_int, c_void_p, c_uint16, c_uint16, c_int,
         *[c_void_p] * 4)  # fmt: skip
_declare(_xkb_x11, "xkb_x11_get_core_keyboard_device_id", ctypes.c_int32, c_void_p)
_declare(_xkb_x11, "xkb_x11_keymap_new_from_device", c_void_p, c_void_p, c_void_p, ctypes.c_int32, c_int)


class _ModifierMap(ctypes.Structure):
    _fields_ = (("per_modifier", c_int), ("keycodes", POINTER(ctypes.c_ubyte)))


_declare(x11, "XkbSelectEvents", c_int, c_void_p, c_uint, c_uint, c_uint)
_declare(x11, "XGetModifierMapping", POINTER(_ModifierMap), c_void_p)
_declare(x11, "XFreeModifiermap", c_int, c_void_p)


def keysym_of(character: str) -> int:
    """The keysym of a character; 0 for what no keysym can stand for (controls, surrogates, noncharacters)."""
    code = ord(character)
    return 0 if 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000 else int(_xkb.xkb_utf32_to_keysym(code))


def keysym_named(name: str) -> int:
    """The keysym of an X name such as `Page_Up`; 0 when there is none."""
    return int(_xkb.xkb_keysym_from_name(name.encode(), 0))


@dataclass(frozen=True, slots=True)
class Symbol:
    """What a key should mean: a character, or a named key when `character` is None."""

    keysym: int
    character: str | None = None


@dataclass(frozen=True, slots=True)
class Stroke:
    """One key, and the real modifiers that must be down for it."""

    keycode: int
    modifiers: int = 0


@dataclass(slots=True)
class Keymap:
    """One layout of the core keyboard. `spare` are the keycodes that mean nothing in any layout."""

    by_keysym: dict[int, Stroke] = field(default_factory=dict)
    by_character: dict[int, Stroke] = field(default_factory=dict)
    holders: dict[int, int] = field(default_factory=dict)
    num_lock: int = 0
    spare: list[int] = field(default_factory=list)

    def find(self, symbol: Symbol) -> Stroke | None:
        if symbol.character is None:
            return self.by_keysym.get(symbol.keysym)
        return self.by_character.get(ord(symbol.character))

    def holding(self, modifiers: int) -> list[int]:
        """Keycodes whose holding gives these real modifiers."""
        return [keycode for bit, keycode in self.holders.items() if modifiers & bit]


class KeymapReader:
    """Reads the server's keymap through xkbcommon, over the connection that Xlib made."""

    def __init__(self, connection: Connection) -> None:
        self._x = connection
        self._xcb = _x11_xcb.XGetXCBConnection(connection.display)
        self._context = _xkb.xkb_context_new(0)
        event = c_ubyte()
        if not _xkb_x11.xkb_x11_setup_xkb_extension(self._xcb, 1, 0, 0, None, None, byref(event), None):
            raise DisplayError("the X server has no XKB extension")
        self.change_event = event.value
        x11.XkbSelectEvents(connection.display, USE_CORE_KEYBOARD, _CHANGES, _CHANGES)

    def read(self, layout: int, pressable: Container[int] = range(256)) -> Keymap:
        """One layout, as far as the `pressable` keycodes go: a keyboard of plastic lacks some of them."""
        device = _xkb_x11.xkb_x11_get_core_keyboard_device_id(self._xcb)
        raw = _xkb_x11.xkb_x11_keymap_new_from_device(self._context, self._xcb, device, 0)
        if not raw:
            raise DisplayError("the keymap cannot be read")
        try:
            return self._index(raw, layout, pressable)
        finally:
            _xkb.xkb_keymap_unref(raw)

    def _index(self, raw: int, layout: int, pressable: Container[int]) -> Keymap:
        keymap = Keymap()
        modifying = self._find_holders(keymap, raw, layout, pressable)
        reachable = sum(keymap.holders) | keymap.num_lock
        keycodes = range(_xkb.xkb_keymap_min_keycode(raw), min(255, _xkb.xkb_keymap_max_keycode(raw)) + 1)
        table = {key: list(_levels(raw, key, layout)) for key in keycodes if key in pressable}
        keymap.spare = [keycode for keycode in _spare(table) if keycode not in modifying]
        for keycode, levels in table.items():
            keypad = any(0xFF80 <= keysym <= 0xFFBD for keysym, _ in levels)
            for keysym, ways in levels:
                usable = [mask for mask in ways if mask & ~reachable == 0]
                if usable:
                    stroke = Stroke(keycode, min(usable, key=lambda mask: (mask.bit_count(), -mask)))
                    _enter(keymap, keysym, stroke, keypad=keypad)
        return keymap

    def _find_holders(self, keymap: Keymap, raw: int, layout: int, pressable: Container[int]) -> set[int]:
        """Find the keys that hold Shift and the third and fifth level, and the modifier that Num Lock sets.

        Returns all keys that are modifiers.
        """
        wanted = {keysym_named(name) for name in ("Shift_L", "ISO_Level3_Shift", "ISO_Level5_Shift")}
        num_lock = keysym_named("Num_Lock")
        mapping = x11.XGetModifierMapping(self._x.display).contents
        size = mapping.per_modifier
        modifying = set(mapping.keycodes[: 8 * size])
        for modifier in range(8):
            for keycode in filter(None, mapping.keycodes[modifier * size : (modifier + 1) * size]):
                first = next(_levels(raw, keycode, layout), (0, ()))[0]
                if first in wanted and keycode in pressable:
                    keymap.holders.setdefault(1 << modifier, keycode)
                elif first == num_lock:
                    keymap.num_lock = 1 << modifier
        x11.XFreeModifiermap(byref(mapping))
        return modifying


def _levels(raw: int, keycode: int, layout: int) -> Iterator[tuple[int, list[int]]]:
    """The keysym of each level of a key, and the sets of real modifiers that reach it without a lock."""
    layouts = _xkb.xkb_keymap_num_layouts_for_key(raw, keycode)
    if not layouts:
        return
    layout %= layouts
    syms, masks = POINTER(c_uint32)(), (c_uint32 * 16)()
    for level in range(_xkb.xkb_keymap_num_levels_for_key(raw, keycode, layout)):
        if _xkb.xkb_keymap_key_get_syms_by_level(raw, keycode, layout, level, byref(syms)) != 1:
            continue
        ways = _xkb.xkb_keymap_key_get_mods_for_level(raw, keycode, layout, level, masks, 16)
        if syms[0]:
            yield int(syms[0]), [mask & 0xFF for mask in masks[:ways] if not mask & LOCK]


def _spare(table: dict[int, list[tuple[int, list[int]]]]) -> list[int]:
    """Keys without a meaning, or one that nobody uses, where only keys of one level lie between."""
    return [
        keycode
        for keycode, levels in table.items()
        if keycode in _OUTLYING and all(_name(keysym).startswith(_UNUSED) for keysym, _ in levels)
    ]


def _name(keysym: int) -> str:
    buffer = ctypes.create_string_buffer(64)
    _xkb.xkb_keysym_get_name(keysym, buffer, len(buffer))
    return buffer.value.decode()


def _enter(keymap: Keymap, keysym: int, stroke: Stroke, *, keypad: bool) -> None:
    _keep_simpler(keymap.by_keysym, keysym, stroke)
    character = _xkb.xkb_keysym_to_utf32(keysym)
    if character >= 0x20 and character != 0x7F and not keypad:
        _keep_simpler(keymap.by_character, character, stroke)


def _keep_simpler(table: dict[int, Stroke], key: int, stroke: Stroke) -> None:
    known = table.get(key)
    if known is None or stroke.modifiers.bit_count() < known.modifiers.bit_count():
        table[key] = stroke
