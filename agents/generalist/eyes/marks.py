"""Set-of-marks eyes: numbered boxes drawn on the picture, by accessibility or by reading its words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec
from PIL import Image as Pictures
from PIL import ImageDraw, ImageFont

from practicum.agents.agent import Text
from practicum.agents.generalist.eyes.picture import Picture, decode, fitted, shrink
from practicum.agents.generalist.eyes.plain import unsettled
from practicum.agents.generalist.layers import Sight, Touch
from practicum.agents.generalist.limits import Limits
from practicum.agents.generalist.view import Size, Space, View
from practicum.infra.desk.desk import Element, Frame
from practicum.infra.environment import ToolCall

_COLOURS = ("#d62728", "#1f77b4", "#2ca02c", "#9467bd", "#8c564b", "#e377c2", "#17becf", "#bc5f00")


class Marker(Protocol):
    """Finds what deserves a mark in a frame; boxes in desk pixels."""

    def find(self, frame: Frame, touch: Touch) -> tuple[Element, ...]: ...


class AccessibilityMarker:
    """What the desk's accessibility tree says can be acted on."""

    roles = frozenset(
        {
            *("push button", "button", "toggle button", "radio button", "check box", "combo box", "entry"),
            *("text", "link", "menu", "menu item", "check menu item", "radio menu item", "page tab"),
            *("list item", "tree item", "table cell", "spin button", "slider", "password text", "icon"),
        }
    )

    def find(self, frame: Frame, touch: Touch) -> tuple[Element, ...]:
        """Empty where the desk has no accessibility tree: a picture without marks is still a picture."""
        answer = touch(ToolCall("eyes-elements", "computer", {"action": "elements"}))
        if answer.error is not None or answer.data is None:
            return ()
        elements = msgspec.convert(answer.data["elements"], type=list[Element])
        return tuple(each for each in elements if each.role in self.roles)


@dataclass(frozen=True, slots=True)
class MarkedEyes:
    """Draws at most `most` marks; the text beside the picture says what each stands on."""

    limits: Limits
    space: Space
    marker: Marker
    keep: int = 3
    side: int | None = None
    most: int = 150

    def guide(self, view: View) -> str:
        return (
            f"{view.spelled} Numbered boxes in the newest screenshot are marks; numbers are given anew "
            "in every screenshot. Where an action takes `mark`, it may stand in place of x and y."
        )

    def see(self, frame: Frame, touch: Touch) -> Sight:
        size = Size(frame.width, frame.height)
        found = visible(self.marker.find(frame, touch), size)[: self.most]
        wanted = fitted(size, min(self.side or self.limits.side, self.limits.side), self.limits.pixels)
        picture = decode(frame).resize((wanted.width, wanted.height), Pictures.Resampling.LANCZOS)
        draw_marks(picture, found, wanted.width / size.width)
        image = shrink(picture, wanted, self.limits.image_bytes)
        view = View(size, Size(image.width, image.height), self.space, found)
        legend = Text("\n".join(_legend(found)) or "No marks in this screenshot.")
        return Sight((*unsettled(frame), image, legend), view)


def visible(elements: Sequence[Element], size: Size) -> tuple[Element, ...]:
    """Those with an area whose middle is on the screen, one for each box."""
    seen: dict[tuple[int, int, int, int], Element] = {}
    for each in elements:
        middle_x, middle_y = each.x + each.width // 2, each.y + each.height // 2
        inside = 0 <= middle_x < size.width and 0 <= middle_y < size.height
        if inside and each.width > 2 and each.height > 2:
            seen.setdefault((each.x, each.y, each.width, each.height), each)
    return tuple(seen.values())


def draw_marks(picture: Picture, elements: Sequence[Element], scale: float) -> None:
    """A coloured outline and a number for each, in place; `scale` is sent pixels per desk pixel."""
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default(size=12)
    for number, each in enumerate(elements, 1):
        colour = _COLOURS[number % len(_COLOURS)]
        left, top = each.x * scale, each.y * scale
        right, bottom = (each.x + each.width) * scale - 1, (each.y + each.height) * scale - 1
        draw.rectangle((left, top, max(left, right), max(top, bottom)), outline=colour)
        label = str(number)
        width = draw.textlength(label, font=font) + 4
        tag_top = top - 13 if top >= 13 else top
        draw.rectangle((left, tag_top, left + width, tag_top + 13), fill=colour)
        draw.text((left + 2, tag_top), label, fill="white", font=font)


def _legend(elements: Iterable[Element]) -> Iterable[str]:
    for number, each in enumerate(elements, 1):
        text = f" = {each.text[:80]!r}" if each.text and each.text != each.name else ""
        yield f"[{number}] {each.role} {each.name[:80]!r}{text}"
