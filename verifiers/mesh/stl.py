"""A bounded, tolerant STL reader.

Size decides first: 84 + 50·n bytes is binary whatever the header says, because exporters write "solid" into
binary headers. Everything else that begins with "solid" and names facets is ASCII. Counts are held against
the file's size before anything is allocated.

Source: StereoLithography Interface Specification, 3D Systems, 1989.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path

import numpy as np

from practicum.verifiers.errors import Unreadable
from practicum.verifiers.mesh.soup import F8, Mesh

MAX_BYTES = 512 << 20
_HEADER = 84
_RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_VERTEX = re.compile(rb"\bvertex\s+(\S{1,64})\s+(\S{1,64})\s+(\S{1,64})", re.IGNORECASE)
_FACET = re.compile(rb"\bfacet\b", re.IGNORECASE)


def read(path: Path) -> Mesh:
    """Raises `Unreadable` for what is missing, truncated, hostile or without facets."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise Unreadable(path, f"{size} bytes, more than {MAX_BYTES} allowed")
        data = path.read_bytes()
    except OSError as error:
        raise Unreadable(path, error.strerror or "cannot be read") from error
    if _is_exact_binary(data):
        triangles, notes = _binary(path, data)
    elif data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")[:5].lower() == b"solid" and _FACET.search(
        data, 0, 1 << 16
    ):
        triangles, notes = _ascii(path, data)
    else:
        triangles, notes = _binary(path, data)
    if not np.isfinite(triangles).all():
        bad = int(np.flatnonzero(~np.isfinite(triangles).all(axis=(1, 2)))[0])
        raise Unreadable(path, f"facet {bad} has a coordinate that is not a finite number")
    return Mesh(triangles, notes)


def write_binary(path: Path, mesh: Mesh, header: bytes = b"practicum") -> None:
    records = np.zeros(len(mesh), _RECORD)
    records["corners"] = mesh.triangles
    path.write_bytes(header.ljust(80, b"\0")[:80] + struct.pack("<I", len(mesh)) + records.tobytes())


def write_ascii(path: Path, mesh: Mesh, name: str = "practicum") -> None:
    lines = [f"solid {name}"]
    for corners in mesh.triangles.astype(np.float32):
        lines += ["facet normal 0 0 0", " outer loop"]
        lines += [f"  vertex {x!s} {y!s} {z!s}" for x, y, z in corners]
        lines += [" endloop", "endfacet"]
    path.write_text("\n".join([*lines, f"endsolid {name}", ""]))


def _is_exact_binary(data: bytes) -> bool:
    return len(data) > _HEADER and len(data) == _HEADER + 50 * struct.unpack_from("<I", data, 80)[0]


def _binary(path: Path, data: bytes) -> tuple[F8, tuple[str, ...]]:
    if len(data) < _HEADER + 50:
        raise Unreadable(path, f"{len(data)} bytes are too few for an STL with one facet")
    claimed = int(struct.unpack_from("<I", data, 80)[0])
    held, notes = (len(data) - _HEADER) // 50, list[str]()
    if claimed == 0:
        raise Unreadable(path, "the header says there are no facets")
    if claimed > held + 1:
        raise Unreadable(path, f"truncated: the header says {claimed} facets, the file holds {held}")
    count = claimed
    if abs(claimed - held) == 1:
        count = held
        notes.append(f"header says {claimed} facets, file holds {held}")
    if trailing := len(data) - _HEADER - 50 * count:
        notes.append(f"{trailing} trailing bytes ignored")
    records = np.frombuffer(data, _RECORD, count, offset=_HEADER)
    with np.errstate(invalid="ignore"):  # a signalling NaN is found and named by the caller
        return records["corners"].astype(np.float64), tuple(notes)


def _ascii(path: Path, data: bytes) -> tuple[F8, tuple[str, ...]]:
    tokens = [token for match in _VERTEX.findall(data) for token in match]
    if not tokens:
        raise Unreadable(path, "an ASCII STL without vertices")
    if len(tokens) % 9:
        raise Unreadable(path, f"truncated: {len(tokens) // 3} vertices do not make whole facets")
    notes = list[str]()
    if any(b"," in token for token in tokens):
        tokens = [token.replace(b",", b".") for token in tokens]
        notes.append("decimal commas read as points")
    if (solids := len(re.findall(rb"^\s*solid\b", data, re.IGNORECASE | re.MULTILINE))) > 1:
        notes.append(f"{solids} solids read as one mesh")
    if not re.search(rb"\bendsolid\b", data, re.IGNORECASE):
        notes.append("no endsolid")
    try:
        values = np.array(tokens, dtype="S64").astype(np.float64)
    except ValueError as error:
        raise Unreadable(path, f"a vertex coordinate is not a number: {error}") from error
    return values.reshape(-1, 3, 3), tuple(notes)
