"""Geometry: known distances and volumes, invariances, symmetries, and what must be refused."""

import math
import struct
from pathlib import Path

import manifold3d
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from practicum.verifiers.errors import BadSpec, Unreadable
from practicum.verifiers.mesh import Alignment, Hole, MeshSpec, Region, Section, Thickness, formats, stl
from practicum.verifiers.mesh.compare import Comparison, compare, judge
from practicum.verifiers.mesh.index import Index
from practicum.verifiers.mesh.mass import mass_properties
from practicum.verifiers.mesh.soup import F8, Mesh
from practicum.verifiers.mesh.topology import Solid, solid
from practicum.verifiers.verdict import Check, Verdict

QUICK = MeshSpec(samples=800, search=800, picture=False)
bounded = settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def mesh_of(body: manifold3d.Manifold) -> Mesh:
    made = body.to_mesh64()
    return Mesh(np.asarray(made.vert_properties)[:, :3][np.asarray(made.tri_verts)])


def box(
    x: float, y: float, z: float, at: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> manifold3d.Manifold:
    return manifold3d.Manifold.cube([x, y, z]).translate(list(at))


def drilled(*holes: tuple[float, float, float]) -> manifold3d.Manifold:
    """A 100 × 60 × 20 block with through holes (diameter, x, y)."""
    body = box(100, 60, 20)
    for diameter, x, y in holes:
        body -= manifold3d.Manifold.cylinder(40, diameter / 2, circular_segments=96).translate([x, y, -10])
    return body


PLATE = mesh_of(drilled((16, 30, 30), (8, 80, 40)))
STOCK = mesh_of(box(100, 60, 20))


def graded(
    candidate: Mesh, reference: Mesh = PLATE, spec: MeshSpec = QUICK, stock: Mesh | None = None
) -> Verdict:
    return Verdict(judge(solid(candidate), solid(reference), spec, solid(stock) if stock else None).checks)


def found(verdict: Verdict, name: str) -> Check:
    return next(item for item in verdict.checks if item.name == name)


def compared(first: Mesh, second: Mesh, spec: MeshSpec = QUICK) -> Comparison:
    return compare(solid(first), solid(second), spec)


class TestAnalytic:
    """Against closed forms."""

    def test_concentric_spheres(self) -> None:
        """Spheres of radius 10 and 11: every distance is 1, both ways, up to the facets' sagitta."""
        inner, outer = (mesh_of(manifold3d.Manifold.sphere(r, circular_segments=128)) for r in (10.0, 11.0))
        result = compared(outer, inner)
        sagitta = 11.0 * (1.0 - math.cos(math.pi / 64))
        for way in (result.forward, result.backward):
            assert way.largest == pytest.approx(1.0, abs=sagitta)
            assert way.p50 == pytest.approx(1.0, abs=sagitta)
        assert solid(inner).volume == pytest.approx(4 / 3 * math.pi * 1000, rel=0.01)

    @bounded
    @given(offset=st.floats(0.01, 5.0))
    def test_offset_boxes(self, offset: float) -> None:
        """A box grown on every side: outward the corners are farthest, back all of it is the offset away."""
        inner = mesh_of(box(20, 20, 20))
        outer = mesh_of(box(20 + 2 * offset, 20 + 2 * offset, 20 + 2 * offset, (-offset, -offset, -offset)))
        result = compared(outer, inner)
        assert result.forward.largest == pytest.approx(offset * math.sqrt(3.0), rel=1e-9)
        assert result.backward.largest == pytest.approx(offset, rel=1e-9)
        assert result.candidate_volume == pytest.approx((20 + 2 * offset) ** 3, rel=1e-9)

    def test_drilled_plate(self) -> None:
        """The volume is the block less two prisms; a plugged hole is half a diameter and more away."""
        prisms = sum(96 / 2 * math.sin(2 * math.pi / 96) * (d / 2) ** 2 * 20 for d in (16, 8))
        assert solid(PLATE).volume == pytest.approx(120_000 - prisms, rel=1e-9)
        result = compared(STOCK, PLATE)
        assert result.forward.largest == pytest.approx(8.0, rel=0.025)
        assert result.backward.largest == pytest.approx(10.0, rel=0.025)
        assert result.forward.bound >= 8.0 * math.cos(math.pi / 96)

    def test_mass_properties_of_a_box(self) -> None:
        """Volume, area, centre and principal moments of a 2 × 4 × 6 box, wherever it stands."""
        mass = mass_properties(solid(mesh_of(box(2, 4, 6, (100, 200, 300)))))
        assert mass.volume == pytest.approx(48)
        assert mass.area == pytest.approx(88)
        assert mass.centre == pytest.approx([101, 202, 303])
        assert mass.moments == pytest.approx(
            sorted(48 / 12 * (a * a + b * b) for a, b in ((2, 4), (2, 6), (4, 6)))
        )

    def test_euler_characteristic_counts_holes(self) -> None:
        """2 − 2g: a block is a sphere, each through hole a handle."""
        assert [
            solid(mesh_of(body)).euler
            for body in (box(1, 1, 1), drilled((8, 20, 20)), drilled((8, 20, 20), (8, 60, 20)))
        ] == [2, 0, -2]

    @given(points=st.lists(st.tuples(*[st.floats(-30, 130)] * 3), min_size=1, max_size=40))
    @bounded
    def test_closest_points_equal_brute_force(self, points: list[tuple[float, float, float]]) -> None:
        """The hierarchy gives what looking at every facet gives, and the point it names is that far away."""
        queries = np.array(points)
        closest = Index(PLATE.triangles).closest(queries)
        everywhere = np.array([brute(query, PLATE.triangles) for query in queries])
        assert closest.distance == pytest.approx(everywhere, abs=1e-9)
        assert np.linalg.norm(queries - closest.point, axis=1) == pytest.approx(closest.distance, abs=1e-9)

    def test_nothing_is_farther_than_the_bound(self) -> None:
        """The certificate holds: dense sampling never finds a distance above it."""
        other = mesh_of(drilled((17, 30, 31), (8, 80, 40)))
        result = compared(other, PLATE)
        dense = compare(solid(other), solid(PLATE), MeshSpec(samples=40_000, search=0)).forward
        assert result.forward.largest <= result.forward.bound
        assert dense.distances.max() <= result.forward.bound


def brute(query: F8, triangles: F8) -> float:
    """Distance to the nearest facet, by dense convex combination refined on edges and planes."""
    best = math.inf
    for a, b, c in triangles:
        normal = np.cross(b - a, c - a)
        foot = query - normal * np.dot(query - a, normal) / np.dot(normal, normal)
        inside = all(np.dot(np.cross(q - p, foot - p), normal) >= 0 for p, q in ((a, b), (b, c), (c, a)))
        if inside:
            best = min(best, float(np.linalg.norm(query - foot)))
        for p, q in ((a, b), (b, c), (c, a)):
            t = min(1.0, max(0.0, np.dot(query - p, q - p) / np.dot(q - p, q - p)))
            best = min(best, float(np.linalg.norm(query - p - t * (q - p))))
    return best


class TestInvariance:
    """What a verdict may not depend on."""

    @bounded
    @given(seed=st.integers(0, 2**32))
    def test_rigid_motion_of_both(self, seed: int) -> None:
        """Moved together, two parts are as far apart as before."""
        motion = np.eye(4)
        motion[:3, :3] = Rotation.random(random_state=seed % 2**31).as_matrix()
        motion[:3, 3] = np.random.default_rng(seed).uniform(-50, 50, 3)
        other = mesh_of(drilled((16, 31, 30), (8, 80, 40)))
        still = compared(other, PLATE, MeshSpec(samples=500, search=500, distance=0.2))
        moved = compared(
            other.moved(motion), PLATE.moved(motion), MeshSpec(samples=500, search=500, distance=0.2)
        )
        assert moved.largest == pytest.approx(still.largest, rel=0.03)
        assert moved.candidate_volume == pytest.approx(still.candidate_volume, rel=1e-6)

    def test_the_same_digits_every_time(self) -> None:
        """Seeded from content: two runs agree to the last bit, and facet order does not choose the seed."""
        other = mesh_of(drilled((15, 30, 30), (8, 80, 40)))
        first, second = compared(other, PLATE), compared(other, PLATE)
        assert first.forward.distances.tobytes() == second.forward.distances.tobytes()
        assert (first.largest, first.f_score) == (second.largest, second.f_score)

    def test_precision_and_recall_swap_with_the_arguments(self) -> None:
        """What is precision one way is recall the other."""
        other = mesh_of(drilled((20, 30, 30)))
        spec = MeshSpec(samples=4000, search=4000, distance=0.2, picture=False)
        there, back = compared(other, PLATE, spec), compared(PLATE, other, spec)
        assert there.precision == pytest.approx(back.recall, abs=0.01)
        assert there.recall == pytest.approx(back.precision, abs=0.01)
        assert there.forward.largest == pytest.approx(back.backward.largest, rel=0.02)


class TestMonotone:
    """More damage never looks better."""

    def test_growing_offset(self) -> None:
        """A shell that drifts off scores less and less."""
        scores = [
            graded(Mesh(PLATE.triangles + np.array([shift, 0, 0]))).score
            for shift in (0.0, 0.3, 0.6, 1.2, 2.4, 5.0)
        ]
        assert scores == sorted(scores, reverse=True)
        assert scores[0] == 1.0

    def test_holes_removed_one_by_one(self) -> None:
        """Each missing hole costs, and the stock itself earns nothing."""
        holes = [(10.0, 15.0 + 17.0 * n, 30.0) for n in range(5)]
        reference = mesh_of(drilled(*holes))
        scores = [
            graded(mesh_of(drilled(*holes[:count])), reference, stock=STOCK).score
            for count in range(5, -1, -1)
        ]
        assert scores == sorted(scores, reverse=True)
        assert scores[0] == 1.0
        assert scores[-1] == 0.0


class TestRejections:
    """The attacks that known graders pass."""

    def test_one_facet_of_the_reference(self) -> None:
        """Precise, and almost nothing of it there."""
        verdict = graded(Mesh(PLATE.triangles[:1]))
        assert not verdict.passed
        assert verdict.score < 0.3

    def test_the_uncut_stock(self) -> None:
        """0.96 in a global measure; nothing here where the stock is known, a clear fail where it is not."""
        assert graded(STOCK, stock=STOCK).failures()[0] == "beats the stock"
        assert graded(STOCK, stock=STOCK).score == 0.0
        assert not found(graded(STOCK), "surface").passed

    def test_twenty_copies_and_a_wrong_cube(self) -> None:
        """Averages would drown it; the largest distance and the body count do not."""
        crowd = Mesh(np.concatenate([PLATE.triangles] * 20 + [mesh_of(box(4, 4, 4, (50, 20, 40))).triangles]))
        failures = graded(crowd).failures()
        assert {"surface", "bodies"} <= set(failures)

    @pytest.mark.parametrize(
        ("factor", "said"), [(25.4, "25.4"), (1 / 25.4, "1/25.4"), (10, "10"), (0.001, "1/1000")]
    )
    def test_units(self, factor: float, said: str) -> None:
        """A unit's factor gives 0 with that reason."""
        verdict = graded(Mesh(PLATE.triangles * factor))
        assert verdict.failures() == ("not rescaled",)
        assert verdict.score == 0.0
        assert f"{said} times" in verdict.checks[-1].reason

    def test_mirror_image(self) -> None:
        """Recognised, never aligned away."""
        handed = mesh_of(drilled((16, 30, 20), (8, 80, 40)) + box(10, 10, 10, (5, 5, 19)))
        mirrored = Mesh((handed.triangles * [-1, 1, 1] + [100, 0, 0])[:, ::-1])
        for alignment in Alignment:
            verdict = graded(
                mirrored, handed, MeshSpec(samples=800, search=800, alignment=alignment, picture=False)
            )
            assert not verdict.passed
        assert "not mirrored" in graded(mirrored, handed).failures()

    def test_inverted_winding_is_mended_and_said(self) -> None:
        """A right solid inside out passes, with a note."""
        verdict = graded(Mesh(PLATE.triangles[:, ::-1]))
        assert verdict.passed
        assert "inverted winding" in found(verdict, "tolerated and mended").found

    def test_a_cavity_is_no_body_and_must_be_there(self) -> None:
        """An inner shell with inward winding is a cavity; without it bodies and volume fail."""
        hollow = Mesh(
            np.concatenate([STOCK.triangles, mesh_of(box(10, 10, 10, (40, 20, 5))).triangles[:, ::-1]])
        )
        assert (solid(hollow).bodies, solid(hollow).cavities) == (1, 1)
        assert graded(hollow, hollow).passed
        assert "bodies" in graded(STOCK, hollow).failures()


class TestAlignment:
    @bounded
    @given(seed=st.integers(0, 1000))
    def test_a_turned_part_is_brought_home(self, seed: int) -> None:
        """Any proper motion is found where the task allows it, and none is looked for where it does not."""
        handed = mesh_of(drilled((16, 30, 20), (8, 80, 40)) + box(10, 10, 10, (5, 5, 19)))
        motion = np.eye(4)
        motion[:3, :3] = Rotation.random(random_state=seed).as_matrix()
        motion[:3, 3] = (40.0, -7.0, 12.0)
        turned = handed.moved(motion)
        aligned = graded(
            turned, handed, MeshSpec(samples=1000, search=1000, alignment=Alignment.RIGID, picture=False)
        )
        assert aligned.passed
        assert not graded(turned, handed).passed

    def test_a_symmetric_part_needs_no_particular_angle(self) -> None:
        """A round flange matches at whatever angle it comes to rest."""
        flange = manifold3d.Manifold.cylinder(8, 30, circular_segments=90) - manifold3d.Manifold.cylinder(
            30, 9, circular_segments=90
        ).translate([0, 0, -5])
        turned = mesh_of(flange.rotate([33, 57, 71]).translate([5, 6, 7]))
        spec = MeshSpec(samples=1000, search=1000, alignment=Alignment.RIGID, picture=False)
        assert graded(turned, mesh_of(flange), spec).passed


class TestProbes:
    SPEC = MeshSpec(
        samples=1000, search=1000, picture=False,
        probes=(
            Hole(name="bore", centre=(30, 30, 10), axis=(0, 0, 1), diameter=16, length=18, through=True),
            Hole(name="pin", centre=(80, 40, 10), axis=(0, 0, -1), diameter=8, length=18, through=True),
            Thickness(name="plate", origin=(50, 10, 60), direction=(0, 0, -1), thickness=20),
            Section(name="half way", point=(0, 0, 10), normal=(0, 0, 1), area=solid(PLATE).volume / 20),
            Region(name="around the pin", low=(70, 30, -1), high=(90, 50, 21), tolerance=0.05),
        ),
    )  # fmt: skip

    @pytest.mark.parametrize(
        ("holes", "fails"),
        [
            (((16, 30, 30),), {"pin", "around the pin", "half way"}),
            (((16, 30, 30), (8.4, 80, 40)), {"pin/diameter", "around the pin"}),
            (((16, 30, 30), (8, 80.3, 40)), {"pin/position", "around the pin"}),
            (((15, 30, 30), (8, 80, 40)), {"bore/diameter"}),
        ],
    )
    def test_each_sees_its_own_feature(
        self, holes: tuple[tuple[float, float, float], ...], fails: set[str]
    ) -> None:
        """A hole that is missing, too wide or out of place fails its probe, and only probes near it."""
        failures = set(graded(mesh_of(drilled(*holes)), spec=self.SPEC).failures())
        assert fails <= failures
        assert not {"plate"} & failures

    def test_a_blind_hole_is_not_through(self) -> None:
        """The right diameter, not deep enough."""
        blind = box(100, 60, 20) - manifold3d.Manifold.cylinder(40, 8, circular_segments=96).translate(
            [30, 30, 1]
        )
        blind -= manifold3d.Manifold.cylinder(40, 4, circular_segments=96).translate([80, 40, -10])
        assert "bore/through" in graded(mesh_of(blind), spec=self.SPEC).failures()

    def test_a_thin_plate_fails_its_wall(self) -> None:
        """18 is not 20 ± 0.1."""
        assert (
            "plate"
            in graded(
                mesh_of(drilled((16, 30, 30), (8, 80, 40)).scale([1, 1, 0.9])), spec=self.SPEC
            ).failures()
        )

    def test_a_probe_that_fails_on_the_reference_is_a_bad_spec(self) -> None:
        """A wrong spec is ours, and said before anybody is graded."""
        with pytest.raises(BadSpec, match="fails on the reference itself"):
            graded(
                PLATE,
                spec=MeshSpec(probes=(Hole(name="x", centre=(10, 10, 10), axis=(0, 0, 1), diameter=5),)),
            )


_ONE = (
    "facet normal 0 0 1",
    "outer loop",
    "vertex 0 0 0",
    "vertex 1.5 0 0",
    "vertex 0 2.5 0",
    "endloop",
    "endfacet",
)
DIALECTS = (
    "\n".join(("solid a", *_ONE)).replace(".5", ",5"),
    "\r\n".join(("solid a", *_ONE, "endsolid")).upper(),
    "\ufeffsolid\n facet\nvertex 0 0 0 vertex 15e-1 0 0 vertex 0 2.5 0 endfacet endsolid",
)


class TestFiles:
    """STL as it is found in the wild."""

    @staticmethod
    def binary(folder: Path, mesh: Mesh = PLATE) -> Path:
        path = folder / "a.stl"
        stl.write_binary(path, mesh)
        return path

    def test_count_off_by_one_and_trailing_bytes(self, tmp_path: Path) -> None:
        """Tolerated, and noted."""
        path = self.binary(tmp_path)
        data = path.read_bytes()
        for count, tail in ((len(PLATE) + 1, b""), (len(PLATE) - 1, b""), (len(PLATE), b"junk")):
            path.write_bytes(data[:80] + struct.pack("<I", count) + data[84:] + tail)
            read = stl.read(path)
            assert len(read) == len(PLATE)
            assert read.notes

    @pytest.mark.parametrize("text", DIALECTS)
    def test_ascii_dialects(self, tmp_path: Path, text: str) -> None:
        """Decimal commas, capitals, CRLF, a BOM, no endsolid: one and the same triangle."""
        path = tmp_path / "a.stl"
        path.write_text(text, encoding="utf-8")
        assert stl.read(path).triangles.tolist() == [[[0, 0, 0], [1.5, 0, 0], [0, 2.5, 0]]]

    def test_several_solids_are_one_mesh(self, tmp_path: Path) -> None:
        """All of them are read."""
        path = tmp_path / "a.stl"
        stl.write_ascii(path, STOCK)
        path.write_text(path.read_text() * 2)
        assert len(stl.read(path)) == 2 * len(STOCK)

    @pytest.mark.parametrize(
        "data",
        [b"", b"solid", b"solid x\nendsolid x", b"\0" * 84, b"\0" * 80 + b"\xff\xff\xff\xff" + b"\0" * 500,
         b"solid a facet vertex 1 2 x vertex 1 2 3 vertex 1 2 3", b"solid a facet vertex 1 2 3 vertex 4 5 6",
         b"PK\x03\x04" + b"x" * 200],
    )  # fmt: skip
    def test_what_is_no_stl_is_refused(self, tmp_path: Path, data: bytes) -> None:
        """Empty, hostile counts, no numbers, half a facet: typed, and before anything is allocated."""
        path = tmp_path / "a.stl"
        path.write_bytes(data)
        with pytest.raises(Unreadable):
            stl.read(path)

    @pytest.mark.parametrize("suffix", ["obj", "ply", "off", "3mf", "glb"])
    def test_other_formats_say_the_same(self, tmp_path: Path, suffix: str) -> None:
        """A plate saved by another program in another format passes."""
        trimesh = pytest.importorskip("trimesh")
        path = tmp_path / f"a.{suffix}"
        trimesh.Trimesh(**trimesh.triangles.to_kwargs(PLATE.triangles)).export(path)
        assert graded(formats.read(path)).passed

    def test_the_picture_shows_something(self) -> None:
        """The evidence is a PNG of both surfaces, redder where they differ."""
        verdict = graded(STOCK, spec=MeshSpec(samples=500, search=500))
        picture = found(verdict, "surface").evidence[0]
        assert picture.data.startswith(b"\x89PNG")
        assert (
            graded(PLATE, spec=MeshSpec(samples=500, search=500)).checks[2].evidence[0].data != picture.data
        )


def test_facts_of_a_solid() -> None:
    """Bodies, watertightness and manifoldness of a block, two blocks, and a block with a facet missing."""

    def facts(mesh: Mesh) -> tuple[int, bool, bool]:
        made: Solid = solid(mesh)
        return made.bodies, made.watertight, made.manifold

    two = Mesh(np.concatenate([STOCK.triangles, STOCK.triangles + np.array([200, 0, 0])]))
    assert facts(STOCK) == (1, True, True)
    assert facts(two) == (2, True, True)
    assert facts(Mesh(STOCK.triangles[1:]))[1:] == (False, False)
