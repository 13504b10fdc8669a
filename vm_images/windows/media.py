"""The medium that answers Setup's questions: the answer file, the scripts, and the user's own programs."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pycdlib

from practicum.vm_images.windows import answer, scripts
from practicum.vm_images.windows.setup import Setup

ANSWER = "autounattend.xml"
VOLUME = "DESK"


def contents(setup: Setup) -> Iterator[tuple[str, bytes | Path]]:
    """Path on the medium, and what lies there: bytes, or a file of the user's."""
    yield ANSWER, answer.write(setup)
    yield scripts.SETTLE, scripts.settle(setup)
    yield scripts.INSTALL, scripts.install(setup)
    for number, program in enumerate(setup.programs):
        yield f"programs/{number:02}/{program.file.name}", program.file


def write(setup: Setup, target: Path) -> None:
    """An ISO image with Joliet names, which Windows reads. Raises `NotValid` and `OSError`."""
    iso = pycdlib.PyCdlib()
    iso.new(interchange_level=3, joliet=3, vol_ident=VOLUME)
    with closing(iso):
        folders: set[str] = set()
        for number, (path, content) in enumerate(contents(setup)):
            _make_folders(iso, path, folders)
            short, long = f"{_short_folder(path)}/{number:08}.;1", f"/{path}"
            if isinstance(content, Path):
                iso.add_file(str(content), short, joliet_path=long)
            else:
                iso.add_fp(io.BytesIO(content), len(content), short, joliet_path=long)
        iso.write(str(target))


def _make_folders(iso: pycdlib.PyCdlib, path: str, made: set[str]) -> None:
    parts = path.split("/")[:-1]
    for depth in range(1, len(parts) + 1):
        folder = "/".join(parts[:depth])
        if folder not in made:
            made.add(folder)
            iso.add_directory(iso_path=f"/{folder.upper()}", joliet_path=f"/{folder}")


def _short_folder(path: str) -> str:
    folder = path.rpartition("/")[0].upper()
    return f"/{folder}" if folder else ""
