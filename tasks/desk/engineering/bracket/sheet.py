"""A drawing sheet in millimetres, y downwards, that is written as SVG and as PNG from the same strokes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from html import escape
from itertools import pairwise
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

PIXELS_PER_MM = 6.0
OVERSAMPLING = 2
ARROW = 2.6

Point = tuple[float, float]


class Style(StrEnum):
    VISIBLE = "visible"
    HIDDEN = "hidden"
    CENTRE = "centre"
    DIMENSION = "dimension"


WIDTH = {Style.VISIBLE: 0.5, Style.HIDDEN: 0.25, Style.CENTRE: 0.18, Style.DIMENSION: 0.18}
DASHES: dict[Style, tuple[float, ...]] = {Style.HIDDEN: (2.4, 1.2), Style.CENTRE: (6.0, 1.2, 1.2, 1.2)}


class Anchor(StrEnum):
    START = "start"
    MIDDLE = "middle"


@dataclass(frozen=True, slots=True)
class Line:
    start: Point
    end: Point
    style: Style


@dataclass(frozen=True, slots=True)
class Circle:
    centre: Point
    radius: float
    style: Style


@dataclass(frozen=True, slots=True)
class Arrow:
    """A filled head with its tip at a point, looking along `angle` (radians, y downwards)."""

    tip: Point
    angle: float

    def corners(self) -> tuple[Point, Point, Point]:
        x, y = self.tip
        back = [self.angle + math.pi + turn for turn in (-0.16, 0.16)]
        left, right = ((x + ARROW * math.cos(a), y + ARROW * math.sin(a)) for a in back)
        return self.tip, left, right


@dataclass(frozen=True, slots=True)
class Text:
    """Baseline at `at`; `size` is the font size in millimetres; upright text reads from below."""

    at: Point
    text: str
    size: float
    anchor: Anchor = Anchor.MIDDLE
    upright: bool = False


@dataclass(slots=True)
class Sheet:
    width: float
    height: float
    items: list[Line | Circle | Arrow | Text] = field(default_factory=list)

    def line(self, start: Point, end: Point, style: Style = Style.VISIBLE) -> None:
        self.items.append(Line(start, end, style))

    def polygon(self, *points: Point, style: Style = Style.VISIBLE) -> None:
        for start, end in zip(points, (*points[1:], points[0]), strict=True):
            self.line(start, end, style)

    def box(self, corner: Point, size: Point, style: Style = Style.VISIBLE) -> None:
        (x, y), (w, h) = corner, size
        self.polygon((x, y), (x + w, y), (x + w, y + h), (x, y + h), style=style)

    def circle(self, centre: Point, radius: float, style: Style = Style.VISIBLE) -> None:
        self.items.append(Circle(centre, radius, style))

    def text(self, at: Point, text: str, size: float = 3.5, anchor: Anchor = Anchor.MIDDLE) -> None:
        self.items.append(Text(at, text, size, anchor))

    def cross(self, centre: Point, reach: float) -> None:
        """Centre lines of a round feature seen along its axis."""
        x, y = centre
        self.line((x - reach, y), (x + reach, y), Style.CENTRE)
        self.line((x, y - reach), (x, y + reach), Style.CENTRE)

    def across(self, x1: float, x2: float, y: float, feature: float, text: str) -> None:
        """A horizontal dimension at height `y` of two edges that end at height `feature`."""
        side = 1.0 if y > feature else -1.0
        for x in (x1, x2):
            self.line((x, feature + side), (x, y + 1.5 * side), Style.DIMENSION)
        self._span((x1, y), (x2, y))
        self.items.append(Text(((x1 + x2) / 2, y - 0.9), text, 3.5))

    def along(self, y1: float, y2: float, x: float, feature: float, text: str) -> None:
        """A vertical dimension at `x` of two edges that end at `feature`."""
        side = 1.0 if x > feature else -1.0
        for y in (y1, y2):
            self.line((feature + side, y), (x + 1.5 * side, y), Style.DIMENSION)
        self._span((x, y1), (x, y2))
        self.items.append(Text((x - 0.9, (y1 + y2) / 2), text, 3.5, upright=True))

    def leader(self, tip: Point, knee: Point, text: str) -> None:
        """A note with an arrow to a feature; the text stands on a short shelf at the knee."""
        rightwards = 1.0 if knee[0] >= tip[0] else -1.0
        self.line(tip, knee, Style.DIMENSION)
        shelf = 1.75 * len(text) * rightwards
        self.line(knee, (knee[0] + shelf, knee[1]), Style.DIMENSION)
        self.items.append(Arrow(tip, math.atan2(tip[1] - knee[1], tip[0] - knee[0])))
        self.text((knee[0] + shelf / 2, knee[1] - 0.9), text)

    def _span(self, start: Point, end: Point) -> None:
        angle = math.atan2(end[1] - start[1], end[0] - start[0])
        length = math.dist(start, end)
        if length >= 3 * ARROW:
            self.line(start, end, Style.DIMENSION)
            self.items += [Arrow(end, angle), Arrow(start, angle + math.pi)]
            return
        out = (2 * ARROW * math.cos(angle), 2 * ARROW * math.sin(angle))
        self.line((start[0] - out[0], start[1] - out[1]), (end[0] + out[0], end[1] + out[1]), Style.DIMENSION)
        self.items += [Arrow(start, angle), Arrow(end, angle + math.pi)]


def write_svg(sheet: Sheet, path: Path) -> None:
    body = "\n".join(_svg(item) for item in sheet.items)
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{sheet.width:g}mm" height="{sheet.height:g}mm" '
        f'viewBox="0 0 {sheet.width:g} {sheet.height:g}" font-family="DejaVu Sans, sans-serif">\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n{body}\n</svg>\n',
        encoding="utf-8",
    )


def _svg(item: Line | Circle | Arrow | Text) -> str:
    match item:
        case Line((x1, y1), (x2, y2), style):
            return f'<path d="M{x1:.3f} {y1:.3f}L{x2:.3f} {y2:.3f}" {_stroke(style)}/>'
        case Circle((x, y), radius, style):
            return f'<circle cx="{x:.3f}" cy="{y:.3f}" r="{radius:.3f}" {_stroke(style)}/>'
        case Arrow():
            return f'<path d="M{"L".join(f"{x:.3f} {y:.3f}" for x, y in item.corners())}Z"/>'
        case Text((x, y), text, size, anchor, upright):
            turn = f' transform="rotate(-90 {x:.3f} {y:.3f})"' if upright else ""
            where = f'x="{x:.3f}" y="{y:.3f}" font-size="{size:g}" text-anchor="{anchor}"'
            return f"<text {where}{turn}>{escape(text)}</text>"


def _stroke(style: Style) -> str:
    dashes = DASHES.get(style)
    dashed = f' stroke-dasharray="{" ".join(f"{dash:g}" for dash in dashes)}"' if dashes else ""
    return f'fill="none" stroke="#000" stroke-width="{WIDTH[style]:g}"{dashed}'


def write_png(sheet: Sheet, path: Path) -> None:
    scale = PIXELS_PER_MM * OVERSAMPLING
    image = Image.new("L", (round(sheet.width * scale), round(sheet.height * scale)), 255)
    draw = ImageDraw.Draw(image)
    for item in sheet.items:
        _paint(image, draw, item, scale)
    size = (round(sheet.width * PIXELS_PER_MM), round(sheet.height * PIXELS_PER_MM))
    image.resize(size, Image.Resampling.LANCZOS).save(path, dpi=(PIXELS_PER_MM * 25.4,) * 2)


def _paint(
    image: Image.Image, draw: ImageDraw.ImageDraw, item: Line | Circle | Arrow | Text, scale: float
) -> None:
    match item:
        case Line(start, end, style):
            for a, b in _dashed(start, end, DASHES.get(style, ())):
                draw.line([_scaled(a, scale), _scaled(b, scale)], 0, max(2, round(WIDTH[style] * scale)))
        case Circle(centre, radius, style):
            for a, b in _arc(centre, radius, DASHES.get(style, ())):
                draw.line([_scaled(a, scale), _scaled(b, scale)], 0, max(2, round(WIDTH[style] * scale)))
        case Arrow():
            draw.polygon([_scaled(corner, scale) for corner in item.corners()], fill=0)
        case Text():
            _letter(image, item, scale)


def _scaled(point: Point, scale: float) -> Point:
    return point[0] * scale, point[1] * scale


def _dashed(start: Point, end: Point, dashes: tuple[float, ...]) -> Iterator[tuple[Point, Point]]:
    length = math.dist(start, end)
    if not dashes or length == 0:
        yield start, end
        return
    ux, uy = (end[0] - start[0]) / length, (end[1] - start[1]) / length
    done, index = 0.0, 0
    while done < length:
        until = min(length, done + dashes[index % len(dashes)])
        if index % 2 == 0:
            yield (start[0] + ux * done, start[1] + uy * done), (start[0] + ux * until, start[1] + uy * until)
        done, index = until, index + 1


def _arc(centre: Point, radius: float, dashes: tuple[float, ...]) -> Iterator[tuple[Point, Point]]:
    """A circle as chords of about 0.2 mm, with every third millimetre left out where it is dashed."""
    count = max(48, round(2 * math.pi * radius / 0.2))
    points = [
        (centre[0] + radius * math.cos(a), centre[1] + radius * math.sin(a))
        for a in (2 * math.pi * n / count for n in range(count + 1))
    ]
    for n, (a, b) in enumerate(pairwise(points)):
        if not dashes or (n // 10) % 3 != 2:
            yield a, b


def _letter(image: Image.Image, item: Text, scale: float) -> None:
    font = ImageFont.load_default(item.size * scale)
    left, _, right, _ = font.getbbox(item.text, anchor="ls")
    height = round(item.size * scale * 1.5)
    label = Image.new("L", (round(right - left) + 4, height), 0)
    baseline = round(height * 0.72)
    ImageDraw.Draw(label).text((2 - left, baseline), item.text, font=font, fill=255, anchor="ls")
    x, y = _scaled(item.at, scale)
    shift = label.width / 2 if item.anchor is Anchor.MIDDLE else 0
    if item.upright:
        label = label.transpose(Image.Transpose.ROTATE_90)
        corner = (round(x - baseline), round(y - label.height + shift))
    else:
        corner = (round(x - shift), round(y - baseline))
    image.paste(0, (*corner, corner[0] + label.width, corner[1] + label.height), label)
