"""Eyes: the root window through shared memory, with the cursor drawn in, encoded only when it changed."""

from __future__ import annotations

import ctypes
import os
import time
from ctypes import byref, c_int, c_void_p
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from practicum.vm_images.handsd import png, xlib
from practicum.vm_images.handsd.xlib import Connection, DisplayError, x11, xdamage, xext, xfixes

_IPC_PRIVATE, _IPC_CREAT, _IPC_RMID, _IPC_SET, _IPC_STAT = 0, 0o1000, 0, 1, 2
_UID_OFFSET = 4  # of shm_perm.uid in struct shmid_ds, on every Linux ABI of glibc
_X_SOCKETS = Path("/tmp/.X11-unix")

_libc = ctypes.CDLL(None, use_errno=True)
_libc.shmat.restype = c_void_p
_libc.shmat.argtypes = (c_int, c_void_p, c_int)
_libc.shmctl.argtypes = (c_int, c_int, c_void_p)
_libc.shmget.argtypes = (c_int, ctypes.c_size_t, c_int)


def _server_uid(display: str) -> int:
    return (_X_SOCKETS / f"X{display.rpartition(':')[2].partition('.')[0]}").stat().st_uid


def _segment(size: int) -> xlib.ShmSegment:
    """Shared memory that the X server may attach and the agent may not: it would hold what we see."""
    segment = _libc.shmget(_IPC_PRIVATE, size, _IPC_CREAT | 0o600)
    if segment < 0:
        raise DisplayError(f"shmget: {os.strerror(ctypes.get_errno())}")
    about = ctypes.create_string_buffer(512)
    _libc.shmctl(segment, _IPC_STAT, about)
    ctypes.c_uint32.from_buffer(about, _UID_OFFSET).value = _server_uid(os.environ["DISPLAY"])
    if _libc.shmctl(segment, _IPC_SET, about) < 0:
        raise DisplayError(f"shmctl: {os.strerror(ctypes.get_errno())}")
    return xlib.ShmSegment(0, segment, _libc.shmat(segment, None, 0), 0)


class Picture:
    """The shared image that the X server copies the screen into."""

    def __init__(self, connection: Connection) -> None:
        self._x = connection
        display = connection.display
        self.width, self.height = connection.geometry(connection.root)
        screen = x11.XDefaultScreen(display)
        self._segment = xlib.ShmSegment()
        self._image = xext.XShmCreateImage(
            *(display, x11.XDefaultVisual(display, screen), x11.XDefaultDepth(display, screen)),
            *(xlib.Z_PIXMAP, None, byref(self._segment), self.width, self.height),
        )
        image = self._image.contents
        if image.bits_per_pixel != 32:
            raise DisplayError(f"a screen of {image.bits_per_pixel} bits a pixel")
        self._stride = image.bytes_per_line
        made = _segment(self._stride * self.height)
        self._segment.id, self._segment.addr = made.id, made.addr
        image.data = made.addr
        try:
            xext.XShmAttach(display, byref(self._segment))
            connection.sync()
        finally:
            _libc.shmctl(made.id, _IPC_RMID, None)
        self._memory = (ctypes.c_char * (self._stride * self.height)).from_address(made.addr)

    def grab(self) -> Image.Image:
        xext.XShmGetImage(self._x.display, self._x.root, self._image, 0, 0, xlib.ALL_PLANES)
        self._x.sync()
        size = (self.width, self.height)
        return Image.frombuffer("RGB", size, self._memory, "raw", "BGRX", self._stride, 1)

    def close(self) -> None:
        xext.XShmDetach(self._x.display, byref(self._segment))
        self._x.sync()
        _libc.shmdt(c_void_p(self._segment.addr))


@dataclass(frozen=True, slots=True)
class Cursor:
    serial: int
    x: int
    y: int
    picture: Image.Image
    mask: Image.Image


def _cursor(connection: Connection, known: Cursor | None) -> Cursor | None:
    """None when nobody gave the screen a cursor."""
    found = xfixes.XFixesGetCursorImage(connection.display)
    if not found:
        return None
    image = found.contents
    try:
        x, y = image.x - image.xhot, image.y - image.yhot
        if known is not None and known.serial == image.serial:
            return Cursor(known.serial, x, y, known.picture, known.mask)
        pixels = image.pixels[: image.width * image.height]
        picture = Image.new("RGB", (image.width, image.height))
        picture.putdata([_straight(pixel) for pixel in pixels])
        mask = Image.new("L", (image.width, image.height))
        mask.putdata([pixel >> 24 & 255 for pixel in pixels])
        return Cursor(image.serial, x, y, picture, mask)
    finally:
        x11.XFree(found)


def _straight(pixel: int) -> tuple[int, int, int]:
    """The colour of an ARGB pixel whose colour was multiplied by its opacity."""
    alpha = pixel >> 24 & 255
    if alpha == 0:
        return (0, 0, 0)
    red, green, blue = pixel >> 16 & 255, pixel >> 8 & 255, pixel & 255
    return (min(255, red * 255 // alpha), min(255, green * 255 // alpha), min(255, blue * 255 // alpha))


class Screen:
    """The picture and when it last changed, on the monotonic clock."""

    def __init__(self, connection: Connection) -> None:
        self._x = connection
        event, error = c_int(), c_int()
        for query, name in (
            (xdamage.XDamageQueryExtension, "DAMAGE"),
            (xfixes.XFixesQueryExtension, "XFIXES"),
        ):
            if not query(connection.display, byref(event), byref(error)):
                raise DisplayError(f"the X server has no {name} extension")
            if name == "DAMAGE":
                self.damage_event = event.value
        self._damage = xdamage.XDamageCreate(
            connection.display, connection.root, xlib.DAMAGE_REPORT_NON_EMPTY
        )
        connection.sync()
        self._picture = Picture(connection)
        self._shown: Cursor | None = None
        self._png: bytes | None = None
        self.changed_at = time.monotonic()

    @property
    def size(self) -> tuple[int, int]:
        return self._picture.width, self._picture.height

    def damaged(self) -> None:
        """Acknowledge a damage event, so that the next change is reported too."""
        xdamage.XDamageSubtract(self._x.display, self._damage, 0, 0)
        x11.XFlush(self._x.display)
        self._png = None
        self.changed_at = time.monotonic()

    def resized(self) -> None:
        self._picture.close()
        self._picture = Picture(self._x)
        self._png = None

    def png(self) -> bytes:
        """The screen as it is now."""
        cursor = _cursor(self._x, self._shown)
        if self._png is None or _place(cursor) != _place(self._shown):
            image = self._picture.grab()
            if cursor is not None:
                image.paste(cursor.picture, (cursor.x, cursor.y), cursor.mask)
            self._png = png.encode(image)
        self._shown = cursor
        return self._png


def _place(cursor: Cursor | None) -> tuple[int, int, int] | None:
    return None if cursor is None else (cursor.serial, cursor.x, cursor.y)
