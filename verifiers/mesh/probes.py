"""Local measures, for what global ones do not see: a missing hole moves the volume of a plate by 3 %."""

from __future__ import annotations

import math

import numpy as np

from practicum.verifiers.errors import BadSpec
from practicum.verifiers.mesh.index import Index
from practicum.verifiers.mesh.rays import crossings, merged
from practicum.verifiers.mesh.soup import F8, Bools, Mesh, doubled_normals
from practicum.verifiers.mesh.spec import Hole, Probe, Region, Section, Thickness
from practicum.verifiers.verdict import Check, all_of, check

_SPOKES = 48
_STATIONS = (-0.45, 0.0, 0.45)


def measure(probe: Probe, candidate: Mesh, reference: Mesh) -> Check:
    match probe:
        case Hole():
            return _hole(probe, candidate).weighing(probe.weight)
        case Thickness():
            return _thickness(probe, candidate).weighing(probe.weight)
        case Section():
            return _section(probe, candidate).weighing(probe.weight)
        case Region():
            return _region(probe, candidate, reference).weighing(probe.weight)


def _unit(vector: tuple[float, float, float], name: str) -> F8:
    array = np.array(vector, np.float64)
    length = np.linalg.norm(array)
    if not length > 0.0:
        raise BadSpec(f"probe {name!r}: a direction without length")
    return np.asarray(array / length)


def _frame(axis: F8) -> tuple[F8, F8]:
    """Two unit vectors that complete a right-handed frame."""
    helper = np.eye(3)[np.abs(axis).argmin()]
    u = np.cross(axis, helper)
    u /= np.linalg.norm(u)
    return u, np.cross(axis, u)


def _hole(probe: Hole, mesh: Mesh) -> Check:
    axis, centre = _unit(probe.axis, probe.name), np.array(probe.centre)
    rims = [_rim(mesh, centre + station * probe.length * axis, axis) for station in _stations(probe)]
    wanted = f"Ø{probe.diameter:g} ± {probe.tolerance:g} at {_point(centre)}"
    if any(rim is None for rim in rims):
        return check(
            probe.name, False, expected=wanted, found="no hole", reason="no round wall around the axis"
        )
    circles = [_circle(rim) for rim in rims if rim is not None]
    diameters, offsets, ripples = zip(*circles, strict=True)
    worst = max(diameters, key=lambda value: abs(value - probe.diameter))
    parts = [
        check(
            "diameter", abs(worst - probe.diameter) <= probe.tolerance, expected=wanted, found=f"Ø{worst:.4g}"
        ),
        check(
            "position",
            max(offsets) <= probe.tolerance,
            expected=f"axis within {probe.tolerance:g}",
            found=f"{max(offsets):.4g} off the axis",
        ),
        check(
            "roundness",
            max(ripples) <= max(probe.tolerance, 0.02 * probe.diameter),
            expected="a round wall",
            found=f"radius varies by {max(ripples):.4g}",
        ),
    ]
    if probe.through is not None:
        distance, _, _ = crossings(centre, axis, mesh.triangles)
        ends = int((distance > 0.0).any()) + int((distance < 0.0).any())
        parts.append(
            check(
                "through",
                (ends == 0) == probe.through,
                expected=f"through: {probe.through}",
                found=f"{ends} ends closed",
            )
        )
    return all_of(probe.name, parts)


def _stations(probe: Hole) -> tuple[float, ...]:
    return _STATIONS if probe.length > 0.0 else (0.0,)


def _rim(mesh: Mesh, origin: F8, axis: F8) -> F8 | None:
    """(48, 2) points of the wall across the axis, or None where a spoke meets no wall of a hole."""
    u, v = _frame(axis)
    near = mesh.triangles[_astride(mesh.triangles, origin, axis)]
    points = np.empty((_SPOKES, 2))
    for spoke in range(_SPOKES):
        angle = 2.0 * math.pi * (spoke + 0.37) / _SPOKES
        x, y = math.cos(angle), math.sin(angle)
        distance, _, cosine = crossings(origin, x * u + y * v, near)
        ahead = np.flatnonzero(distance > 0.0)
        if not len(ahead) or cosine[ahead[0]] >= 0.0:
            return None
        points[spoke] = distance[ahead[0]] * np.array([x, y])
    return points


def _astride(triangles: F8, origin: F8, axis: F8) -> Bools:
    height = (triangles - origin) @ axis
    return np.asarray((height.min(axis=1) <= 0.0) & (height.max(axis=1) >= 0.0))


def _circle(points: F8) -> tuple[float, float, float]:
    """Least-squares circle: diameter, distance of its centre from the axis, half the spread of the radius.

    Source: I. Kåsa, *A Circle Fitting Procedure and Its Error Analysis*, IEEE Trans. Instrum. Meas. 25, 1976.
    """
    system = np.column_stack([2.0 * points, np.ones(len(points))])
    (x, y, c), *_ = np.linalg.lstsq(system, (points**2).sum(axis=1), rcond=None)
    radii = np.hypot(points[:, 0] - x, points[:, 1] - y)
    return 2.0 * math.sqrt(max(0.0, c + x * x + y * y)), math.hypot(x, y), float(np.ptp(radii)) / 2.0


def _thickness(probe: Thickness, mesh: Mesh) -> Check:
    direction, origin = _unit(probe.direction, probe.name), np.array(probe.origin)
    wanted = f"{probe.thickness:g} ± {probe.tolerance:g}"
    distance, _, cosine = crossings(origin, direction, mesh.triangles)
    distance, cosine = merged(distance, cosine, 1e-6 * mesh.diagonal)
    enters = np.flatnonzero((cosine < 0.0) & (distance >= 0.0))
    leaves = np.flatnonzero(cosine > 0.0)
    leaves = leaves[leaves > enters[0]] if len(enters) else leaves[:0]
    if not len(leaves):
        return check(probe.name, False, expected=wanted, found="no material", reason="the ray meets no wall")
    found = float(distance[leaves[0]] - distance[enters[0]])
    return check(
        probe.name, abs(found - probe.thickness) <= probe.tolerance, expected=wanted, found=f"{found:.4g}"
    )


def _section(probe: Section, mesh: Mesh) -> Check:
    area = section_area(mesh, np.array(probe.point), _unit(probe.normal, probe.name))
    error = abs(area - probe.area) / probe.area if probe.area else abs(area)
    return check(
        probe.name,
        error <= probe.tolerance_fraction,
        expected=f"{probe.area:.6g} ± {100 * probe.tolerance_fraction:g} %",
        found=f"{area:.6g}",
        score=max(0.0, 1.0 - error) if error > probe.tolerance_fraction else 1.0,
    )


def section_area(mesh: Mesh, point: F8, normal: F8) -> float:
    """Signed area of material in a plane, by Green's theorem over the cuts; vertices on it count as above."""
    height = (mesh.triangles - point) @ normal
    above = height >= 0.0
    cut = np.flatnonzero(above.any(axis=1) & ~above.all(axis=1))
    triangles, height, above = mesh.triangles[cut], height[cut], above[cut]
    ends = []
    for k in range(3):
        j = (k + 1) % 3
        crosses = above[:, k] != above[:, j]
        rise = np.where(crosses, height[:, k] - height[:, j], 1.0)
        t = np.where(crosses, height[:, k] / rise, 0.0)
        place = triangles[:, k] + t[:, None] * (triangles[:, j] - triangles[:, k])
        ends.append(np.where(crosses[:, None], place, 0.0))
    both = np.stack(ends, axis=1)
    used = np.stack([above[:, k] != above[:, (k + 1) % 3] for k in range(3)], axis=1)
    order = np.argsort(~used, axis=1, kind="stable")[:, :2]
    start, end = (np.take_along_axis(both, order[:, [k], None], axis=1)[:, 0] - point for k in range(2))
    along = np.einsum("ij,ij->i", np.cross(normal, doubled_normals(triangles)), end - start)
    signed = np.einsum("ij,j->i", np.cross(start, end), normal) / 2.0
    return float((np.sign(along) * signed).sum())


def _region(probe: Region, candidate: Mesh, reference: Mesh) -> Check:
    low, high = np.array(probe.low), np.array(probe.high)
    worst = 0.0
    for source, target in ((candidate, reference), (reference, candidate)):
        points = _within(source, low, high)
        if len(points):
            worst = max(worst, float(Index(target.triangles).distance(points).max()))
        elif source is reference:
            raise BadSpec(f"probe {probe.name!r}: the reference has no surface in its box")
    return check(
        probe.name, worst <= probe.tolerance, expected=f"within {probe.tolerance:g}", found=f"{worst:.4g} off"
    )


def _within(mesh: Mesh, low: F8, high: F8) -> F8:
    """Points of the surface in a box, a fine subdivision of the facets that touch it."""
    touching = (mesh.triangles.min(axis=1) <= high).all(axis=1) & (mesh.triangles.max(axis=1) >= low).all(
        axis=1
    )
    triangles = mesh.triangles[touching]
    if not len(triangles):
        return np.zeros((0, 3))
    steps = int(np.clip(math.sqrt(12_000 / len(triangles)), 2, 60))
    weights = (
        np.array([(i, j, steps - i - j) for i in range(steps + 1) for j in range(steps + 1 - i)]) / steps
    )
    points = np.einsum("wk,nkd->nwd", weights, triangles).reshape(-1, 3)
    return np.asarray(points[((points >= low) & (points <= high)).all(axis=1)])


def _point(point: F8) -> str:
    return "(" + ", ".join(f"{value:g}" for value in point) + ")"
