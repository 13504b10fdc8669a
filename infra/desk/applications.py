"""What a fake desk shows: small deterministic programs that draw themselves and take hands' actions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from PIL import Image, ImageDraw

from practicum.infra.desk.actions import Action, Click, Drag, Key, Move, Point, Scroll, TypeText
from practicum.infra.desk.desk import Element

_INK = "#1d2430"
_PAPER = "#f7f5f0"
_BAND = "#2f5d8a"


class Application(Protocol):
    """Draws itself and receives every action; equal actions give equal pictures."""

    def draw(self, picture: Image.Image) -> None: ...

    def handle(self, action: Action) -> None: ...

    def elements(self) -> tuple[Element, ...]: ...


@dataclass(slots=True)
class Notepad:
    """One text area that takes what is typed; Enter and Backspace work, other chords are only logged."""

    text: str = ""
    log: list[Action] = field(default_factory=list)
    pointer: Point = field(default_factory=lambda: Point(0, 0))

    def draw(self, picture: Image.Image) -> None:
        pen = ImageDraw.Draw(picture)
        pen.rectangle((0, 0, picture.width, picture.height), fill=_PAPER)
        pen.rectangle((0, 0, picture.width, 27), fill=_BAND)
        pen.text((10, 7), "Notepad", fill="white")
        pen.multiline_text((16, 44), self.text, fill=_INK)
        x, y = self.pointer.x, self.pointer.y
        pen.polygon([(x, y), (x, y + 14), (x + 4, y + 11), (x + 10, y + 10)], fill=_INK)

    def handle(self, action: Action) -> None:
        self.log.append(action)
        match action:
            case TypeText(text):
                self.text += text
            case Key(("enter",)):
                self.text += "\n"
            case Key(("backspace",)):
                self.text = self.text[:-1]
            case Move(to) | Click(to) | Scroll(to):
                self.pointer = to
            case Drag(path):
                self.pointer = path[-1]

    def elements(self) -> tuple[Element, ...]:
        return (
            Element("frame", "Notepad", 0, 0, 1280, 800),
            Element("text", "", 0, 28, 1280, 772, ("focused", "editable"), self.text, 1),
        )


@dataclass(slots=True)
class Targets:
    """A page of numbered discs; remembers which number each click hit (`None` for a miss)."""

    width: int
    height: int
    columns: int = 8
    rows: int = 5
    radius: int = 6
    hits: list[int | None] = field(default_factory=list)

    def centre(self, number: int) -> Point:
        column, row = number % self.columns, number // self.columns
        return Point(
            round((column + 0.5) * self.width / self.columns), round((row + 0.5) * self.height / self.rows)
        )

    def draw(self, picture: Image.Image) -> None:
        pen = ImageDraw.Draw(picture)
        pen.rectangle((0, 0, picture.width, picture.height), fill=_PAPER)
        for number in range(self.columns * self.rows):
            at, reach = self.centre(number), self.radius
            pen.ellipse((at.x - reach, at.y - reach, at.x + reach, at.y + reach), fill=_BAND)
            pen.text((at.x + reach + 4, at.y - 5), str(number), fill=_INK)

    def handle(self, action: Action) -> None:
        if isinstance(action, Click):
            self.hits.extend([self._hit(action.at)] * action.count)

    def elements(self) -> tuple[Element, ...]:
        side = 2 * self.radius
        return tuple(
            Element("push button", str(number), at.x - self.radius, at.y - self.radius, side, side)
            for number in range(self.columns * self.rows)
            for at in (self.centre(number),)
        )

    def _hit(self, at: Point) -> int | None:
        for number in range(self.columns * self.rows):
            centre = self.centre(number)
            if (at.x - centre.x) ** 2 + (at.y - centre.y) ** 2 <= self.radius**2:
                return number
        return None
