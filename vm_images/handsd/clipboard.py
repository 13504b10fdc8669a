"""The clipboard as text, owned by a window of ours that is never shown."""

from __future__ import annotations

import time
from ctypes import byref
from typing import TYPE_CHECKING

from practicum.vm_images.handsd import xlib
from practicum.vm_images.handsd.xlib import XEvent, x11

if TYPE_CHECKING:
    from practicum.vm_images.handsd.display import Display

_PROPERTY = "PRACTICUM_CLIPBOARD"
_TEXT = ("UTF8_STRING", "STRING", "TEXT", "text/plain", "text/plain;charset=utf-8")


class Clipboard:
    def __init__(self, display: Display) -> None:
        self._display = display
        self._x = display.x
        self.window = x11.XCreateSimpleWindow(self._x.display, self._x.root, -10, -10, 1, 1, 0, 0, 0)
        self._text = b""
        x11.XSelectInput(self._x.display, self.window, xlib.PROPERTY_CHANGE_MASK)
        display.on(xlib.SELECTION_REQUEST, self._answer)

    def set(self, text: str) -> None:
        self._text = text.encode()
        x11.XSetSelectionOwner(self._x.display, self._x.atom("CLIPBOARD"), self.window, 0)
        self._x.sync()

    def get(self, bound: float) -> str | None:
        """The text of whoever owns the clipboard; None when there is none or it does not answer."""
        answers: list[int] = []
        self._display.on(xlib.SELECTION_NOTIFY, lambda event: answers.append(event.selection.property))
        atom = self._x.atom
        x11.XConvertSelection(
            *(self._x.display, atom("CLIPBOARD"), atom("UTF8_STRING"), atom(_PROPERTY), self.window, 0)
        )
        deadline = time.monotonic() + bound
        if not self._display.wait_for(lambda: bool(answers), deadline) or not answers[0]:
            return None
        kind, value = self._x.property(self.window, _PROPERTY, delete=True)
        if kind == atom("INCR"):
            value = self._increments(deadline)
        return value.decode("utf-8", "replace")

    def _increments(self, deadline: float) -> bytes:
        """A long text comes in pieces, the last one empty; deleting each asks for the next."""
        fresh: list[bool] = []

        def changed(event: XEvent) -> None:
            if event.property.window == self.window and event.property.state == 0:
                fresh.append(True)

        self._display.on(xlib.PROPERTY_NOTIFY, changed)
        whole = b""
        while self._display.wait_for(lambda: bool(fresh), deadline):
            fresh.clear()
            piece = self._x.property(self.window, _PROPERTY, delete=True)[1]
            if not piece:
                return whole
            whole += piece
        return whole

    def _answer(self, event: XEvent) -> None:
        request = event.request
        atom = self._x.atom
        target = request.property or request.target
        granted = 0
        with self._x.forgiving():
            if request.target == atom("TARGETS"):
                offered = b"".join(atom(name).to_bytes(8, "little") for name in ("TARGETS", *_TEXT))
                self._put(request.requestor, target, offered, kind=atom("ATOM"), form=32)
                granted = target
            elif request.target in {atom(name) for name in _TEXT}:
                self._put(request.requestor, target, self._text, kind=request.target, form=8)
                granted = target
            reply = XEvent(type=xlib.SELECTION_NOTIFY)
            reply.selection.window, reply.selection.selection = request.requestor, request.selection
            reply.selection.target, reply.selection.property = request.target, granted
            reply.selection.time = request.time
            x11.XSendEvent(self._x.display, request.requestor, 0, 0, byref(reply))

    def _put(self, window: int, name: int, value: bytes, *, kind: int, form: int) -> None:
        count = len(value) * 8 // (64 if form == 32 else form)
        x11.XChangeProperty(self._x.display, window, name, kind, form, 0, value, count)
