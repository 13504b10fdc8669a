"""How facets hang together: welding, shells, watertightness, and winding that exporters get wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from practicum.verifiers.mesh.rays import crossings
from practicum.verifiers.mesh.soup import F8, I8, Bools, Mesh, doubled_normals

_SNAP = 1e-6
"""Vertices this close, relative to the diagonal, are one vertex where exact welding leaves gaps."""
_MAX_NESTED = 200


@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """A welded mesh. `shell` numbers each facet's connected component; `volumes` is signed, per shell."""

    mesh: Mesh
    vertices: F8
    faces: I8
    shell: I8
    volumes: F8
    watertight: bool
    manifold: bool
    mended: tuple[str, ...]

    @property
    def volume(self) -> float:
        """Signed, in cubic file units; meaningful where watertight."""
        return float(self.volumes.sum())

    @property
    def bodies(self) -> int:
        """Shells that bound material from outside; an inner shell with inward winding is a cavity."""
        return int((self.volumes > 0.0).sum())

    @property
    def cavities(self) -> int:
        return int((self.volumes < 0.0).sum())

    @property
    def euler(self) -> int:
        """V − E + F of the welded mesh."""
        edges = len(np.unique(np.sort(_edges(self.faces), axis=1), axis=0))
        return len(np.unique(self.faces)) - edges + len(self.faces)


def solid(mesh: Mesh) -> Solid:
    """Weld, drop what has collapsed or is there twice, and make winding consistent and outward."""
    mended = list[str]()
    vertices, faces, kept = _welded(mesh)
    if duplicates := len(mesh) - len(kept):
        mended.append(f"{duplicates} duplicate or degenerate facets dropped")
    count, shell = _shells(faces)
    faces, shell, mixed = _consistent(faces, shell, count)
    if mixed:
        mended.append(f"mixed winding made consistent in {mixed} shells")
    manifold, watertight = _manifold(faces), _balanced(faces)
    volumes = _volumes(vertices[faces], shell, count)
    inward = _inward(vertices[faces], shell, volumes) if watertight else np.zeros(count, bool)
    if inward.any():
        turned = inward[shell]
        faces[turned] = faces[turned][:, ::-1]
        volumes = np.where(inward, -volumes, volumes)
        mended.append(f"inverted winding turned outward in {int(inward.sum())} shells")
    clean = Mesh(vertices[faces], mesh.notes)
    return Solid(clean, vertices, faces, shell, volumes, watertight, manifold, tuple(mended))


def _welded(mesh: Mesh) -> tuple[F8, I8, I8]:
    exact = _weld(mesh.triangles)
    if _balanced(exact[1]) or _undirected_even(exact[1]):
        return exact
    pitch = mesh.diagonal * _SNAP or 1.0
    snapped = _weld(np.round(mesh.triangles / pitch) * pitch)
    return snapped if _undirected_even(snapped[1]) else exact


def _weld(triangles: F8) -> tuple[F8, I8, I8]:
    """Vertices, faces without collapsed and repeated facets, and which facets were kept."""
    flat = np.ascontiguousarray(triangles.reshape(-1, 3) + 0.0)
    bits = flat.view(np.uint64)
    key = bits[:, 0] * np.uint64(0x9E3779B97F4A7C15)
    for axis in (1, 2):
        key = (key ^ (key >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9) + bits[:, axis]
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    if not np.array_equal(flat[first][inverse], flat):
        _, first, inverse = np.unique(flat, axis=0, return_index=True, return_inverse=True)
    faces = inverse.reshape(-1, 3).astype(np.int64)
    whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    kept = np.flatnonzero(whole)
    kept = kept[_first_of_each(faces[kept])]
    return flat[first], faces[kept], kept


def _first_of_each(faces: I8) -> I8:
    """One of each run of facets with the same winding and the same three vertices."""
    turn = faces.argmin(axis=1)
    rows = np.arange(len(faces))
    rolled = np.stack([faces[rows, (turn + k) % 3] for k in range(3)], axis=1)
    order = np.lexsort(rolled.T)
    new = np.ones(len(order), bool)
    new[1:] = (rolled[order][1:] != rolled[order][:-1]).any(axis=1)
    return np.sort(order[new])


def _edges(faces: I8) -> I8:
    return np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])


def _shells(faces: I8) -> tuple[int, I8]:
    """Facets are one shell when they share an edge."""
    count = len(faces)
    owner = np.tile(np.arange(count), 3)
    first, second = _neighbours(faces, owner)
    graph = coo_matrix((np.ones(len(first), bool), (first, second)), (count, count))
    shells, label = connected_components(graph, directed=False)
    return int(shells), label.astype(np.int64)


def _neighbours(faces: I8, owner: I8) -> tuple[I8, I8]:
    keys = _edge_keys(faces)
    order = np.argsort(keys, kind="stable")
    same = keys[order][1:] == keys[order][:-1]
    return owner[order][:-1][same], owner[order][1:][same]


def _edge_keys(faces: I8) -> I8:
    edges = np.sort(_edges(faces), axis=1)
    return edges[:, 0] * (int(faces.max(initial=0)) + 1) + edges[:, 1]


def _undirected_even(faces: I8) -> bool:
    if not len(faces):
        return False
    _, uses = np.unique(_edge_keys(faces), return_counts=True)
    return bool((uses % 2 == 0).all())


def _manifold(faces: I8) -> bool:
    if not len(faces):
        return False
    _, uses = np.unique(_edge_keys(faces), return_counts=True)
    return bool((uses == 2).all())


def _directions(faces: I8) -> I8:
    edges = _edges(faces)
    return np.where(edges[:, 0] < edges[:, 1], 1, -1)


def _balanced(faces: I8) -> bool:
    """Every edge is walked as often one way as the other: the surface encloses its material."""
    if not len(faces):
        return False
    _, inverse = np.unique(_edge_keys(faces), return_inverse=True)
    return not np.bincount(inverse, weights=_directions(faces)).any()


def _consistent(faces: I8, shell: I8, count: int) -> tuple[I8, I8, int]:
    """Turn facets so that two that share an edge agree, where each edge has at most two facets.

    The graph has each facet twice, as it is and turned: an agreeing pair joins like with like, a disagreeing
    pair unlike. A facet is turned when it hangs together with the turned copy of its shell's first facet.
    """
    if not len(faces):
        return faces, shell, 0
    keys, directions, owner = _edge_keys(faces), _directions(faces), np.tile(np.arange(len(faces)), 3)
    order = np.argsort(keys, kind="stable")
    pair = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    _, uses = np.unique(keys, return_counts=True)
    first, second = order[pair], order[pair + 1]
    disagree = directions[first] == directions[second]
    if not disagree.any() or uses.max() > 2:
        return faces, shell, 0
    n, a, b = len(faces), owner[first], owner[second]
    rows = np.concatenate([a, a + n])
    columns = np.concatenate([np.where(disagree, b + n, b), np.where(disagree, b, b + n)])
    graph = coo_matrix((np.ones(len(rows), bool), (rows, columns)), (2 * n, 2 * n))
    _, label = connected_components(graph, directed=False)
    leader = np.full(count, -1)
    leader[shell[::-1]] = label[:n][::-1]
    turned: Bools = label[:n] != leader[shell]
    faces = faces.copy()
    faces[turned] = faces[turned][:, ::-1]
    return faces, shell, len(np.unique(shell[a[disagree]]))


def _volumes(triangles: F8, shell: I8, count: int) -> F8:
    """Signed volume per shell by the divergence theorem."""
    centre = triangles.reshape(-1, 3).mean(axis=0) if len(triangles) else np.zeros(3)
    moved = triangles - centre
    parts = np.einsum("ij,ij->i", moved[:, 0], np.cross(moved[:, 1], moved[:, 2])) / 6.0
    return np.asarray(np.bincount(shell, weights=parts, minlength=count), np.float64)


def _inward(triangles: F8, shell: I8, volumes: F8) -> Bools:
    """Shells whose winding is the wrong way round for how deep they are nested."""
    count = len(volumes)
    if count == 1:
        return volumes < 0.0
    if count > _MAX_NESTED:
        return np.full(count, volumes.sum() < 0.0)
    hollow = np.array([_depth(triangles, shell, index, count) % 2 == 1 for index in range(count)])
    if volumes.sum() < 0.0:
        return np.where(hollow, volumes > 0.0, volumes < 0.0)
    return np.asarray((volumes < 0.0) & ~hollow)


def _depth(triangles: F8, shell: I8, index: int, count: int) -> int:
    """How many other shells enclose this one, by the parity of crossings of one ray."""
    mine = triangles[shell == index]
    largest = mine[np.linalg.norm(doubled_normals(mine), axis=1).argmax()]
    origin, direction = largest.mean(axis=0), np.array([0.5351, 0.6247, 0.5687])
    others = np.flatnonzero(shell != index)
    distance, facet, _ = crossings(origin, direction, triangles[others])
    hits = np.bincount(shell[others][facet[distance > 0.0]], minlength=count)
    return int((hits % 2 == 1).sum())
