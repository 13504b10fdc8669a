"""The X libraries of the guest by ctypes: only what hands and eyes need.

Every call of one connection is made from the one thread that owns the display.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    Union,
    byref,
    c_char_p,
    c_int,
    c_long,
    c_uint,
    c_ulong,
    c_void_p,
)
from typing import Any

DAMAGE_REPORT_NON_EMPTY = 3
CURSOR_DISPLAY_NOTIFY_MASK = 1
PROPERTY_CHANGE_MASK = 1 << 22
STRUCTURE_NOTIFY_MASK = 1 << 17
SUBSTRUCTURE_NOTIFY_MASK = 1 << 19
SUBSTRUCTURE_REDIRECT_MASK = 1 << 20
Z_PIXMAP = 2
ALL_PLANES = 0xFFFFFFFF
USE_CORE_KEYBOARD = 0x100

CONFIGURE_NOTIFY = 22
PROPERTY_NOTIFY = 28
SELECTION_CLEAR = 29
SELECTION_REQUEST = 30
SELECTION_NOTIFY = 31
CLIENT_MESSAGE = 33


class DisplayError(Exception):
    """The X server refused a request, or cannot be reached."""


class ShmSegment(Structure):
    _fields_ = (("seg", c_ulong), ("id", c_int), ("addr", c_void_p), ("read_only", c_int))


class XImage(Structure):
    """The first fields of an XImage, as far as they are read here."""

    _fields_ = (
        ("width", c_int),
        ("height", c_int),
        ("xoffset", c_int),
        ("format", c_int),
        ("data", c_void_p),
        ("byte_order", c_int),
        ("bitmap_unit", c_int),
        ("bitmap_bit_order", c_int),
        ("bitmap_pad", c_int),
        ("depth", c_int),
        ("bytes_per_line", c_int),
        ("bits_per_pixel", c_int),
    )


class CursorImage(Structure):
    _fields_ = (
        ("x", ctypes.c_short),
        ("y", ctypes.c_short),
        ("width", ctypes.c_ushort),
        ("height", ctypes.c_ushort),
        ("xhot", ctypes.c_ushort),
        ("yhot", ctypes.c_ushort),
        ("serial", c_ulong),
        ("pixels", POINTER(c_ulong)),
        ("atom", c_ulong),
        ("name", c_char_p),
    )


class XkbState(Structure):
    _fields_ = (
        ("group", ctypes.c_ubyte),
        ("locked_group", ctypes.c_ubyte),
        ("base_group", ctypes.c_ushort),
        ("latched_group", ctypes.c_ushort),
        ("mods", ctypes.c_ubyte),
        ("base_mods", ctypes.c_ubyte),
        ("latched_mods", ctypes.c_ubyte),
        ("locked_mods", ctypes.c_ubyte),
        ("compat_state", ctypes.c_ubyte),
        ("grab_mods", ctypes.c_ubyte),
        ("compat_grab_mods", ctypes.c_ubyte),
        ("lookup_mods", ctypes.c_ubyte),
        ("compat_lookup_mods", ctypes.c_ubyte),
        ("ptr_buttons", ctypes.c_ushort),
    )


class ErrorEvent(Structure):
    _fields_ = (
        ("type", c_int),
        ("display", c_void_p),
        ("resource", c_ulong),
        ("serial", c_ulong),
        ("error_code", ctypes.c_ubyte),
        ("request_code", ctypes.c_ubyte),
        ("minor_code", ctypes.c_ubyte),
    )


class _Any(Structure):
    _fields_ = (
        ("type", c_int),
        ("serial", c_ulong),
        ("send_event", c_int),
        ("display", c_void_p),
        ("window", c_ulong),
    )


class _Configure(Structure):
    _fields_ = (
        *_Any._fields_,
        ("target", c_ulong),
        ("x", c_int),
        ("y", c_int),
        ("width", c_int),
        ("height", c_int),
    )


class _ClientMessage(Structure):
    _fields_ = (*_Any._fields_, ("message_type", c_ulong), ("format", c_int), ("data", c_long * 5))


class _SelectionRequest(Structure):
    """Its `window` is the owner."""

    _fields_ = (
        *_Any._fields_,
        ("requestor", c_ulong),
        ("selection", c_ulong),
        ("target", c_ulong),
        ("property", c_ulong),
        ("time", c_ulong),
    )


class _Selection(Structure):
    """Its `window` is the requestor."""

    _fields_ = (
        *_Any._fields_,
        ("selection", c_ulong),
        ("target", c_ulong),
        ("property", c_ulong),
        ("time", c_ulong),
    )


class _Property(Structure):
    _fields_ = (*_Any._fields_, ("atom", c_ulong), ("time", c_ulong), ("state", c_int))


class XEvent(Union):
    _fields_ = (
        ("type", c_int),
        ("any", _Any),
        ("configure", _Configure),
        ("client", _ClientMessage),
        ("request", _SelectionRequest),
        ("selection", _Selection),
        ("property", _Property),
        ("pad", c_long * 24),
    )


def _load(name: str) -> ctypes.CDLL:
    return ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)


def _declare(library: ctypes.CDLL, name: str, result: Any, *arguments: Any) -> None:
    function = getattr(library, name)
    function.restype = result
    function.argtypes = arguments


x11 = _load("libX11.so.6")
xext = _load("libXext.so.6")
xtst = _load("libXtst.so.6")
xfixes = _load("libXfixes.so.3")
xdamage = _load("libXdamage.so.1")

_P, _L, _I, _U = c_void_p, c_ulong, c_int, c_uint
_pointers = POINTER(c_void_p)
_ints = POINTER(c_int)

_declare(x11, "XOpenDisplay", _P, c_char_p)
_declare(x11, "XDefaultRootWindow", _L, _P)
_declare(x11, "XDefaultScreen", _I, _P)
_declare(x11, "XDefaultVisual", _P, _P, _I)
_declare(x11, "XDefaultDepth", _I, _P, _I)
_declare(x11, "XConnectionNumber", _I, _P)
_declare(x11, "XSync", _I, _P, _I)
_declare(x11, "XFlush", _I, _P)
_declare(x11, "XPending", _I, _P)
_declare(x11, "XNextEvent", _I, _P, POINTER(XEvent))
_declare(x11, "XSelectInput", _I, _P, _L, c_long)
_declare(x11, "XInternAtom", _L, _P, c_char_p, _I)
_declare(x11, "XFree", _I, _P)
_declare(x11, "XGetWindowProperty", _I, _P, _L, _L, c_long, c_long, _I, _L,
         POINTER(_L), _ints, POINTER(_L), POINTER(_L), _pointers)  # fmt: skip
_declare(x11, "XChangeProperty", _I, _P, _L, _L, _L, _I, _I, c_char_p, _I)
_declare(x11, "XDeleteProperty", _I, _P, _L, _L)
_declare(x11, "XSendEvent", _I, _P, _L, _I, c_long, POINTER(XEvent))
_declare(x11, "XCreateSimpleWindow", _L, _P, _L, _I, _I, _U, _U, _U, _L, _L)
_declare(x11, "XQueryPointer", _I, _P, _L, POINTER(_L), POINTER(_L), _ints, _ints, _ints, _ints, POINTER(_U))
_declare(x11, "XQueryKeymap", _I, _P, c_char_p)
_declare(x11, "XGetGeometry", _I, _P, _L, POINTER(_L), _ints, _ints, POINTER(_U), POINTER(_U), POINTER(_U),
         POINTER(_U))  # fmt: skip
_declare(x11, "XGetKeyboardMapping", POINTER(_L), _P, ctypes.c_ubyte, _I, _ints)
_declare(x11, "XChangeKeyboardMapping", _I, _P, _I, _I, POINTER(_L), _I)
_declare(x11, "XkbGetState", _I, _P, _U, POINTER(XkbState))
_declare(x11, "XkbLockModifiers", _I, _P, _U, _U, _U)
_declare(x11, "XSetSelectionOwner", _I, _P, _L, _L, _L)
_declare(x11, "XGetSelectionOwner", _L, _P, _L)
_declare(x11, "XConvertSelection", _I, _P, _L, _L, _L, _L, _L)
_declare(xext, "XShmQueryExtension", _I, _P)
_declare(xext, "XShmCreateImage", POINTER(XImage), _P, _P, _U, _I, c_char_p, POINTER(ShmSegment), _U, _U)
_declare(xext, "XShmAttach", _I, _P, POINTER(ShmSegment))
_declare(xext, "XShmDetach", _I, _P, POINTER(ShmSegment))
_declare(xext, "XShmGetImage", _I, _P, _L, POINTER(XImage), _I, _I, _L)
_declare(xtst, "XTestQueryExtension", _I, _P, _ints, _ints, _ints, _ints)
_declare(xtst, "XTestFakeKeyEvent", _I, _P, _U, _I, _L)
_declare(xtst, "XTestFakeButtonEvent", _I, _P, _U, _I, _L)
_declare(xtst, "XTestFakeMotionEvent", _I, _P, _I, _I, _I, _L)
_declare(xfixes, "XFixesQueryExtension", _I, _P, _ints, _ints)
_declare(xfixes, "XFixesGetCursorImage", POINTER(CursorImage), _P)
_declare(xfixes, "XFixesSelectCursorInput", None, _P, _L, _L)
_declare(xdamage, "XDamageQueryExtension", _I, _P, _ints, _ints)
_declare(xdamage, "XDamageCreate", _L, _P, _L, _I)
_declare(xdamage, "XDamageSubtract", None, _P, _L, _L, _L)

_ErrorHandler = CFUNCTYPE(c_int, c_void_p, POINTER(ErrorEvent))
_errors: list[str] = []


def _remember(_display: int, event: Any) -> int:
    error = event.contents
    _errors.append(f"X error {error.error_code} on request {error.request_code}.{error.minor_code}")
    return 0


_handler = _ErrorHandler(_remember)
x11.XSetErrorHandler(_handler)


class Connection:
    """One connection to the X server and its root window."""

    def __init__(self) -> None:
        self.display: int | None = x11.XOpenDisplay(None)
        if not self.display:
            raise DisplayError("no X server answers")
        self.root: int = x11.XDefaultRootWindow(self.display)
        self.fileno: int = x11.XConnectionNumber(self.display)
        self._atoms: dict[str, int] = {}

    def atom(self, name: str) -> int:
        if name not in self._atoms:
            self._atoms[name] = x11.XInternAtom(self.display, name.encode(), 0)
        return self._atoms[name]

    def sync(self) -> None:
        """Return when the server has carried out everything sent so far. Raises `DisplayError`."""
        x11.XSync(self.display, 0)
        if _errors:
            message = "; ".join(_errors)
            _errors.clear()
            raise DisplayError(message)

    @contextmanager
    def forgiving(self) -> Iterator[None]:
        """For requests about windows of others, which may vanish at any moment."""
        try:
            yield
        finally:
            x11.XSync(self.display, 0)
            _errors.clear()

    def events(self) -> Iterator[XEvent]:
        """Whatever has arrived, without waiting."""
        event = XEvent()
        while x11.XPending(self.display):
            x11.XNextEvent(self.display, byref(event))
            yield event

    def geometry(self, window: int) -> tuple[int, int]:
        root, x, y = c_ulong(), c_int(), c_int()
        width, height, border, depth = c_uint(), c_uint(), c_uint(), c_uint()
        x11.XGetGeometry(
            *(self.display, window, byref(root), byref(x), byref(y)),
            *(byref(width), byref(height), byref(border), byref(depth)),
        )
        return width.value, height.value

    def property(self, window: int, name: str, *, delete: bool = False) -> tuple[int, bytes]:
        """Type atom and value of a property, numbers as C longs; (0, b"") when there is none."""
        kind, form, count, left, data = c_ulong(), c_int(), c_ulong(), c_ulong(), c_void_p()
        with self.forgiving():
            x11.XGetWindowProperty(
                *(self.display, window, self.atom(name), 0, 1 << 26, int(delete), 0),
                *(byref(kind), byref(form), byref(count), byref(left), byref(data)),
            )
        if not data:
            return 0, b""
        size = {8: 1, 16: 2, 32: ctypes.sizeof(c_long)}.get(form.value, 0) * count.value
        value = ctypes.string_at(data, size)
        x11.XFree(data)
        return kind.value, value

    def longs(self, window: int, name: str) -> list[int]:
        value = self.property(window, name)[1]
        return list(memoryview(value).cast("L")) if len(value) % 8 == 0 else []

    def pointer(self) -> tuple[int, int]:
        root, child, x, y, wx, wy, mask = c_ulong(), c_ulong(), c_int(), c_int(), c_int(), c_int(), c_uint()
        x11.XQueryPointer(
            *(self.display, self.root, byref(root), byref(child)),
            *(byref(x), byref(y), byref(wx), byref(wy), byref(mask)),
        )
        return x.value, y.value
