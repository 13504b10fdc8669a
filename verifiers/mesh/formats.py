"""Which reader reads which mesh file. STL is read here; the others by trimesh, behind bounds."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import trimesh
from lxml import etree

from practicum.verifiers.bounds import check_zip, read_bytes
from practicum.verifiers.errors import Unreadable
from practicum.verifiers.mesh import stl
from practicum.verifiers.mesh.soup import Mesh

_PARSER_ERRORS = (
    *(
        ValueError,
        KeyError,
        IndexError,
        TypeError,
        AttributeError,
        AssertionError,
        EOFError,
        OSError,
        NameError,
    ),
    *(
        NotImplementedError,
        OverflowError,
        struct.error,
        zipfile.BadZipFile,
        etree.LxmlError,
        ZeroDivisionError,
    ),
)
"""What trimesh's loaders raise on files that are not what they claim: they index before they check."""


def read(path: Path) -> Mesh:
    """By suffix. Raises `Unreadable`, also for a scene whose facets are no triangles in the end."""
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise Unreadable(path, f"{path.suffix or 'a name without suffix'} is none of {', '.join(_READERS)}")
    return reader(path)


def _by_trimesh(kind: str) -> Callable[[Path], Mesh]:
    def load(path: Path) -> Mesh:
        data = read_bytes(path)
        if kind == "3mf":
            check_zip(path)
        try:
            with np.errstate(all="ignore"):
                scene = trimesh.load_scene(io.BytesIO(data), file_type=kind, resolver=None)
                triangles = np.array(scene.to_mesh().triangles, np.float64)
        except _PARSER_ERRORS as error:
            raise Unreadable(path, f"broken {kind.upper()}: {error}") from error
        if not len(triangles):
            raise Unreadable(path, "no facets")
        if not np.isfinite(triangles).all():
            raise Unreadable(path, "a coordinate that is not a finite number")
        return Mesh(triangles)

    return load


_READERS: dict[str, Callable[[Path], Mesh]] = {
    ".stl": stl.read,
    ".obj": _by_trimesh("obj"),
    ".ply": _by_trimesh("ply"),
    ".off": _by_trimesh("off"),
    ".3mf": _by_trimesh("3mf"),
    ".glb": _by_trimesh("glb"),
}
