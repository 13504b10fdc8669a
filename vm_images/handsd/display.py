"""The one thread that owns the X connection: it looks, acts, and keeps the clipboard."""

from __future__ import annotations

import os
import queue
import select
import threading
import time
from collections.abc import Callable
from ctypes import byref, c_int
from dataclasses import dataclass
from typing import Any, TypeVar

from practicum.vm_images.handsd import session, xlib
from practicum.vm_images.handsd.actions import Hands
from practicum.vm_images.handsd.clipboard import Clipboard
from practicum.vm_images.handsd.keyboard import Keyboard
from practicum.vm_images.handsd.pointer import Pointer
from practicum.vm_images.handsd.screen import Screen
from practicum.vm_images.handsd.xlib import Connection, DisplayError, XEvent, x11, xfixes, xtst

T = TypeVar("T")

_RETRY = 0.005
_FIRST_PAINT = 1.6
_BUSY_BOUND = 0.6
_BUSY_LOOK = 0.008
_DAMAGE_REST = 0.01
"""How long an idle loop leaves a busy screen alone between two looks at its damage."""


@dataclass(frozen=True, slots=True)
class Observation:
    png: bytes
    width: int
    height: int
    settled: bool
    waited: float


class Display:
    """Everything here but `call` and `start` runs on its own thread."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._wake = os.eventfd(0, os.EFD_NONBLOCK)
        self._acted_at = 0.0
        self._unread = False
        self._handlers: dict[int, Callable[[XEvent], None]] = {}
        self._failure: DisplayError | None = None

    def start(self, deadline: float) -> None:
        """Connect before `deadline` (monotonic), then serve for ever."""
        threading.Thread(target=self._serve, args=(deadline,), daemon=True, name="display").start()

    def call(self, job: Callable[[], T]) -> T:
        """Run a job on the display's thread. Raises what it raises."""
        done = threading.Event()
        results: list[T] = []
        errors: list[Exception] = []

        def work() -> None:
            try:
                if self._failure is not None:
                    raise self._failure
                results.append(job())
            except Exception as error:  # noqa: BLE001 - carried to the caller's thread, where it is typed
                errors.append(error)
            done.set()

        self._jobs.put(work)
        os.eventfd_write(self._wake, 1)
        done.wait()
        for error in errors:
            raise error
        return results[0]

    def observe(self, quiet: float, bound: float) -> Observation:
        """What an action leads to begins when the application has read of it, which may be late."""
        asked = time.monotonic()
        if self._unread:
            session.drain(self, bound)
            self._unread, self._acted_at = False, time.monotonic()
        spent = time.monotonic() - asked
        settled, waited = self.settle(quiet, max(0.0, bound - spent))
        width, height = self.screen.size
        return Observation(self.screen.png(), width, height, settled, spent + waited)

    def act(self, actions: list[dict[str, Any]]) -> None:
        try:
            for action in actions:
                self.hands.do(action)
        finally:
            self.x.sync()
            self._unread, self._acted_at = True, time.monotonic()

    def settle(self, quiet: float, bound: float) -> tuple[bool, float]:
        """Wait until nothing was painted for `quiet` seconds, `bound` at most: (settled, seconds waited).

        After an action the first paint may come late, so it is given a little more time to appear, and
        more than that while the application has work to do.
        """
        started = time.monotonic()
        while True:
            self.pump()
            now = time.monotonic()
            painted, acted = self.screen.changed_at, self._acted_at
            quiet_at = painted + quiet if painted > acted else acted + _FIRST_PAINT * quiet
            if now >= started + bound:
                return now >= quiet_at, now - started
            if now >= quiet_at:
                idle = now >= acted + _BUSY_BOUND or not session.is_busy(self)
                if idle and not self._more_comes(painted):
                    return True, now - started
                quiet_at = now + _BUSY_LOOK
            self._rest(min(quiet_at, started + bound) - now)

    def _more_comes(self, painted: float) -> bool:
        """Whether requests that clients had sent by now painted something. The server takes turns: when it
        answers us for the second time, it has answered everybody once."""
        self.x.sync()
        self.x.sync()
        self.pump()
        return self.screen.changed_at != painted

    def ready(self, deadline: float) -> None:
        """Return when the session stands: window manager, panel, a settled picture. Raises `DisplayError`."""
        session.await_shell(self, deadline)
        settled, _ = self.settle(0.03, max(0.0, deadline - time.monotonic()))
        if not settled:
            raise DisplayError("the desktop never came to rest")

    def pump(self) -> None:
        """Take in every event that has arrived."""
        for event in self.x.events():
            handler = self._handlers.get(event.type)
            if handler is not None:
                handler(event)

    def wait_for(self, done: Callable[[], bool], deadline: float) -> bool:
        """Take in events until `done`, or until `deadline` (monotonic); returns whether it was."""
        while True:
            self.pump()
            if done():
                return True
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            self._rest(left)

    def on(self, event_type: int, handler: Callable[[XEvent], None]) -> None:
        self._handlers[event_type] = handler

    def pace(self, seconds: float) -> None:
        """Let the screen go on for a moment, as a hand does."""
        self.wait_for(lambda: False, time.monotonic() + seconds)

    def _rest(self, seconds: float) -> None:
        if not x11.XPending(self.x.display):  # an answer may have brought events along, unseen by select
            select.select([self.x.fileno], [], [], seconds)

    def _serve(self, deadline: float) -> None:
        self._connect(deadline)
        while True:
            watched: list[int] = [self._wake]
            alive = self._failure is None
            resting = alive and time.monotonic() - self.screen.changed_at < _DAMAGE_REST
            if alive and not resting:
                watched.append(self.x.fileno)
            bound = _DAMAGE_REST if resting else 0 if alive and x11.XPending(self.x.display) else None
            ready, _, _ = select.select(watched, [], [], bound)
            if self._wake in ready:
                os.eventfd_read(self._wake)
            if alive:
                self.pump()
            while not self._jobs.empty():
                self._jobs.get()()

    def _connect(self, deadline: float) -> None:
        while True:
            try:
                return self._open()
            except DisplayError as error:
                if time.monotonic() >= deadline:
                    self._failure = error
                    return None
                select.select([], [], [], _RETRY)

    def _open(self) -> None:
        self.x = Connection()
        event, error, major, minor = c_int(), c_int(), c_int(), c_int()
        if not xtst.XTestQueryExtension(
            *(self.x.display, byref(event), byref(error), byref(major), byref(minor))
        ):
            raise DisplayError("the X server has no XTEST extension")
        self.screen = Screen(self.x)
        self.clipboard = Clipboard(self)
        keyboard = Keyboard(self.x, drained=lambda: session.drain_keys(self))
        self.hands = Hands(
            keyboard, Pointer(self.x, self.pace, taken=lambda: session.await_manager(self)), self
        )
        self.on(self.screen.damage_event, lambda _: self.screen.damaged())
        self.on(keyboard.change_event, lambda _: keyboard.forget())
        self.on(xlib.CONFIGURE_NOTIFY, self._configured)
        x11.XSelectInput(self.x.display, self.x.root, xlib.STRUCTURE_NOTIFY_MASK | xlib.PROPERTY_CHANGE_MASK)
        xfixes.XFixesSelectCursorInput(self.x.display, self.x.root, xlib.CURSOR_DISPLAY_NOTIFY_MASK)
        self.x.sync()

    def _configured(self, event: XEvent) -> None:
        size = (event.configure.width, event.configure.height)
        if event.configure.target == self.x.root and size != self.screen.size:
            self.screen.resized()
