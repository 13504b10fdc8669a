"""Fuzz targets, one a parser: whatever the bytes, a reader reads them or says `Unreadable`.

    python tests/fuzz/parsers.py [--seconds N] [NAME …]

Seeds come from the mutation kits; each is cut, spliced, bit-flipped, repeated, and salted with numbers that
parsers stumble over. Bytes that break a target are written beside it and make the exit code 1.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from practicum.verifiers import mutation
from practicum.verifiers.database import sqlite
from practicum.verifiers.errors import Unreadable
from practicum.verifiers.gcode import program
from practicum.verifiers.image import raster
from practicum.verifiers.mesh import formats
from practicum.verifiers.structured import data
from practicum.verifiers.tables import delimited, workbook
from practicum.verifiers.text import read as read_text
from practicum.verifiers.vector import svg

SALT = (
    b"\x00" * 8,
    b"\xff" * 8,
    b"\x7f\xff\xff\xff",
    b"-1",
    b"1e999",
    b"nan",
    b"\x80",
    b"%n",
    b"<!ENTITY a 'b'>",
    b"9" * 400,
)
Reader = Callable[[Path], object]


def targets() -> dict[str, tuple[Reader, str, bytes]]:
    """Name to reader, suffix and a right file to begin from."""
    seeds = {kind: _seed(kind) for kind in mutation.kinds()}
    return {
        "stl": (formats.read, ".stl", seeds["mesh"]),
        "stl-ascii": (formats.read, ".stl", _ascii(seeds["mesh"])),
        "obj": (formats.read, ".obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nvn 0 0 1\nf 1//1 2//1 3//1\n" * 3),
        "ply": (formats.read, ".ply", _other(seeds["mesh"], "ply")),
        "glb": (formats.read, ".glb", _other(seeds["mesh"], "glb")),
        "3mf": (formats.read, ".3mf", _other(seeds["mesh"], "3mf")),
        "csv": (delimited.read, ".csv", seeds["tables"]),
        "xlsx": (workbook.read, ".xlsx", _workbook()),
        "svg": (svg.read, ".svg", seeds["vector"]),
        "png": (raster.read, ".png", seeds["image"]),
        "sqlite": (sqlite.read, ".sqlite", seeds["database"]),
        "gcode": (program.read, ".gcode", seeds["gcode"]),
        "json": (data.read, ".json", seeds["structured"]),
        "yaml": (data.read, ".yaml", b"a: &x [1, 2.5, true]\nb: *x\nc: {d: 2024-01-01, e: null}\n"),
        "toml": (data.read, ".toml", b'a = 1\n[b]\nc = [1.5, true]\nd = 2024-01-01\n[[e]]\nf = "x"\n'),
        "xml": (data.read, ".xml", b'<a b="1"><c>text</c><d/><!-- x --><e xmlns="u:v">2</e></a>'),
        "text": (read_text, ".txt", seeds["text"]),
    }


def mutated(seed: bytes, random: Random) -> bytes:
    """One to eight small accidents."""
    made = bytearray(seed)
    for _ in range(random.randint(1, 8)):
        if not made:
            break
        place = random.randrange(len(made))
        match random.randrange(7):
            case 0:
                del made[place:]
            case 1:
                made[place] ^= 1 << random.randrange(8)
            case 2:
                made[place : place + random.randint(1, 16)] = b""
            case 3:
                made[place:place] = random.choice(SALT)
            case 4:
                other = random.randrange(len(made))
                made[place : place + 40] = made[other : other + 40]
            case 5:
                made[place:place] = made[place : place + random.randint(1, 200)] * random.randint(1, 4)
            case 6:
                made[place : place + 4] = random.randbytes(4)
    return bytes(made)


def attempt(reader: Reader, path: Path, content: bytes) -> str | None:
    """The traceback where a reader raises anything but `Unreadable`."""
    path.write_bytes(content)
    try:
        reader(path)
    except Unreadable:
        return None
    except Exception:  # noqa: BLE001 - finding what else is raised is the point
        return traceback.format_exc()
    return None


def inputs(name: str, seed: bytes) -> Iterator[bytes]:
    """The same endless series for a name every time."""
    random = Random(name)
    yield b""
    while True:
        yield mutated(seed, random)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="targets; all where none is named")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each target")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"))
    asked = parser.parse_args()
    broken = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name, (reader, suffix, seed) in targets().items():
            if asked.names and name not in asked.names:
                continue
            count, deadline = 0, time.monotonic() + asked.seconds
            for content in inputs(name, seed):
                if time.monotonic() > deadline:
                    break
                count += 1
                if trouble := attempt(reader, Path(scratch) / f"input{suffix}", content):
                    broken += 1
                    asked.findings.mkdir(exist_ok=True)
                    saved = asked.findings / f"{name}-{hashlib.sha256(content).hexdigest()[:12]}{suffix}"
                    saved.write_bytes(content)
                    print(f"{name}: {saved}\n{trouble}")
                    break
            print(f"{name}: {count} inputs")
    return 1 if broken else 0


def _seed(kind: str) -> bytes:
    kit = mutation.kit(kind)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"seed{kit.suffix}"
        kit.sample(path, Random(1))
        return path.read_bytes()


def _ascii(seed: bytes) -> bytes:
    return _converted(seed, lambda source: _rewritten(source, "ASCII"))


def _rewritten(source: Path, name: str) -> bytes:
    next(item for item in mutation.kit("mesh").rewritings if item.name == name).apply(source, Random(1))
    return source.read_bytes()[:4000]


def _other(seed: bytes, kind: str) -> bytes:
    import trimesh  # noqa: PLC0415 - only some targets are asked for

    return _converted(seed, lambda source: bytes(trimesh.load_mesh(source).export(file_type=kind)))


def _converted(seed: bytes, convert: Callable[[Path], bytes]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "seed.stl"
        source.write_bytes(seed)
        return convert(source)


def _workbook() -> bytes:
    import openpyxl  # noqa: PLC0415 - as above

    with tempfile.TemporaryDirectory() as folder:
        book = openpyxl.Workbook()
        book.active.append(["a", 1, 2.5, "=B1*2"])
        book.save(Path(folder) / "seed.xlsx")
        return (Path(folder) / "seed.xlsx").read_bytes()


if __name__ == "__main__":
    sys.exit(main())
