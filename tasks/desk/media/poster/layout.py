"""A poster as its brief describes it: a few flat shapes and lines of text on a page, in millimetres."""

from __future__ import annotations

from html import escape
from random import Random

import msgspec

Point = tuple[float, float]


class Rectangle(msgspec.Struct, frozen=True, tag=True):
    name: str
    x: float
    y: float
    width: float
    height: float
    fill: str

    def told(self) -> str:
        return (
            f"{self.name}: rectangle, top-left corner ({self.x:g}, {self.y:g}), "
            f"{self.width:g} wide, {self.height:g} high, colour {self.fill}"
        )

    def svg(self) -> str:
        box = f'x="{self.x:g}" y="{self.y:g}" width="{self.width:g}" height="{self.height:g}"'
        return f'<rect id="{self.name}" {box} fill="{self.fill}"/>'


class Disc(msgspec.Struct, frozen=True, tag=True):
    name: str
    x: float
    y: float
    radius: float
    fill: str

    def told(self) -> str:
        centre = f"centre ({self.x:g}, {self.y:g})"
        return f"{self.name}: circle, {centre}, radius {self.radius:g}, colour {self.fill}"

    def svg(self) -> str:
        place = f'cx="{self.x:g}" cy="{self.y:g}" r="{self.radius:g}"'
        return f'<circle id="{self.name}" {place} fill="{self.fill}"/>'


class Triangle(msgspec.Struct, frozen=True, tag=True):
    name: str
    corners: tuple[Point, Point, Point]
    fill: str

    def told(self) -> str:
        return f"{self.name}: triangle, corners {self._corners(', ')}, colour {self.fill}"

    def svg(self) -> str:
        points = " ".join(f"{x:g},{y:g}" for x, y in self.corners)
        return f'<polygon id="{self.name}" points="{points}" fill="{self.fill}"/>'

    def _corners(self, joint: str) -> str:
        return joint.join(f"({x:g}, {y:g})" for x, y in self.corners)


class Line(msgspec.Struct, frozen=True, tag=True):
    """One line of text: begins at `x`, stands on the baseline `y`; `size` is the font size in mm."""

    name: str
    text: str
    x: float
    y: float
    size: float
    bold: bool
    fill: str

    def told(self) -> str:
        weight = "bold" if self.bold else "normal"
        return (
            f'{self.name}: "{self.text}", flush left, begins at x = {self.x:g}, baseline at y = {self.y:g}, '
            f"font DejaVu Sans {weight}, font size {self.size:g} mm, colour {self.fill}"
        )

    def svg(self) -> str:
        weight = "bold" if self.bold else "normal"
        style = f'font-family="DejaVu Sans" font-weight="{weight}" font-size="{self.size:g}"'
        return f'<text x="{self.x:g}" y="{self.y:g}" {style} fill="{self.fill}">{escape(self.text)}</text>'


Shape = Rectangle | Disc | Triangle


class Poster(msgspec.Struct, frozen=True):
    width: float
    height: float
    format: str
    shapes: tuple[Shape, ...]
    lines: tuple[Line, ...]

    def brief(self) -> str:
        numbered = [f"{n}. {item.told()}" for n, item in enumerate(self.shapes, 1)]
        texts = [f"{n}. {item.told()}" for n, item in enumerate(self.lines, 1)]
        return "\n".join(
            [
                "POSTER BRIEF",
                "",
                f"Page: {self.format} portrait, {self.width:g} wide and {self.height:g} high.",
                "All lengths in millimetres; (0, 0) is the top-left corner of the page, y goes down.",
                "",
                "Shapes, from back to front:",
                *numbered,
                "",
                "Texts, in front of all shapes, one line each, kept as text:",
                *texts,
                "",
            ]
        )

    def svg(self) -> str:
        """As a person could write it: one unit is one millimetre."""
        size = f'width="{self.width:g}mm" height="{self.height:g}mm"'
        body = "\n".join(item.svg() for item in (*self.shapes, *self.lines))
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {self.width:g} {self.height:g}">'
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{head}\n{body}\n</svg>\n'


_PALETTES = (
    ("#14213d", "#fca311", "#2a6f97", "#e5e5e5", "#ffffff"),
    ("#264653", "#e9c46a", "#2a9d8f", "#e76f51", "#fefae0"),
    ("#3d2c5e", "#ff8fa3", "#6a4c93", "#ffca3a", "#fdf6ff"),
    ("#0b3c49", "#f4a259", "#5b8e7d", "#bc4b51", "#f6f4ea"),
)
_TALKS = (
    ("Tidal Flats", "An evening on mud, birds & eels"),
    ("Night Trains", "Kiruna – Palermo in four talks"),
    ("Bread & Salt", "Märkte, Öfen, Gewürze"),
    ("Quiet Machines", "Repair café for sewing machines"),
    ("Low Clouds", "A weather walk for beginners"),
)
_PLACES = ("Hall 3, Værftet", "Old Customs House, Łódź", "Kulturkirche St. Stephani", "Sala Güell, Girona")
_MONTHS = ("March", "April", "May", "September", "October", "November")


def draw_lots(rng: Random) -> Poster:
    width, height, name = rng.choice(((210.0, 297.0, "A4"), (297.0, 420.0, "A3")))
    ink, sun, hill, accent, paper = rng.choice(_PALETTES)
    title, subtitle = rng.choice(_TALKS)
    scale = width / 210.0
    left = float(round(rng.randrange(14, 23) * scale))

    def mm(low: int, high: int) -> float:
        return round(rng.randrange(2 * low, 2 * high) / 2 * scale * 2) / 2

    band = mm(222, 232)
    peak = (mm(70, 110), mm(132, 150))
    shapes: tuple[Shape, ...] = (
        Rectangle("Background", 0, 0, width, height, ink),
        Disc("Sun", mm(120, 160), mm(124, 138), mm(36, 48), sun),
        Triangle("Hill", ((mm(4, 22), band), peak, (mm(180, 204), band)), hill),
        Rectangle("Band", 0, band, width, mm(28, 40), accent),
    )
    hour = f"{rng.randrange(17, 21)}:{rng.choice(('00', '15', '30'))}"
    when = f"{rng.randrange(2, 29)} {rng.choice(_MONTHS)} 2027, {hour}"
    lines = (
        Line("Title", title, left, mm(40, 48), mm(15, 17), True, paper),
        Line("Subtitle", subtitle, left, mm(57, 64), mm(8, 9), False, sun),
        Line("Date", when, left, band + round(16 * scale), mm(9, 10), True, ink),
        Line("Place", rng.choice(_PLACES), left, round(height - 18 * scale), mm(8, 10), False, paper),
    )
    return Poster(width, height, name, shapes, lines)
