"""Which reader reads which mesh file."""

from __future__ import annotations

from pathlib import Path

from practicum.verifiers.errors import Unreadable
from practicum.verifiers.mesh import stl
from practicum.verifiers.mesh.soup import Mesh

_READERS = {".stl": stl.read}


def read(path: Path) -> Mesh:
    """Raises `Unreadable`."""
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise Unreadable(path, f"{path.suffix or 'a name without suffix'} is none of {', '.join(_READERS)}")
    return reader(path)
