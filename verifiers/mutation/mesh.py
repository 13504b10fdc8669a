"""Damage and rewriting of triangle meshes."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from random import Random

import manifold3d  # type: ignore[import-not-found] # ships no type information
import numpy as np
from scipy.spatial.transform import Rotation

from practicum.verifiers.mesh import stl
from practicum.verifiers.mesh.soup import F8, Mesh
from practicum.verifiers.mesh.spec import MeshSpec
from practicum.verifiers.mutation.kit import Damage, Kit, Rewriting, amount


def sample(path: Path, random: Random) -> None:
    """A plate with a boss and two holes, without symmetry."""
    length, width, height = random.uniform(60, 120), random.uniform(40, 60), random.uniform(8, 20)
    body = manifold3d.Manifold.cube([length, width, height])
    body += manifold3d.Manifold.cylinder(height * 0.8, 9, circular_segments=48).translate(
        [15, 14, height - 0.1]
    )
    for radius, x, y in ((5.0, 0.55 * length, 0.3 * width), (3.0, 0.8 * length, 0.7 * width)):
        hole = manifold3d.Manifold.cylinder(3 * height, radius, circular_segments=random.choice((32, 48, 64)))
        body -= hole.translate([x, y, -height])
    save(path, body)


def save(path: Path, body: manifold3d.Manifold) -> None:
    mesh = body.to_mesh64()
    stl.write_binary(path, Mesh(np.asarray(mesh.vert_properties)[:, :3][np.asarray(mesh.tri_verts)]))


def body_of(path: Path) -> manifold3d.Manifold:
    triangles = stl.read(path).triangles
    vertices, faces = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    mesh = manifold3d.Mesh64(vert_properties=vertices, tri_verts=faces.reshape(-1, 3).astype(np.uint64))
    return manifold3d.Manifold(mesh)


def _points(change: Callable[[F8, float, np.random.Generator], F8]) -> Callable[[Path, float, Random], None]:
    """A change of triangles whose size is severity times a twentieth of the diagonal."""

    def apply(path: Path, severity: float, random: Random) -> None:
        mesh = stl.read(path)
        generator = np.random.default_rng(random.getrandbits(32))
        stl.write_binary(path, Mesh(change(mesh.triangles, severity * mesh.diagonal / 20, generator)))

    return apply


def _moved(triangles: F8, size: float, generator: np.random.Generator) -> F8:
    return np.asarray(triangles + np.array([size, 0.0, 0.0]))


def _grown(triangles: F8, size: float, generator: np.random.Generator) -> F8:
    centre = triangles.reshape(-1, 3).mean(axis=0)
    extent = float(np.abs(triangles - centre).max())
    return np.asarray((triangles - centre) * (1.0 + size / extent) + centre)


def _noisy(triangles: F8, size: float, generator: np.random.Generator) -> F8:
    corners, place = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    noise = generator.normal(size=corners.shape)
    return np.asarray((corners + size * noise / np.abs(noise).max())[place].reshape(-1, 3, 3))


def _spiked(triangles: F8, size: float, generator: np.random.Generator) -> F8:
    corners, place = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    chosen = int(corners[:, 2].argmax())
    corners[chosen] += np.array([0.0, 0.0, size])
    return corners[place].reshape(-1, 3, 3)


def _turned(triangles: F8, size: float, generator: np.random.Generator) -> F8:
    centre = triangles.reshape(-1, 3).mean(axis=0)
    arm = float(np.linalg.norm(triangles.reshape(-1, 3) - centre, axis=1).max())
    turn = Rotation.from_rotvec([0.0, 0.0, 1.0 * size / arm]).as_matrix()
    return np.asarray((triangles - centre) @ turn.T + centre)


def _torn(path: Path, severity: float, random: Random) -> None:
    triangles = stl.read(path).triangles
    keep = len(triangles) - amount(severity * 0.5, len(triangles))
    stl.write_binary(path, Mesh(triangles[:keep]))


def _trimmed(path: Path, severity: float, random: Random) -> None:
    body = body_of(path)
    low, high = body.bounding_box()[0], body.bounding_box()[3]
    save(path, body.trim_by_plane([-1.0, 0.0, 0.0], -(high - (0.02 + 0.4 * severity) * (high - low))))


def _plugged(path: Path, severity: float, random: Random) -> None:
    save(path, body_of(path).hull())


def _lump(path: Path, severity: float, random: Random) -> None:
    body = body_of(path)
    x, y, z = body.bounding_box()[3:]
    side = 1.0 + 5.0 * severity
    save(path, body + manifold3d.Manifold.cube([side, side, side]).translate([x + 3.0, y + 3.0, z]))


def _crowd(path: Path, severity: float, random: Random) -> None:
    """Many copies and one small wrong cube, which an average would not notice."""
    triangles = stl.read(path).triangles
    _lump(path, 0.1, random)
    stl.write_binary(path, Mesh(np.concatenate([triangles] * 19 + [stl.read(path).triangles])))


def _scaled(factor: float) -> Callable[[Path, float, Random], None]:
    return lambda path, severity, random: stl.write_binary(path, Mesh(stl.read(path).triangles * factor))


def _mirrored(path: Path, severity: float, random: Random) -> None:
    mesh = stl.read(path)
    stl.write_binary(path, Mesh((mesh.triangles * [-1, 1, 1] + [mesh.bounds[:, 0].sum(), 0, 0])[:, ::-1]))


def _one_facet(path: Path, severity: float, random: Random) -> None:
    stl.write_binary(path, Mesh(stl.read(path).triangles[:1]))


def _cut_off(path: Path, severity: float, random: Random) -> None:
    path.write_bytes(path.read_bytes()[: 84 + 50 * (len(stl.read(path)) // 2)])


def _not_a_number(path: Path, severity: float, random: Random) -> None:
    data = bytearray(path.read_bytes())
    struct.pack_into("<f", data, 84 + 12, float("nan"))
    path.write_bytes(data)


def _shuffled(path: Path, random: Random) -> None:
    triangles = stl.read(path).triangles
    generator = np.random.default_rng(random.getrandbits(32))
    triangles = triangles[generator.permutation(len(triangles))]
    start = generator.integers(0, 3, len(triangles))
    rows = np.arange(len(triangles))
    stl.write_binary(path, Mesh(np.stack([triangles[rows, (start + k) % 3] for k in range(3)], axis=1)))


def _subdivided(path: Path, random: Random) -> None:
    a, b, c = (stl.read(path).triangles[:, k] for k in range(3))
    ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
    parts = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    stl.write_binary(path, Mesh(np.concatenate([np.stack(part, axis=1) for part in parts])))


def _ascii(path: Path, random: Random) -> None:
    stl.write_ascii(path, stl.read(path))


def _ascii_shouted(path: Path, random: Random) -> None:
    stl.write_ascii(path, stl.read(path), "part")
    path.write_text(path.read_text().upper().rpartition("ENDSOLID")[0])


def _solid_header(path: Path, random: Random) -> None:
    stl.write_binary(path, stl.read(path), b"solid made elsewhere")


def _inverted(path: Path, random: Random) -> None:
    stl.write_binary(path, Mesh(stl.read(path).triangles[:, ::-1]))


def _mixed(path: Path, random: Random) -> None:
    triangles = stl.read(path).triangles.copy()
    flip = np.random.default_rng(random.getrandbits(32)).random(len(triangles)) < 0.3
    triangles[flip] = triangles[flip][:, ::-1]
    stl.write_binary(path, Mesh(triangles))


def _doubled(path: Path, random: Random) -> None:
    triangles = stl.read(path).triangles
    stl.write_binary(path, Mesh(np.concatenate([triangles, triangles[: len(triangles) // 3]])))


def _trailing(path: Path, random: Random) -> None:
    path.write_bytes(path.read_bytes() + bytes(random.randint(1, 49)))


def _jittered(path: Path, random: Random) -> None:
    """Coordinates rounded as a text export would."""
    stl.write_binary(path, Mesh(np.round(stl.read(path).triangles, 4)))


KIT = Kit(
    kind="mesh",
    suffix=".stl",
    sample=sample,
    damages=(
        Damage("moved", "surface", _points(_moved)),
        Damage("grown", "surface", _points(_grown)),
        Damage("noise", "surface", _points(_noisy)),
        Damage("spike", "surface", _points(_spiked)),
        Damage("turned", "surface", _points(_turned)),
        Damage("torn open", "watertight", _torn),
        Damage("trimmed", "surface", _trimmed),
        Damage("lump beside it", "bodies", _lump),
        Damage("holes plugged", "surface", _plugged, graded=False),
        Damage("copies hide a wrong cube", "surface", _crowd, graded=False),
        Damage("inches", "not rescaled", _scaled(1 / 25.4), graded=False),
        Damage("metres", "not rescaled", _scaled(1 / 1000), graded=False),
        Damage("ten times", "not rescaled", _scaled(10.0), graded=False),
        Damage("mirrored", "not mirrored", _mirrored, graded=False),
        Damage("one facet", "surface", _one_facet, graded=False),
        Damage("cut off", "readable", _cut_off, graded=False),
        Damage("not a number", "readable", _not_a_number, graded=False),
    ),
    rewritings=(
        Rewriting("facet and corner order", _shuffled),
        Rewriting("subdivided", _subdivided),
        Rewriting("ASCII", _ascii),
        Rewriting("ASCII in capitals without endsolid", _ascii_shouted),
        Rewriting("binary header that says solid", _solid_header),
        Rewriting("inverted winding", _inverted),
        Rewriting("mixed winding", _mixed),
        Rewriting("duplicate facets", _doubled),
        Rewriting("trailing bytes", _trailing),
        Rewriting("rounded coordinates", _jittered),
    ),
    spec=MeshSpec(samples=1000, search=1500, picture=False),
)
