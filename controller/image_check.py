"""Open every program an image offers, each in a fresh desk, and see whether its window appears, alone.

A second window beside the program's own is a greeting or a warning that an agent would have to click away,
and fails the check as a missing one does.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from practicum.infra.desk.desk import Accessible, Capability, Desk, DeskProvider, DeskSpec, Label, Settle
from practicum.vm_images.builder import Images
from practicum.vm_images.recipe import Offer

BOUND = 60.0
"""Seconds a program may take to show its window on a busy machine."""

_PACE = Settle(quiet=0.3, bound=1.0)
_SETTLED = Settle(quiet=1.0, bound=15.0)
_LABEL = "image-check"


@dataclass(frozen=True, slots=True)
class Window:
    application: str
    title: str


@dataclass(frozen=True, slots=True)
class Checked:
    """`reason` is empty where all is well; `elements` are the accessible objects it showed."""

    image: str
    program: str
    title: str
    ok: bool
    reason: str
    seconds: float
    elements: int
    screenshot: Path


def check_image(
    name: str, images: Images, provider: DeskProvider, pictures: Path, bound: float = BOUND
) -> Iterator[Checked]:
    """One result for each program that the image adds to its parent's, as it comes.

    Raises `UnknownImage`, and `InfraError` where the desk itself fails."""
    pictures.mkdir(parents=True, exist_ok=True)
    spec = DeskSpec(image=name, memory=3072)
    for offer in images.recipes.get(name).offers:
        label = Label(run=_LABEL, trial=f"{name}-{offer.name}", deadline=time.time() + 2 * bound + 60)
        with provider.open(spec, label) as desk:
            yield _check(name, offer, desk, pictures / f"{name}-{offer.name}.png", bound)


def _check(name: str, offer: Offer, desk: Desk, picture: Path, bound: float) -> Checked:
    began = time.monotonic()
    desk.run(("sh", "-c", 'setsid -f "$@" >/tmp/program.log 2>&1', "sh", *offer.argv))
    appeared = _await(desk, lambda: sum(_belongs(offer, window) for window in windows(desk)), began + bound)
    seconds = time.monotonic() - began
    # Objects come from the program's main loop, so a window that shows some has been painted.
    elements = _await(desk, lambda: _elements(desk), began + bound) if appeared else 0
    picture.write_bytes(desk.observe(_SETTLED).png)
    found = windows(desk)
    reason = _complaint(offer, found, elements) if appeared else _silence(desk, found, bound)
    return Checked(
        image=name,
        program=offer.name,
        title=offer.title,
        ok=not reason,
        reason=reason,
        seconds=seconds,
        elements=elements,
        screenshot=picture,
    )


def windows(desk: Desk) -> tuple[Window, ...]:
    """The windows of the session, its panel aside."""
    listed = desk.run(("desk-windows",)).stdout.decode("utf-8", "replace")
    rows = (line.split("\t", 1) for line in listed.splitlines() if "\t" in line)
    return tuple(Window(application, title) for application, title in rows)


def _await(desk: Desk, count: Callable[[], int], deadline: float) -> int:
    """The first count that is not 0, or 0 when the time is over."""
    while not (found := count()) and time.monotonic() < deadline:
        desk.observe(_PACE)
    return found


def _belongs(offer: Offer, window: Window) -> bool:
    return any(re.search(offer.window, text) for text in (window.title, window.application))


def _complaint(offer: Offer, found: tuple[Window, ...], elements: int) -> str:
    if not any(_belongs(offer, window) for window in found):
        return "its window went away again"
    others = [window.title or window.application for window in found if not _belongs(offer, window)]
    if others:
        return f"opens with another window: {', '.join(others)}"
    return "" if elements else "shows no accessible objects"


def _silence(desk: Desk, found: tuple[Window, ...], bound: float) -> str:
    log = desk.run(("tail", "-n", "3", "/tmp/program.log")).stdout.decode("utf-8", "replace").strip()
    instead = f"; instead: {', '.join(window.title for window in found)}" if found else ""
    return f"no window within {bound:g} s{instead}" + (f"; it said: {log}" if log else "")


def _elements(desk: Desk) -> int:
    if Capability.ACCESSIBILITY not in desk.capabilities:
        return 0
    return len(cast(Accessible, desk).elements())  # the contract: the capability means the method
