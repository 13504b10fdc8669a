"""A bracket from its dimensioned drawing, judged by its surface and by a probe for every hole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random

import msgspec
import numpy as np
import trimesh

from practicum.infra.operator import Operator
from practicum.tasks import oracle
from practicum.tasks.desk.engineering.bracket.part import (
    Bracket,
    draw_lots,
    drawing,
    notes,
    openscad,
    solid,
    stock,
)
from practicum.tasks.desk.engineering.bracket.sheet import write_png, write_svg
from practicum.tasks.spec import Benign, Mutant, Params
from practicum.verifiers import mesh
from practicum.verifiers.mesh import stl
from practicum.verifiers.mesh.soup import Mesh
from practicum.verifiers.mesh.spec import Vector
from practicum.verifiers.verdict import Verdict

PART = "bracket.stl"
TOLERANCE = 0.1
_NAMES = ("SENSOR BRACKET", "HINGE BRACKET", "VALVE MOUNT", "LAMP CARRIER", "MOTOR FOOT", "STOP BLOCK")
_PROGRAM = "/home/agent/bracket.scad"


def generate(rng: Random, inputs: Path, reference: Path) -> Params:
    part, name = draw_lots(rng), rng.choice(_NAMES)
    number = f"{rng.choice(('PB', 'KD', 'TR'))}-{rng.randrange(1000, 9999)}"
    sheet = drawing(part, name, number)
    write_svg(sheet, inputs / "drawing.svg")
    write_png(sheet, inputs / "drawing.png")
    _save(solid(part), reference / PART)
    return {"say": {"number": number, "name": name}, "part": msgspec.to_builtins(part)}


def facts(params: Params) -> Mapping[str, str]:
    return notes(_part(params)) | {"unit": "ALL DIMENSIONS IN MM", "file": "bracket.stl"}


def secrets(params: Params) -> Iterable[str]:
    yield openscad(_part(params))


def solve(hands: Operator, params: Params) -> None:
    """In OpenSCAD's own window: type the program, render it, export it."""
    hands.bash(f"touch {_PROGRAM}; setsid -f openscad {_PROGRAM} > /dev/null 2>&1")
    editor = oracle.find(hands, role="text", name="")
    hands.click(*editor.centre)
    hands.type(openscad(_part(params)))
    oracle.insist(
        lambda: hands.key("f6"),  # ignored while OpenSCAD is busy with a preview of its own accord
        lambda: oracle.find(hands, text="Rendering finished", looks=8),
    )
    hands.key("f7")
    oracle.find(hands, role="dialog")
    hands.type(f"/home/agent/outputs/{PART}\n")
    oracle.look(hands, _told_by_console, "word of the export in the console")


def _told_by_console(item: oracle.Found) -> bool:
    """In whatever language: the last line of the console names the file that was written."""
    return item.text.startswith("OpenSCAD") and f"outputs/{PART}" in item.text


def ideal(outputs: Path, reference: Path, params: Params) -> None:
    del reference
    _save(solid(_part(params)), outputs / PART)


def verify(outputs: Path, reference: Path, params: Params) -> Verdict:
    spec = mesh.MeshSpec(distance=TOLERANCE, samples=3000, probes=_probes(_part(params)))
    return mesh.verify(outputs / PART, reference / PART, spec)


def _probes(part: Bracket) -> tuple[mesh.Probe, ...]:
    floor = part.base - part.depth
    up, along = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)

    def hole(name: str, diameter: float, centre: Vector, axis: Vector, deep: float) -> mesh.Hole:
        return mesh.Hole(
            name=name,
            centre=centre,
            axis=axis,
            diameter=diameter,
            length=0.9 * deep,
            tolerance=TOLERANCE,
            through=True,
        )

    return (
        hole("small hole", part.d1, (part.x1, part.y1, part.base / 2), up, part.base),
        hole("mirrored small hole", part.d1, (part.x1, part.width - part.y1, part.base / 2), up, part.base),
        hole("large hole", part.d2, (part.x2, part.middle, floor / 2), up, floor),
        hole("counterbore", part.bore, (part.x2, part.middle, part.base - part.depth / 2), up, part.depth),
        hole("wall hole", part.d3, (part.wall / 2, part.middle, part.z3), along, part.wall),
        mesh.Thickness(
            name="floor of the counterbore",
            origin=(part.x2 + (part.d2 + part.bore) / 4, part.middle, -5.0),
            direction=up,
            thickness=floor,
            tolerance=TOLERANCE,
        ),
        mesh.Thickness(
            name="wall thickness",
            origin=(-5.0, 2.0, part.height - 2.0),
            direction=along,
            thickness=part.wall,
            tolerance=TOLERANCE,
        ),
    )


def mutants(outputs: Path, params: Params) -> Iterable[Mutant]:
    del outputs
    part = _part(params)
    for cut in ("small hole", "mirrored small hole", "large hole", "counterbore", "wall hole"):
        yield Mutant(f"without the {cut}", cut, _made(solid(part, without=cut)))
    yield Mutant("small holes 0.5 too wide", "small hole", _made(solid(replace(part, d1=part.d1 + 0.5))))
    yield Mutant("large hole 1 mm off", "large hole", _made(solid(replace(part, x2=part.x2 - 1))))
    yield Mutant(
        "counterbore 0.5 too shallow",
        "floor of the counterbore",
        _made(solid(replace(part, depth=part.depth - 0.5))),
    )
    yield Mutant("wall hole 0.4 too high", "wall hole", _made(solid(replace(part, z3=part.z3 + 0.4))))
    yield Mutant("wall 0.3 too thick", "wall thickness", _made(solid(replace(part, wall=part.wall + 0.3))))
    yield Mutant("base 0.3 too long", "surface", _made(solid(replace(part, length=part.length + 0.3))))
    yield Mutant("in inches", "not rescaled", _made(_scaled(solid(part))))
    yield Mutant("centred at the origin", "surface", _made(_centred(solid(part))))
    yield Mutant("stock, undrilled", "surface", _made(stock(part)))
    yield Mutant("one facet missing", "watertight", _made(_opened(solid(part))))


def benign(outputs: Path, params: Params) -> Iterable[Benign]:
    del outputs
    part = _part(params)
    made = solid(part)
    yield Benign("ASCII", lambda folder: stl.write_ascii(folder / PART, Mesh(np.asarray(made.triangles))))
    yield Benign("facets in another order, CAD header", _shuffled(made))
    yield Benign("header that begins with solid", _solid_header(made))
    yield Benign("subdivided", _made(made.subdivide()))
    yield Benign("inside out", _inverted(made))


def _part(params: Params) -> Bracket:
    return msgspec.convert(params["part"], Bracket)


def _save(body: trimesh.Trimesh, path: Path) -> None:
    stl.write_binary(path, Mesh(np.asarray(body.triangles)))


def _made(body: trimesh.Trimesh) -> Callable[[Path], None]:
    return lambda outputs: _save(body, outputs / PART)


def _scaled(body: trimesh.Trimesh) -> trimesh.Trimesh:
    body.apply_transform(np.diag([1 / 25.4] * 3 + [1.0]))
    return body


def _centred(body: trimesh.Trimesh) -> trimesh.Trimesh:
    body.apply_translation(-body.bounds.mean(axis=0))
    return body


def _opened(body: trimesh.Trimesh) -> trimesh.Trimesh:
    keep = np.ones(len(body.faces), dtype=bool)
    keep[body.area_faces.argmax()] = False
    body.update_faces(keep)
    return body


def _shuffled(body: trimesh.Trimesh) -> Callable[[Path], None]:
    order = np.argsort(body.area_faces, kind="stable")
    turned = np.roll(np.asarray(body.triangles)[order], 1, axis=1)
    return lambda outputs: stl.write_binary(outputs / PART, Mesh(turned), b"Exported by CAD")


def _solid_header(body: trimesh.Trimesh) -> Callable[[Path], None]:
    return lambda outputs: stl.write_binary(
        outputs / PART, Mesh(np.asarray(body.triangles)), b"solid bracket"
    )


def _inverted(body: trimesh.Trimesh) -> Callable[[Path], None]:
    turned = np.asarray(body.triangles)[:, ::-1]
    return lambda outputs: stl.write_binary(outputs / PART, Mesh(np.ascontiguousarray(turned)))
