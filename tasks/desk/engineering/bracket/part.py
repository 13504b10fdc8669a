"""The bracket: its dimensions, its drawing, its solid on the host and its OpenSCAD program."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np
import trimesh

from practicum.tasks.desk.engineering.bracket.sheet import Anchor, Sheet, Style

SEGMENTS = 96
TOP, FRONT, SIDE = (74.0, 78.0), (74.0, 160.0), (214.0, 160.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bracket:
    """Millimetres. A base plate with an upright wall at x = 0, drilled; O is the lower outer corner.

    Two small holes through the base at (`x1`, `y1`) and mirrored at (`x1`, `width` − `y1`); one large hole
    with a flat counterbore from above at (`x2`, `width` / 2); one hole through the wall at
    (`width` / 2, `z3`).
    """

    length: float
    width: float
    height: float
    base: float
    wall: float
    d1: float
    x1: float
    y1: float
    d2: float
    x2: float
    bore: float
    depth: float
    d3: float
    z3: float

    @property
    def middle(self) -> float:
        return self.width / 2


def draw_lots(rng: Random) -> Bracket:
    """Sizes such that no feature meets another or an edge, the counterbore leaves a floor, and all fits."""
    base, wall = rng.choice((8.0, 9.0, 10.0, 12.0)), rng.choice((6.0, 7.5, 8.0))
    length, width = float(rng.randrange(78, 105, 2)), float(rng.randrange(44, 61, 2))
    height = float(rng.randrange(42, 57))
    d1, d2 = rng.choice((5.5, 6.6, 7.0)), rng.choice((9.0, 10.5, 12.0))
    bore = d2 + rng.choice((6.0, 7.0, 8.0))
    x1 = wall + d1 + rng.randrange(6, 11)
    return Bracket(
        length=length,
        width=width,
        height=height,
        base=base,
        wall=wall,
        d1=d1,
        x1=x1,
        y1=d1 + rng.randrange(4, 7) / 2,
        d2=d2,
        x2=length - bore / 2 - rng.randrange(6, 15),
        bore=bore,
        depth=base - rng.choice((3.5, 4.0, 5.0)),
        d3=rng.choice((14.0, 16.0, 18.0, 20.0)),
        z3=base + (height - base) / 2 + rng.randrange(-2, 3),
    )


def number(value: float) -> str:
    return f"{value:g}"


def notes(part: Bracket) -> dict[str, str]:
    """Each dimension as the drawing writes it, by the name of what it measures."""
    return {
        "length": number(part.length),
        "width": number(part.width),
        "height": number(part.height),
        "base thickness": number(part.base),
        "wall thickness": number(part.wall),
        "small holes": f"2 x DIA {part.d1:g} THRU BASE",
        "small holes x": number(part.x1),
        "small holes y": number(part.y1),
        "small holes apart": number(part.width - 2 * part.y1),
        "large hole": f"DIA {part.d2:g} THRU BASE",
        "counterbore": f"C'BORE DIA {part.bore:g}, {part.depth:g} DEEP",
        "large hole x": number(part.x2),
        "large hole y": number(part.middle),
        "wall hole": f"DIA {part.d3:g} THRU WALL",
        "wall hole z": number(part.z3),
    }


def drawing(part: Bracket, title: str, drawing_number: str) -> Sheet:
    sheet = Sheet(297, 210)
    sheet.box((8, 8), (281, 194))
    _title(sheet, title, drawing_number)
    _top(sheet, part)
    _front(sheet, part)
    _side(sheet, part)
    return sheet


def _title(sheet: Sheet, title: str, drawing_number: str) -> None:
    sheet.line((8, 190), (289, 190))
    for x in (105, 175):
        sheet.line((x, 190), (x, 202), Style.DIMENSION)
    sheet.text((13, 197.8), title, 5, Anchor.START)
    sheet.text((110, 197.5), f"DRAWING {drawing_number}", 3.5, Anchor.START)
    sheet.text((180, 197.5), "ALL DIMENSIONS IN MM   SCALE 1:1   ONE PART", 3.5, Anchor.START)


def _top(sheet: Sheet, part: Bracket) -> None:
    """Seen from above: x to the right, y upwards."""
    x0, y0 = TOP
    note = notes(part)
    sheet.text((x0 + part.length / 2, y0 - part.width - 15.5), "TOP VIEW", 3.5)
    sheet.box((x0, y0 - part.width), (part.length, part.width))
    sheet.line((x0 + part.wall, y0), (x0 + part.wall, y0 - part.width))
    sheet.text((x0 - 3.5, y0 + 4.5), "O", 3.5)
    for y in (part.y1, part.width - part.y1):
        sheet.circle((x0 + part.x1, y0 - y), part.d1 / 2)
        sheet.cross((x0 + part.x1, y0 - y), part.d1 / 2 + 2)
    middle = (x0 + part.x2, y0 - part.middle)
    sheet.circle(middle, part.bore / 2)
    sheet.circle(middle, part.d2 / 2)
    sheet.cross(middle, part.bore / 2 + 2)
    for side in (-1, 1):
        y = y0 - part.middle + side * part.d3 / 2
        sheet.line((x0, y), (x0 + part.wall, y), Style.HIDDEN)
    sheet.across(x0, x0 + part.x1, y0 + 8, y0, note["small holes x"])
    sheet.across(x0, x0 + part.x2, y0 + 15, y0, note["large hole x"])
    sheet.along(y0, y0 - part.y1, x0 - 9, x0, note["small holes y"])
    sheet.along(y0 - part.y1, y0 - part.width + part.y1, x0 - 17, x0, note["small holes apart"])
    sheet.along(y0, y0 - part.width, x0 - 26, x0, note["width"])
    right = x0 + part.length
    sheet.along(y0, y0 - part.middle, right + 8, right, note["large hole y"])
    edge = (x0 + part.x1 + part.d1 * 0.35, y0 - part.width + part.y1 - part.d1 * 0.35)
    sheet.leader(edge, (x0 + part.x1 + 12, y0 - part.width - 6), note["small holes"])
    bore = (middle[0] + part.bore * 0.35, middle[1] - part.bore * 0.35)
    sheet.leader(bore, (right + 16, y0 - part.width + 3), note["counterbore"])
    hole = (middle[0] + part.d2 * 0.46, middle[1] - part.d2 * 0.2)
    sheet.leader(hole, (right + 16, y0 - part.width + 10), note["large hole"])


def _front(sheet: Sheet, part: Bracket) -> None:
    """Seen along y: x to the right, z upwards."""
    x0, y0 = FRONT
    note = notes(part)
    sheet.text((x0 + part.length / 2, y0 + 22.5), "FRONT VIEW", 3.5)
    sheet.polygon(
        (x0, y0),
        (x0 + part.length, y0),
        (x0 + part.length, y0 - part.base),
        (x0 + part.wall, y0 - part.base),
        (x0 + part.wall, y0 - part.height),
        (x0, y0 - part.height),
    )
    for x, diameter, low, high in (
        (part.x1, part.d1, 0.0, part.base),
        (part.x2, part.d2, 0.0, part.base - part.depth),
        (part.x2, part.bore, part.base - part.depth, part.base),
    ):
        for side in (-1, 1):
            edge = x0 + x + side * diameter / 2
            sheet.line((edge, y0 - low), (edge, y0 - high), Style.HIDDEN)
        sheet.line((x0 + x, y0 + 2), (x0 + x, y0 - part.base - 2), Style.CENTRE)
    floor = y0 - part.base + part.depth
    sheet.line((x0 + part.x2 - part.bore / 2, floor), (x0 + part.x2 + part.bore / 2, floor), Style.HIDDEN)
    for side in (-1, 1):
        z = y0 - part.z3 + side * part.d3 / 2
        sheet.line((x0, z), (x0 + part.wall, z), Style.HIDDEN)
    sheet.line((x0 - 3, y0 - part.z3), (x0 + part.wall + 3, y0 - part.z3), Style.CENTRE)
    sheet.text((x0 - 3.5, y0 + 4.5), "O", 3.5)
    sheet.across(x0, x0 + part.length, y0 + 15, y0, note["length"])
    sheet.across(x0, x0 + part.wall, y0 - part.height - 5, y0 - part.height, note["wall thickness"])
    sheet.along(y0, y0 - part.height, x0 - 17, x0, note["height"])
    right = x0 + part.length
    sheet.along(y0, y0 - part.base, right + 9, right, note["base thickness"])


def _side(sheet: Sheet, part: Bracket) -> None:
    """The wall seen along x from outside: y to the left as seen, drawn mirrored so that O is at the right."""
    x0, y0 = SIDE
    note = notes(part)
    sheet.text((x0 + part.middle, y0 + 22.5), "VIEW ON WALL (LEFT SIDE)", 3.5)
    sheet.box((x0, y0 - part.height), (part.width, part.height))
    sheet.line((x0, y0 - part.base), (x0 + part.width, y0 - part.base), Style.HIDDEN)
    centre = (x0 + part.middle, y0 - part.z3)
    sheet.circle(centre, part.d3 / 2)
    sheet.cross(centre, part.d3 / 2 + 3)
    sheet.text((x0 + part.width + 3.5, y0 + 4.5), "O", 3.5)
    sheet.across(x0 + part.middle, x0 + part.width, y0 + 9, y0, number(part.middle))
    sheet.along(y0, y0 - part.z3, x0 - 9, x0, note["wall hole z"])
    edge = (centre[0] + part.d3 * 0.35, centre[1] - part.d3 * 0.35)
    sheet.leader(edge, (x0 + part.middle + 8, y0 - part.height - 6), note["wall hole"])


def solid(part: Bracket, *, without: str = "") -> trimesh.Trimesh:
    """The part as a closed mesh, optionally leaving one named cut out of it."""
    cuts = {
        "small hole": _drill(part.d1, (part.x1, part.y1, -1), (part.x1, part.y1, part.base + 1)),
        "mirrored small hole": _drill(
            part.d1, (part.x1, part.width - part.y1, -1), (part.x1, part.width - part.y1, part.base + 1)
        ),
        "large hole": _drill(part.d2, (part.x2, part.middle, -1), (part.x2, part.middle, part.base + 1)),
        "counterbore": _drill(
            part.bore,
            (part.x2, part.middle, part.base - part.depth),
            (part.x2, part.middle, part.base + 1),
        ),
        "wall hole": _drill(part.d3, (-1, part.middle, part.z3), (part.wall + 1, part.middle, part.z3)),
    }
    tools = [tool for name, tool in cuts.items() if name != without]
    cut: trimesh.Trimesh = trimesh.boolean.difference([stock(part), *tools], engine="manifold")
    return cut


def stock(part: Bracket) -> trimesh.Trimesh:
    """The part before it is drilled."""
    blocks = [_box(part.length, part.width, part.base), _box(part.wall, part.width, part.height)]
    body: trimesh.Trimesh = trimesh.boolean.union(blocks, engine="manifold")
    return body


def _box(x: float, y: float, z: float) -> trimesh.Trimesh:
    block: trimesh.Trimesh = trimesh.creation.box(bounds=[(0.0, 0.0, 0.0), (x, y, z)])
    return block


def _drill(
    diameter: float, start: tuple[float, float, float], end: tuple[float, float, float]
) -> trimesh.Trimesh:
    rod: trimesh.Trimesh = trimesh.creation.cylinder(
        radius=diameter / 2, segment=np.array([start, end], dtype=float), sections=SEGMENTS
    )
    return rod


def openscad(part: Bracket) -> str:
    """The part as one line of OpenSCAD, as a person would type it."""
    p = part
    through = f"h={p.base + 2:g}"
    ys = f"[{p.y1:g},{p.width - p.y1:g}]"
    small = f"for(y={ys})translate([{p.x1:g},y,-1])cylinder(d={p.d1:g},{through});"
    large = f"translate([{p.x2:g},{p.middle:g},-1])cylinder(d={p.d2:g},{through});"
    bore = f"translate([{p.x2:g},{p.middle:g},{p.base - p.depth:g}])cylinder(d={p.bore:g},h={p.depth + 1:g});"
    wall = f"translate([-1,{p.middle:g},{p.z3:g}])rotate([0,90,0])cylinder(d={p.d3:g},h={p.wall + 2:g});"
    body = (
        f"union(){{cube([{p.length:g},{p.width:g},{p.base:g}]);cube([{p.wall:g},{p.width:g},{p.height:g}]);}}"
    )
    return f"$fn={SEGMENTS // 2};difference(){{{body}{small}{large}{bore}{wall}}}"
