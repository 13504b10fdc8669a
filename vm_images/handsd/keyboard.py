"""Hands on the keyboard: text by the live keymap, spare keys for what it lacks, chords in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from ctypes import byref, c_int, c_ulong, create_string_buffer

from practicum.vm_images.handsd import xlib
from practicum.vm_images.handsd.keymap import Keymap, KeymapReader, Stroke, Symbol, keysym_named, keysym_of
from practicum.vm_images.handsd.xlib import Connection, x11, xtst

_NAMED_CHARACTERS = {"\n": "Return", "\t": "Tab"}
_MODIFIER_KEYSYMS = range(0xFFE1, 0xFFEF)
_COLUMNS = 4  # two levels in each of two groups: the same meaning whatever is held
_LEVEL_SHIFTS = (0xFE03, 0xFE11)


class CannotType(Exception):
    """No key can stand for this; nothing was pressed."""


class Keyboard:
    """`drained` returns once the focused window has read every key sent to it so far.

    A client asks the server for the keymap when it *reads* of a change, so a key may get another meaning
    only after whoever was sent it in the old one has read it.
    """

    def __init__(self, connection: Connection, drained: Callable[[], None]) -> None:
        self._x = connection
        self._reader = KeymapReader(connection)
        self.change_event = self._reader.change_event
        self._drained = drained
        self._keymap: Keymap | None = None
        self._layout = 0
        self._loans: dict[Symbol, int] = {}

    def forget(self) -> None:
        """The keymap changed."""
        self._keymap = None

    def type(self, text: str) -> None:
        """Raises `CannotType` before anything is pressed."""
        symbols = [_symbol(_NAMED_CHARACTERS.get(character, character)) for character in text]
        with self._locks_off():
            for part in self._parts(symbols):
                self._lend(part)
                self._strike([self._stroke(symbol) for symbol in part])

    @contextmanager
    def held(self, chord: Sequence[str]) -> Iterator[None]:
        """Press keys in order, release them in reverse. Each is an X keysym name or one character."""
        symbols = [_symbol(name) for name in chord]
        self._lend(symbols)
        strokes = [self._stroke(symbol) for symbol in symbols]
        pressed: list[int] = []
        with self._num_lock_for(strokes):
            try:
                for keycode in self._in_order(symbols, strokes):
                    self._key(keycode, press=True)
                    pressed.append(keycode)
                yield
            finally:
                for keycode in reversed(pressed):
                    self._key(keycode, press=False)

    def _in_order(self, symbols: list[Symbol], strokes: list[Stroke]) -> Iterator[int]:
        """The keycodes of a chord, with the modifiers that a key's level needs and nobody named."""
        live = self._live()
        named = {stroke.keycode for symbol, stroke in zip(symbols, strokes, strict=True) if _modifies(symbol)}
        given = sum(bit for bit, keycode in live.holders.items() if keycode in named)
        for stroke in strokes:
            missing = stroke.modifiers & ~given & ~live.num_lock
            given |= missing
            yield from live.holding(missing)
            yield stroke.keycode

    def _strike(self, strokes: Iterable[Stroke]) -> None:
        live = self._live()
        held = 0
        for stroke in strokes:
            for keycode in live.holding(held & ~stroke.modifiers):
                self._key(keycode, press=False)
            for keycode in live.holding(stroke.modifiers & ~held):
                self._key(keycode, press=True)
            held = stroke.modifiers
            self._key(stroke.keycode, press=True)
            self._key(stroke.keycode, press=False)
        for keycode in live.holding(held):
            self._key(keycode, press=False)
        x11.XFlush(self._x.display)

    def _key(self, keycode: int, *, press: bool) -> None:
        xtst.XTestFakeKeyEvent(self._x.display, keycode, int(press), 0)

    def _live(self) -> Keymap:
        layout = self._state().group
        if self._keymap is None or layout != self._layout:
            self._keymap, self._layout = self._reader.read(layout), layout
            self._loans = {
                symbol: keycode
                for symbol, keycode in self._loans.items()
                if self._keymap.by_keysym.get(symbol.keysym) == Stroke(keycode)
            }
        return self._keymap

    def _stroke(self, symbol: Symbol) -> Stroke:
        stroke = self._live().find(symbol)
        if stroke is None:
            raise CannotType(f"no key for {symbol.character or hex(symbol.keysym)}")
        return stroke

    def _parts(self, symbols: list[Symbol]) -> Iterator[list[Symbol]]:
        """Cut where the spare keys would not suffice for all that is missing."""
        live = self._live()
        lent = set(self._loans)
        room = len({*live.spare, *self._loans.values()})
        part: list[Symbol] = []
        borrowed: set[Symbol] = set()
        for symbol in symbols:
            if live.find(symbol) is None or symbol in lent:
                if symbol not in borrowed and len(borrowed) == room:
                    yield part
                    part, borrowed = [], set()
                borrowed.add(symbol)
            part.append(symbol)
        yield part

    def _lend(self, symbols: Iterable[Symbol]) -> None:
        """Give spare keys the meanings that are missing, taking back those unused for longest."""
        live = self._live()
        wanted = list(dict.fromkeys(symbols))
        for symbol in wanted:
            if symbol in self._loans:
                self._loans[symbol] = self._loans.pop(symbol)
        missing = [symbol for symbol in wanted if live.find(symbol) is None]
        if not missing:
            return
        lent = set(self._loans.values())
        free = [keycode for keycode in live.spare if keycode not in lent][: len(missing)]
        old = [symbol for symbol in self._loans if symbol not in wanted][: len(missing) - len(free)]
        if len(free) + len(old) < len(missing):
            raise CannotType("this keyboard has too few spare keys")
        if old:
            self._drained()
            free += [self._loans.pop(symbol) for symbol in old]
        self._loans |= dict(zip(missing, free, strict=True))
        self._assign(free)
        self._x.sync()
        self.forget()

    def _assign(self, keycodes: list[int]) -> None:
        """In one request, the keys between as they are: each request makes every client, the window manager
        first, read the whole keymap anew."""
        first, count, width = min(keycodes), max(keycodes) - min(keycodes) + 1, c_int()
        current = x11.XGetKeyboardMapping(self._x.display, first, count, byref(width))
        columns = (c_ulong * (count * width.value))(*current[: count * width.value])
        x11.XFree(current)
        meanings = {keycode: symbol.keysym for symbol, keycode in self._loans.items()}
        for keycode in keycodes:
            start = (keycode - first) * width.value
            same = min(_COLUMNS, width.value)
            for column in range(width.value):
                columns[start + column] = meanings[keycode] if column < same else 0
        x11.XChangeKeyboardMapping(self._x.display, first, width.value, columns, count)

    def _state(self) -> xlib.XkbState:
        state = xlib.XkbState()
        x11.XkbGetState(self._x.display, xlib.USE_CORE_KEYBOARD, byref(state))
        return state

    @contextmanager
    def _locks_off(self) -> Iterator[None]:
        """Caps Lock would change what is typed, and a key left down would change what it means."""
        state = self._state()
        if state.base_mods:
            self._release_all()
        locked = state.locked_mods & ~self._live().num_lock
        if not locked:
            yield
            return
        x11.XkbLockModifiers(self._x.display, xlib.USE_CORE_KEYBOARD, locked, 0)
        try:
            yield
        finally:
            x11.XkbLockModifiers(self._x.display, xlib.USE_CORE_KEYBOARD, locked, locked)
            x11.XFlush(self._x.display)

    @contextmanager
    def _num_lock_for(self, strokes: list[Stroke]) -> Iterator[None]:
        bit = self._live().num_lock
        needed = any(stroke.modifiers & bit for stroke in strokes) and not self._state().locked_mods & bit
        if needed:
            x11.XkbLockModifiers(self._x.display, xlib.USE_CORE_KEYBOARD, bit, bit)
        try:
            yield
        finally:
            if needed:
                x11.XkbLockModifiers(self._x.display, xlib.USE_CORE_KEYBOARD, bit, 0)

    def _release_all(self) -> None:
        down = create_string_buffer(32)
        x11.XQueryKeymap(self._x.display, down)
        for keycode in range(8, 256):
            if down.raw[keycode // 8] >> keycode % 8 & 1:
                self._key(keycode, press=False)


def _symbol(name: str) -> Symbol:
    """A key by its X name, or one character."""
    keysym = keysym_of(name) if len(name) == 1 else keysym_named(name)
    if keysym == 0:
        raise CannotType(f"no key can stand for {name!r}")
    return Symbol(keysym, name if len(name) == 1 else None)


def _modifies(symbol: Symbol) -> bool:
    return symbol.keysym in _MODIFIER_KEYSYMS or symbol.keysym in _LEVEL_SHIFTS
