"""Bounds that every reader holds a file against before it hands it to a parser."""

from __future__ import annotations

import lzma
import stat
import struct
import zipfile
import zlib
from pathlib import Path

from practicum.verifiers.errors import Unreadable

MAX_BYTES = 256 << 20
_MAX_MEMBERS = 20_000
_MAX_UNPACKED = 512 << 20
_MAX_RATIO = 200
_ZIP_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError),
    *(ValueError, NotImplementedError, RuntimeError),
)
_RATIO_FROM = 10 << 20
"""A small member may compress well; a ratio is suspicious only where much comes out."""


def read_bytes(path: Path, *, limit: int = MAX_BYTES) -> bytes:
    """Raises `Unreadable` where the file is missing, no plain file, empty or too large."""
    try:
        info = path.lstat()
        if not stat.S_ISREG(info.st_mode):
            raise Unreadable(path, "not a plain file")
        if info.st_size > limit:
            raise Unreadable(path, f"{info.st_size} bytes, more than {limit} allowed")
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise Unreadable(path, "missing") from error
    except OSError as error:
        raise Unreadable(path, error.strerror or "cannot be read") from error
    if not data:
        raise Unreadable(path, "empty")
    return data


def check_zip(path: Path) -> None:
    """Raises `Unreadable` where a zip container is broken or unpacks to more than anyone would save."""
    read_bytes(path)
    try:
        with zipfile.ZipFile(path) as archive:
            _check_sizes(path, archive.infolist())
            broken = archive.testzip()
    except _ZIP_ERRORS as error:
        raise Unreadable(path, f"not a sound zip container: {error}") from error
    if broken is not None:
        raise Unreadable(path, f"member {broken!r} is damaged")


def _check_sizes(path: Path, members: list[zipfile.ZipInfo]) -> None:
    if len(members) > _MAX_MEMBERS:
        raise Unreadable(path, f"{len(members)} members, more than {_MAX_MEMBERS} allowed")
    total = sum(member.file_size for member in members)
    if total > _MAX_UNPACKED:
        raise Unreadable(path, f"unpacks to {total} bytes, more than {_MAX_UNPACKED} allowed")
    for member in members:
        if member.file_size > max(_RATIO_FROM, _MAX_RATIO * member.compress_size):
            raise Unreadable(path, f"member {member.filename!r} expands {member.file_size} bytes from few")
        if member.flag_bits & 0x1:
            raise Unreadable(path, "encrypted")
