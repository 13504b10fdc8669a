"""An SVG as what it shows: outlines in page coordinates after all transforms, with paint; texts with place.

Groups, `use`, units, viewBox, style sheets and the choice between `rect`, `polygon` and `path` leave no trace
here: two files that draw the same are the same.

Source: SVG 2, W3C Candidate Recommendation; CSS 2.2 for units (96 px to the inch).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from lxml import etree

from practicum.verifiers.errors import Unreadable
from practicum.verifiers.vector import outline
from practicum.verifiers.vector.paths import BrokenPath
from practicum.verifiers.vector.style import Rgb, Rule, cascade, colour, fraction, rules
from practicum.verifiers.xml import local, parse

F8 = npt.NDArray[np.float64]
PX_PER_MM = 96.0 / 25.4

_UNITS = {
    "": 1.0,
    "px": 1.0,
    "mm": PX_PER_MM,
    "cm": 10 * PX_PER_MM,
    "in": 96.0,
    "pt": 96 / 72,
    "pc": 16.0,
    "q": PX_PER_MM / 4,
}
_LENGTH = re.compile(
    r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(px|mm|cm|in|pt|pc|q|)\s*", re.IGNORECASE
)
_TRANSFORM = re.compile(r"(matrix|translate|scale|rotate|skewX|skewY)\s*\(([^)]*)\)")
_URL = re.compile(r"url\(\s*['\"]?#([^'\")]+)['\"]?\s*\)")
_HIDDEN = frozenset(
    {
        *("defs", "symbol", "clipPath", "mask", "marker", "pattern", "metadata", "title", "desc", "style"),
        *("script", "linearGradient", "radialGradient", "filter", "namedview", "foreignObject"),
    }
)
_MAX_DEPTH = 64
_MAX_ITEMS = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """`outlines` are (n, 2) polylines in page px. A gradient is the colours of its stops."""

    id: str
    outlines: tuple[F8, ...]
    closed: bool
    fill: tuple[Rgb, ...]
    stroke: tuple[Rgb, ...]
    stroke_width: float
    opacity: float

    @property
    def box(self) -> tuple[float, float, float, float]:
        points = np.concatenate(self.outlines)
        (x0, y0), (x1, y1) = points.min(axis=0), points.max(axis=0)
        return float(x0), float(y0), float(x1), float(y1)

    @property
    def area(self) -> float:
        """Enclosed, by the sum of signed outlines; px²."""
        return abs(math.fsum(outline.signed_area(points) for points in self.outlines))


@dataclass(frozen=True, slots=True)
class Text:
    """One line as drawn. `x`, `y` is its anchor on the baseline and `size` the font size, in page px."""

    id: str
    content: str
    x: float
    y: float
    size: float
    family: str
    fill: tuple[Rgb, ...]
    anchor: str
    weight: str = "normal"


@dataclass(frozen=True, slots=True)
class Drawing:
    """Page size in px (96 to the inch); shapes and texts in painting order."""

    width: float
    height: float
    shapes: tuple[Shape, ...]
    texts: tuple[Text, ...]

    @property
    def size_mm(self) -> tuple[float, float]:
        return self.width / PX_PER_MM, self.height / PX_PER_MM


def read(path: Path) -> Drawing:
    """Raises `Unreadable` for what is missing, malformed, hostile or no SVG."""
    root = parse(path)
    if local(root) != "svg":
        raise Unreadable(path, f"the root element is {local(root)!r}, not svg")
    try:
        width, height, page = _page(root)
        reader = _Reader(root)
        reader.visit(root, page, {}, 0, root=True)
    except (BrokenPath, ValueError, OverflowError) as error:
        raise Unreadable(path, f"broken SVG: {error}") from error
    return Drawing(width, height, tuple(reader.shapes), tuple(reader.texts))


def length(text: str | None, default: float = 0.0, *, whole: float = 0.0) -> float:
    """In px; percentages are of `whole`. Raises `ValueError`."""
    if text is None:
        return default
    if text.strip().endswith("%"):
        return float(text.strip()[:-1]) / 100.0 * whole
    match = _LENGTH.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no length")
    return float(match[1]) * _UNITS[match[2].lower()]


def matrix(text: str | None) -> F8:
    """A transform attribute as a 3 × 3 matrix. Raises `ValueError`."""
    result = np.eye(3)
    for name, arguments in _TRANSFORM.findall(text or ""):
        result = result @ _single(
            name, [float(part) for part in re.split(r"[\s,]+", arguments.strip()) if part]
        )
    return result


def _single(name: str, v: list[float]) -> F8:
    if name == "matrix" and len(v) == 6:
        return np.array([[v[0], v[2], v[4]], [v[1], v[3], v[5]], [0.0, 0.0, 1.0]])
    if name == "translate" and len(v) in (1, 2):
        return np.array([[1.0, 0.0, v[0]], [0.0, 1.0, v[1] if len(v) == 2 else 0.0], [0.0, 0.0, 1.0]])
    if name == "scale" and len(v) in (1, 2):
        return np.diag([v[0], v[-1], 1.0])
    if name == "rotate" and len(v) in (1, 3):
        c, s = math.cos(math.radians(v[0])), math.sin(math.radians(v[0]))
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        if len(v) == 1:
            return turn
        return np.asarray(_single("translate", v[1:]) @ turn @ _single("translate", [-v[1], -v[2]]))
    if name in ("skewX", "skewY") and len(v) == 1:
        skew = np.eye(3)
        skew[(0, 1) if name == "skewX" else (1, 0)] = math.tan(math.radians(v[0]))
        return skew
    raise ValueError(f"{name} with {len(v)} numbers")


def _page(root: etree._Element) -> tuple[float, float, F8]:
    box = [float(part) for part in re.split(r"[\s,]+", (root.get("viewBox") or "").strip()) if part]
    if box and (len(box) != 4 or box[2] <= 0 or box[3] <= 0):
        raise ValueError(f"viewBox {root.get('viewBox')!r}")
    width = length(root.get("width") or "100%", whole=box[2] if box else 300.0)
    height = length(root.get("height") or "100%", whole=box[3] if box else 150.0)
    return width, height, _viewport(root, box, width, height)


def _viewport(element: etree._Element, box: list[float], width: float, height: float) -> F8:
    if not box:
        return np.eye(3)
    sx, sy = width / box[2], height / box[3]
    align = (element.get("preserveAspectRatio") or "xMidYMid meet").split()
    left = top = 0.0
    if align[0] != "none":
        sx = sy = max(sx, sy) if "slice" in align else min(sx, sy)
        share = {"Min": 0.0, "Mid": 0.5, "Max": 1.0}
        left = (width - sx * box[2]) * share.get(align[0][1:4], 0.5)
        top = (height - sy * box[3]) * share.get(align[0][5:8], 0.5)
    return np.array([[sx, 0.0, left - sx * box[0]], [0.0, sy, top - sy * box[1]], [0.0, 0.0, 1.0]])


class _Reader:
    def __init__(self, root: etree._Element) -> None:
        self.shapes: list[Shape] = []
        self.texts: list[Text] = []
        self._sheet: list[Rule] = rules(root)
        self._by_id = {identity: element for element in root.iter() if (identity := element.get("id"))}
        self._visited = 0

    def visit(
        self, element: etree._Element, at: F8, inherited: Mapping[str, str], depth: int, *, root: bool = False
    ) -> None:
        self._visited += 1
        if depth > _MAX_DEPTH or self._visited > _MAX_ITEMS:
            raise ValueError("nested or repeated beyond reason")
        tag = local(element)
        if not tag or tag in _HIDDEN:
            return
        style = cascade(element, inherited, self._sheet)
        if style.get("display") == "none":
            return
        at = at @ matrix(element.get("transform"))
        if tag == "use":
            self._use(element, at, style, depth)
        elif tag == "text":
            self._text(element, at, style)
        elif tag in ("svg", "g", "a", "switch"):
            inner = at if root or tag != "svg" else at @ self._nested(element)
            for child in element:
                self.visit(child, inner, style, depth + 1)
        elif style.get("visibility") not in ("hidden", "collapse"):
            self._shape(element, tag, at, style)

    def _nested(self, element: etree._Element) -> F8:
        _, _, inner = _page(element)
        return np.asarray(_single("translate", [length(element.get("x")), length(element.get("y"))]) @ inner)

    def _use(self, element: etree._Element, at: F8, style: dict[str, str], depth: int) -> None:
        href = element.get("href") or element.get("{http://www.w3.org/1999/xlink}href") or ""
        target = self._by_id.get(href.removeprefix("#")) if href.startswith("#") else None
        if target is None:
            return
        at = at @ _single("translate", [length(element.get("x")), length(element.get("y"))])
        if local(target) != "symbol":
            self.visit(target, at, style, depth + 1)
            return
        inner = cascade(target, style, self._sheet)
        for child in target:
            self.visit(child, at, inner, depth + 1)

    def _shape(self, element: etree._Element, tag: str, at: F8, style: dict[str, str]) -> None:
        drawn = outline.of(element, tag, length)
        lines = [line for line in drawn if len(line.points) > 1]
        if not lines:
            return
        flat = tuple(line.points @ at[:2, :2].T + at[:2, 2] for line in lines)
        if not all(np.isfinite(points).all() for points in flat):
            raise ValueError("coordinates without bound")
        scale = math.sqrt(abs(float(np.linalg.det(at[:2, :2]))))
        self.shapes.append(
            Shape(
                id=element.get("id") or "",
                outlines=flat,
                closed=all(line.closed for line in lines),
                fill=self._paint(style, "fill", "black") if tag != "line" else (),
                stroke=self._paint(style, "stroke", "none"),
                stroke_width=length(style.get("stroke-width"), 1.0) * scale,
                opacity=fraction(style.get("opacity"), 1.0) * fraction(style.get("fill-opacity"), 1.0),
            )
        )

    def _paint(self, style: Mapping[str, str], name: str, default: str) -> tuple[Rgb, ...]:
        value = style.get(name, default)
        if value.lower() == "currentcolor":
            value = style.get("color", "black")
        if match := _URL.match(value):
            return self._stops(match[1], 0)
        found = colour(value)
        return () if found is None else (found,)

    def _stops(self, identity: str, depth: int) -> tuple[Rgb, ...]:
        gradient = self._by_id.get(identity)
        if gradient is None or depth > 8:
            return ()
        stops = [cascade(child, {}, self._sheet) for child in gradient if local(child) == "stop"]
        if stops:
            return tuple(
                rgb for stop in stops if (rgb := colour(stop.get("stop-color", "black"))) is not None
            )
        href = gradient.get("href") or gradient.get("{http://www.w3.org/1999/xlink}href") or ""
        return self._stops(href.removeprefix("#"), depth + 1)

    def _text(self, element: etree._Element, at: F8, style: dict[str, str]) -> None:
        """A line for the element and one for each of its `tspan`s that has a place of its own."""
        x, y = (_first_length(element.get(name)) or 0.0 for name in "xy")
        lines = [_Line(x, y, style, [element.text or ""])]
        for span in element:
            if local(span) in ("tspan", "textPath"):
                self._span(span, lines, style)
            lines[-1].parts.append(span.tail or "")
        for line in lines:
            self._place(element, line, at)

    def _span(self, span: etree._Element, lines: list[_Line], style: dict[str, str]) -> None:
        last, inner = lines[-1], cascade(span, style, self._sheet)
        x, y = _first_length(span.get("x")), _first_length(span.get("y"))
        dy = _first_length(span.get("dy")) or 0.0
        if x is not None or y is not None:
            base = last.y + dy if y is None else y + dy
            lines.append(_Line(last.x if x is None else x, base, inner, []))
        elif not "".join(last.parts).strip():
            last.style = inner
        lines[-1].parts.append("".join(map(str, span.itertext())))

    def _place(self, element: etree._Element, line: _Line, at: F8) -> None:
        content = " ".join("".join(line.parts).split())
        if not content or line.style.get("visibility") == "hidden":
            return
        x, y = at[:2, :2] @ (line.x, line.y) + at[:2, 2]
        scale = math.sqrt(abs(float(np.linalg.det(at[:2, :2]))))
        self.texts.append(
            Text(
                id=element.get("id") or "",
                content=content,
                x=float(x),
                y=float(y),
                size=length(line.style.get("font-size"), 16.0, whole=16.0) * scale,
                family=line.style.get("font-family", "").split(",")[0].strip("'\" "),
                fill=self._paint(line.style, "fill", "black"),
                anchor=line.style.get("text-anchor", "start"),
                weight=line.style.get("font-weight", "normal"),
            )
        )


@dataclass(slots=True)
class _Line:
    x: float
    y: float
    style: dict[str, str]
    parts: list[str]


def _first_length(text: str | None) -> float | None:
    parts = re.split(r"[\s,]+", text.strip()) if text else []
    return length(parts[0]) if parts and not parts[0].endswith("em") else None
