"""Damage and rewriting of vector drawings."""

from __future__ import annotations

import colorsys
from collections.abc import Callable
from pathlib import Path
from random import Random

from lxml import etree

from practicum.verifiers.mutation.kit import Damage, Kit, Rewriting

_SVG = "http://www.w3.org/2000/svg"
_WORDS = ("Plan", "Größe", "Section A", "Été 2024")


def sample(path: Path, random: Random) -> None:
    """A page of 200 × 150 mm: four rectangles, a circle with a curve over it, two texts."""
    items = [_rectangle(place, random) for place in range(4)]
    x, radius = random.uniform(30, 60), random.uniform(12, 18)
    circle = f'<circle id="c" cx="{x:.3f}" cy="105" r="{radius:.3f}" fill="{_colour(random)}"'
    items.append(f'{circle} stroke="#102030" stroke-width="1.5"/>')
    curve = f"M{x:.3f} 95 c20 -10 40 10 60 {random.uniform(5, 15):.3f} l-5 15 z"
    items.append(f'<path id="p" d="{curve}" fill="{_colour(random)}"/>')
    items += [_line(place, random) for place in range(2)]
    head = f'<svg xmlns="{_SVG}" width="200mm" height="150mm" viewBox="0 0 200 150">'
    path.write_text("\n".join([head, *items, "</svg>", ""]), encoding="utf-8")


def _rectangle(place: int, random: Random) -> str:
    y, width, height = random.uniform(12, 30), random.uniform(20, 36), random.uniform(20, 40)
    box = f'x="{10 + 46 * place}" y="{y:.3f}" width="{width:.3f}" height="{height:.3f}"'
    return f'<rect id="r{place}" {box} fill="{_colour(random)}"/>'


def _line(place: int, random: Random) -> str:
    size, words = random.choice((5, 6, 8)), f"{random.choice(_WORDS)} {place}"
    return f'<text x="{20 + 80 * place}" y="140" font-size="{size}" fill="#222222">{words}</text>'


def _colour(random: Random) -> str:
    red, green, blue = colorsys.hsv_to_rgb(random.random(), 0.6, 0.7)
    return f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"


def _edit(change: Callable[[etree._Element, float, Random], None]) -> Callable[[Path, float, Random], None]:
    def apply(path: Path, severity: float, random: Random) -> None:
        root = etree.parse(path).getroot()
        change(root, severity, random)
        path.write_bytes(etree.tostring(root))

    return apply


def _calm(change: Callable[[etree._Element, Random], None]) -> Callable[[Path, Random], None]:
    return lambda path, random: _edit(lambda root, severity, chance: change(root, chance))(path, 0.0, random)


def _by_id(root: etree._Element, identity: str) -> etree._Element:
    return next(element for element in root if element.get("id") == identity)


def _number(element: etree._Element, name: str, change: Callable[[float], float]) -> None:
    element.set(name, f"{change(float(element.get(name) or 0)):.4f}")


def _shifted(root: etree._Element, severity: float, random: Random) -> None:
    _number(_by_id(root, "r1"), "y", lambda y: y + 0.7 + 6 * severity)


def _stretched(root: etree._Element, severity: float, random: Random) -> None:
    _number(_by_id(root, "r2"), "width", lambda width: width + 0.7 + 6 * severity)


def _shrunk(root: etree._Element, severity: float, random: Random) -> None:
    _number(_by_id(root, "c"), "r", lambda radius: radius - 0.7 - 6 * severity)


def _turned(root: etree._Element, severity: float, random: Random) -> None:
    _by_id(root, "r0").set("transform", f"rotate({4 + 20 * severity} 20 20)")


def _recoloured(root: etree._Element, severity: float, random: Random) -> None:
    names = ("r0", "r1", "r2", "r3", "p")
    for name in names[: max(1, round(severity * len(names)))]:
        _by_id(root, name).set("fill", "#ffffff")


def _faded(root: etree._Element, severity: float, random: Random) -> None:
    _by_id(root, "r0").set("opacity", f"{0.9 - 0.7 * severity}")


def _thicker(root: etree._Element, severity: float, random: Random) -> None:
    _by_id(root, "c").set("stroke-width", f"{2.2 + 4 * severity}")


def _removed(root: etree._Element, severity: float, random: Random) -> None:
    names = ("r3", "r2", "r1", "r0")
    for name in names[: max(1, round(severity * len(names)))]:
        root.remove(_by_id(root, name))


def _added(root: etree._Element, severity: float, random: Random) -> None:
    for place in range(max(1, round(6 * severity))):
        etree.SubElement(
            root, f"{{{_SVG}}}rect", x=f"{5 + 20 * place}", y="70", width="9", height="9", fill="#000"
        )


def _restacked(root: etree._Element, severity: float, random: Random) -> None:
    """The curve, drawn over the circle, goes under it."""
    curve = _by_id(root, "p")
    root.remove(curve)
    root.insert(0, curve)


def _texts(root: etree._Element) -> list[etree._Element]:
    return [element for element in root if element.tag == f"{{{_SVG}}}text"]


def _reworded(root: etree._Element, severity: float, random: Random) -> None:
    for text in _texts(root)[: 1 + (severity > 0.5)]:
        text.text = (text.text or "") + " draft"


def _text_moved(root: etree._Element, severity: float, random: Random) -> None:
    for text in _texts(root)[: 1 + (severity > 0.5)]:
        _number(text, "y", lambda y: y - 3.0)


def _text_grown(root: etree._Element, severity: float, random: Random) -> None:
    for text in _texts(root)[: 1 + (severity > 0.5)]:
        _number(text, "font-size", lambda size: size * 1.5)


def _resized_page(root: etree._Element, severity: float, random: Random) -> None:
    root.set("width", f"{201 + 50 * severity}mm")
    root.set("height", f"{150 * (201 + 50 * severity) / 200}mm")


def _grouped(root: etree._Element, random: Random) -> None:
    """A group that moves and scales, inside one that undoes it."""
    outer = etree.Element(f"{{{_SVG}}}g", transform="scale(0.1) translate(-30 40)")
    inner = etree.SubElement(outer, f"{{{_SVG}}}g", transform="translate(30,-40), scale(10)")
    for element in list(root):
        inner.append(element)
    root.append(outer)


def _taken(element: etree._Element, name: str) -> str:
    value = element.get(name) or "0"
    del element.attrib[name]
    return value


def _as_paths(root: etree._Element, random: Random) -> None:
    for element in list(root):
        if element.tag == f"{{{_SVG}}}rect":
            x, y, w, h = (_taken(element, name) for name in ("x", "y", "width", "height"))
            element.tag = f"{{{_SVG}}}path"
            element.set("d", f"m {x},{y} h {w} v {h} h -{w} Z")


def _styled(root: etree._Element, random: Random) -> None:
    for element in root:
        names = [name for name in ("fill", "stroke", "stroke-width", "font-size") if element.get(name)]
        if names:
            element.set("style", "; ".join(f"{name}: {_taken(element, name)}" for name in names) + ";")


def _sheet(root: etree._Element, random: Random) -> None:
    rules = [
        f"#{element.get('id')} {{ fill: {_taken(element, 'fill')} }}" for element in root if element.get("id")
    ]
    sheet = etree.Element(f"{{{_SVG}}}style")
    sheet.text = "/* colours */ " + " ".join(rules)
    root.insert(0, sheet)


def _in_rgb(root: etree._Element, random: Random) -> None:
    for element in root:
        fill = element.get("fill") or ""
        if len(fill) == 7:
            red, green, blue = bytes.fromhex(fill[1:])
            element.set("fill", f"rgb({red}, {green}, {blue})")


def _in_pixels(root: etree._Element, random: Random) -> None:
    root.set("width", f"{200 * 96 / 25.4}")
    root.set("height", f"{150 * 96 / 25.4}px")


def _used(root: etree._Element, random: Random) -> None:
    circle = _by_id(root, "c")
    place = list(root).index(circle)
    defs = etree.SubElement(root, f"{{{_SVG}}}defs")
    use = etree.Element(f"{{{_SVG}}}use", x="0", y="0")
    use.set("{http://www.w3.org/1999/xlink}href", "#c")
    root.insert(place, use)
    defs.append(circle)


def _annotated(root: etree._Element, random: Random) -> None:
    root.insert(0, etree.Element(f"{{{_SVG}}}metadata"))
    root.insert(0, etree.Comment("made elsewhere"))
    etree.SubElement(root, f"{{{_SVG}}}rect", x="1", y="1", width="9", height="9", display="none")


def _utf16(path: Path, random: Random) -> None:
    etree.parse(path).write(str(path), encoding="UTF-16")


KIT = Kit(
    kind="vector",
    suffix=".svg",
    sample=sample,
    damages=(
        Damage("shape shifted", "shapes/r1/outline", _edit(_shifted)),
        Damage("shape stretched", "shapes/r2/outline", _edit(_stretched)),
        Damage("circle shrunk", "shapes/c/outline", _edit(_shrunk)),
        Damage("shape turned", "shapes/r0", _edit(_turned)),
        Damage("recoloured", "shapes/r0/fill", _edit(_recoloured)),
        Damage("faded", "shapes/r0/opacity", _edit(_faded), graded=False),
        Damage("thicker stroke", "shapes/c/stroke width", _edit(_thicker)),
        Damage("shape removed", "shapes/r3", _edit(_removed)),
        Damage("shape added", "no other shapes", _edit(_added)),
        Damage("stacking", "stacking", _edit(_restacked), graded=False),
        Damage("text changed", "no other texts", _edit(_reworded)),
        Damage("text moved", "texts", _edit(_text_moved)),
        Damage("text too large", "texts", _edit(_text_grown)),
        Damage("page size", "page size", _edit(_resized_page)),
    ),
    rewritings=(
        Rewriting("groups with transforms", _calm(_grouped)),
        Rewriting("rectangles as paths", _calm(_as_paths)),
        Rewriting("style attributes", _calm(_styled)),
        Rewriting("style sheet", _calm(_sheet)),
        Rewriting("colours as rgb()", _calm(_in_rgb)),
        Rewriting("page in pixels", _calm(_in_pixels)),
        Rewriting("use and defs", _calm(_used)),
        Rewriting("metadata and hidden shapes", _calm(_annotated)),
        Rewriting("UTF-16", _utf16),
    ),
)
