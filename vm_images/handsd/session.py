"""What the graphical session says of itself through window properties."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from ctypes import byref
from pathlib import Path
from typing import TYPE_CHECKING

from practicum.vm_images.handsd import xlib
from practicum.vm_images.handsd.xlib import DisplayError, XEvent, x11

if TYPE_CHECKING:
    from practicum.vm_images.handsd.display import Display

_PING_BOUND = 1.0
_MANAGER_BOUND = 0.25
_RUNNABLE = frozenset("RD")


def await_shell(display: Display, deadline: float) -> None:
    """Return when a window manager and a panel are there. Raises `DisplayError` naming what is missing."""
    if not display.wait_for(
        lambda: bool(display.x.longs(display.x.root, "_NET_SUPPORTING_WM_CHECK")), deadline
    ):
        raise DisplayError("no window manager appeared")
    if not display.wait_for(lambda: _has_panel(display), deadline):
        raise DisplayError("no panel appeared")


def drain(display: Display, bound: float) -> bool:
    """Return when the active window has read its events, as its answer to a ping shows. False when it
    understands no ping, or has not answered within `bound` seconds."""
    window = active_window(display)
    understood = display.x.longs(window, "WM_PROTOCOLS") if window else []
    return display.x.atom("_NET_WM_PING") in understood and _ping(display, window, bound)


def drain_keys(display: Display) -> None:
    """As `drain`, and what answers no ping is given time to rest."""
    if not drain(display, _PING_BOUND):
        display.settle(0.1, _PING_BOUND)


def await_manager(display: Display) -> None:
    """Return when the window manager has dealt with everything before: it answers a question about a
    window of ours (_NET_REQUEST_FRAME_EXTENTS). Without one, or with one that hangs, after a moment."""
    x = display.x
    if not x.longs(x.root, "_NET_SUPPORTING_WM_CHECK"):
        return
    answer = x.atom("_NET_FRAME_EXTENTS")
    answered: list[bool] = []

    def seen(event: XEvent) -> None:
        if event.property.window == display.clipboard.window and event.property.atom == answer:
            answered.append(True)

    display.on(xlib.PROPERTY_NOTIFY, seen)
    event = XEvent(type=xlib.CLIENT_MESSAGE)
    event.client.window, event.client.format = display.clipboard.window, 32
    event.client.message_type = x.atom("_NET_REQUEST_FRAME_EXTENTS")
    mask = xlib.SUBSTRUCTURE_NOTIFY_MASK | xlib.SUBSTRUCTURE_REDIRECT_MASK
    x11.XSendEvent(x.display, x.root, 0, mask, byref(event))
    display.wait_for(lambda: bool(answered), time.monotonic() + _MANAGER_BOUND)


def is_busy(display: Display) -> bool:
    """Whether a thread of the active window's process has work to do."""
    window = active_window(display)
    owners = display.x.longs(window, "_NET_WM_PID") if window else []
    return bool(owners) and any(state in _RUNNABLE for state in thread_states(owners[0]))


def thread_states(pid: int) -> Iterator[str]:
    """The state letter of each thread of a process, as proc(5) has them; none of a process that is gone."""
    with suppress(FileNotFoundError, ProcessLookupError):
        for thread in os.scandir(f"/proc/{pid}/task"):
            yield Path(thread.path, "stat").read_text("ascii", "replace").rpartition(")")[2].split()[0]


def active_window(display: Display) -> int:
    windows = display.x.longs(display.x.root, "_NET_ACTIVE_WINDOW")
    return windows[0] if windows else 0


def _has_panel(display: Display) -> bool:
    dock = display.x.atom("_NET_WM_WINDOW_TYPE_DOCK")
    windows = display.x.longs(display.x.root, "_NET_CLIENT_LIST")
    return any(dock in display.x.longs(window, "_NET_WM_WINDOW_TYPE") for window in windows)


def _ping(display: Display, window: int, bound: float) -> bool:
    """Ask as a window manager asks; the answer comes to the root window."""
    x = display.x
    answered: list[int] = []
    stamp = int(time.monotonic() * 1000) & 0x7FFFFFFF

    def seen(event: XEvent) -> None:
        data = event.client.data
        if data[0] == x.atom("_NET_WM_PING") and data[1] == stamp:
            answered.append(stamp)

    display.on(xlib.CLIENT_MESSAGE, seen)
    usual = xlib.STRUCTURE_NOTIFY_MASK | xlib.PROPERTY_CHANGE_MASK
    x11.XSelectInput(x.display, x.root, usual | xlib.SUBSTRUCTURE_NOTIFY_MASK)
    event = XEvent(type=xlib.CLIENT_MESSAGE)
    event.client.window, event.client.message_type, event.client.format = window, x.atom("WM_PROTOCOLS"), 32
    event.client.data[0], event.client.data[1] = x.atom("_NET_WM_PING"), stamp
    event.client.data[2] = window
    with x.forgiving():
        x11.XSendEvent(x.display, window, 0, 0, byref(event))
    try:
        return display.wait_for(lambda: bool(answered), time.monotonic() + bound)
    finally:
        x11.XSelectInput(x.display, x.root, usual)
