"""Exact closest points and STL loading, beside other engines on the same meshes in the same run.

    python tests/bench/geometry.py [--json] [--facets 5000 80000 330000 1300000]

trimesh is always measured; libigl, fcpw, point-cloud-utils and VTK where they are installed. Engines that
compute in single precision are marked. Times are wall clock, the median of the rounds.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from practicum.verifiers.mesh import stl
from practicum.verifiers.mesh.index import Index
from practicum.verifiers.mesh.soup import F8, I8, Mesh

QUERIES = 10_000
Measured = tuple[float, float, F8]
Engine = Callable[[F8, I8, F8], Measured]


def bumpy_sphere(facets: int) -> tuple[F8, I8]:
    """Vertices and faces of a closed surface with facets of very different sizes."""
    n = max(4, round(math.sqrt(facets / 2)))
    u, v = np.meshgrid(
        np.linspace(0, 2 * np.pi, n, endpoint=False), np.linspace(1e-3, np.pi - 1e-3, n), indexing="ij"
    )
    r = 50 * (1 + 0.1 * np.sin(5 * u) * np.sin(4 * v))
    points = np.stack([r * np.sin(v) * np.cos(u), r * np.sin(v) * np.sin(u), r * np.cos(v)], -1).reshape(
        -1, 3
    )
    i, j = np.meshgrid(np.arange(n), np.arange(n - 1), indexing="ij")
    a, b = (i * n + j).ravel(), (((i + 1) % n) * n + j).ravel()
    faces = np.concatenate([np.stack([a, b, b + 1], 1), np.stack([a, b + 1, a + 1], 1)])
    return points, faces.astype(np.int64)


def timed(build: Callable[[], Any], query: Callable[[Any], F8]) -> Measured:
    start = time.perf_counter()
    index = build()
    built = time.perf_counter()
    distances = query(index)
    return built - start, time.perf_counter() - built, distances


def ours(points: F8, faces: I8, queries: F8) -> Measured:
    triangles = points[faces]
    return timed(lambda: Index(triangles), lambda index: index.distance(queries))


def by_trimesh(points: F8, faces: I8, queries: F8) -> Measured:
    import trimesh  # noqa: PLC0415 - engines are optional, each imports its own

    mesh = trimesh.Trimesh(points, faces, process=False)
    return timed(lambda: mesh.triangles_tree, lambda _: mesh.nearest.on_surface(queries)[1])


def by_igl(points: F8, faces: I8, queries: F8) -> Measured:
    import igl  # noqa: PLC0415

    def build() -> Any:
        tree = igl.AABB_f64_3()
        tree.init(points, faces)
        return tree

    return timed(build, lambda tree: np.sqrt(tree.squared_distance(points, faces, queries)[0]))


def by_pcu(points: F8, faces: I8, queries: F8) -> Measured:
    import point_cloud_utils  # noqa: PLC0415

    return timed(lambda: None, lambda _: point_cloud_utils.closest_points_on_mesh(queries, points, faces)[0])


def by_fcpw(points: F8, faces: I8, queries: F8) -> Measured:
    import fcpw  # noqa: PLC0415

    def build() -> Any:
        scene = fcpw.scene_3D()
        scene.set_object_count(1)
        scene.set_object_vertices(points.astype(np.float32), 0)
        scene.set_object_triangles(faces.astype(np.int32), 0)
        scene.build(fcpw.aggregate_type.bvh_surface_area, True, False, False)
        return scene

    def query(scene: Any) -> F8:
        found = fcpw.interaction_3D_list()
        scene.find_closest_points(
            queries.astype(np.float32), np.full(len(queries), np.inf, np.float32), found
        )
        return np.array([item.d for item in found])

    return timed(build, query)


def by_vtk(points: F8, faces: I8, queries: F8) -> Measured:
    import vtk  # noqa: PLC0415
    from vtk.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray  # noqa: PLC0415

    def build() -> Any:
        data, corners, cells = vtk.vtkPolyData(), vtk.vtkPoints(), vtk.vtkCellArray()
        corners.SetData(numpy_to_vtk(points))
        cells.SetData(3, numpy_to_vtkIdTypeArray(faces.ravel()))
        data.SetPoints(corners)
        data.SetPolys(cells)
        locator = vtk.vtkStaticCellLocator()
        locator.SetDataSet(data)
        locator.BuildLocator()
        return locator

    def query(locator: Any) -> F8:
        cell, point, found = vtk.vtkGenericCell(), [0.0, 0.0, 0.0], np.empty(len(queries))
        number, part, squared = vtk.reference(0), vtk.reference(0), vtk.reference(0.0)
        for place, one in enumerate(queries):
            locator.FindClosestPoint(one, point, cell, number, part, squared)
            found[place] = float(squared)
        return np.sqrt(found)

    return timed(build, query)


OTHERS: dict[str, tuple[str, Engine]] = {
    "trimesh": ("trimesh", by_trimesh),
    "libigl": ("igl", by_igl),
    "point-cloud-utils": ("point_cloud_utils", by_pcu),
    "fcpw (single precision)": ("fcpw", by_fcpw),
    "VTK": ("vtk", by_vtk),
}


def available() -> dict[str, Engine]:
    found = {name: engine for name, (module, engine) in OTHERS.items() if importlib.util.find_spec(module)}
    return {"practicum": ours, **found}


def spread(samples: list[float]) -> dict[str, float | str]:
    return {"median": statistics.median(samples), "min": min(samples), "max": max(samples), "unit": "s"}


def closest(facets: int, rounds: int) -> dict[str, dict[str, float | str]]:
    points, faces = bumpy_sphere(facets)
    random = np.random.default_rng(0)
    queries = points[random.integers(0, len(points), QUERIES)] + random.normal(0, 0.5, (QUERIES, 3))
    results, truth = {}, None
    for name, engine in available().items():
        runs = [engine(points, faces, queries) for _ in range(rounds)]
        truth = runs[0][2] if truth is None else truth
        for part, samples in (
            ("build", [r[0] for r in runs]),
            ("query", [r[1] for r in runs]),
            ("both", [r[0] + r[1] for r in runs]),
        ):
            results[f"{name}/{len(faces)}/{part}"] = spread(samples)
        error = float(np.abs(runs[0][2] - truth).max())
        results[f"{name}/{len(faces)}/difference"] = {
            "median": error,
            "min": error,
            "max": error,
            "unit": "mm",
        }
    return results


def loading(facets: int, rounds: int) -> dict[str, dict[str, float | str]]:
    points, faces = bumpy_sphere(facets)
    samples = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.stl"
        stl.write_binary(path, Mesh(points[faces]))
        for _ in range(rounds):
            start = time.perf_counter()
            stl.read(path)
            samples.append(time.perf_counter() - start)
    return {f"STL load/{len(faces)}": spread(samples)}


def show(results: dict[str, dict[str, float | str]]) -> None:
    table = Table("what", "median", "min", "max", "unit", "× faster than trimesh")
    for name, row in results.items():
        mine = name.startswith("practicum/") and name.endswith("/both")
        other = results.get(name.replace("practicum", "trimesh"), {}) if mine else {}
        ratio = f"{float(other['median']) / float(row['median']):.1f}" if other else ""
        numbers = [f"{float(row[key]):.4g}" for key in ("median", "min", "max")]
        table.add_row(name, *numbers, str(row["unit"]), ratio)
    Console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facets", type=int, nargs="+", default=[5_000, 80_000, 330_000, 1_300_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    results: dict[str, dict[str, float | str]] = {}
    for facets in asked.facets:
        results |= loading(facets, asked.rounds) | closest(facets, asked.rounds)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    results["peak memory of all engines"] = {"median": peak, "min": peak, "max": peak, "unit": "MiB"}
    if asked.json:
        json.dump(results, sys.stdout, indent=1)
    else:
        show(results)


if __name__ == "__main__":
    main()
