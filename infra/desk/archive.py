"""The way out of a desk: a tar written by an untrusted machine, unpacked so that it can do no harm.

Only regular files and folders pass. Links, devices, FIFOs, absolute names, `..` and names that the host
cannot hold are left out or refused; sizes are counted as bytes arrive, never believed from a header.
"""

from __future__ import annotations

import os
import tarfile
from pathlib import Path, PurePosixPath
from typing import IO

from practicum.infra.errors import OutputRefused

_CHUNK = 1 << 20
_MAX_DEPTH = 32
_MAX_NAME = 200


def extract(stream: IO[bytes], target: Path, *, max_bytes: int, max_files: int) -> int:
    """Unpack a tar whose single root (a file or a folder, whatever its name) becomes `target`.

    Returns the bytes written. Raises `OutputRefused` where the root is not a plain file or folder, the tar
    is damaged, or a cap is exceeded; `target` is then left incomplete and not to be trusted.
    """
    budget = _Budget(max_bytes, max_files)
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                _take(archive, member, target, budget)
    except (tarfile.TarError, ValueError, OverflowError) as error:
        raise OutputRefused(f"damaged archive: {error}") from error
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise OutputRefused(f"{error.filename}: one name for two things") from error
    if not budget.rooted:
        raise OutputRefused("the output is a link or a device, or the archive is empty")
    return budget.written


class _Budget:
    def __init__(self, max_bytes: int, max_files: int) -> None:
        self.max_bytes, self.max_files = max_bytes, max_files
        self.written = self.entries = 0
        self.rooted = False

    def enter(self) -> None:
        self.entries += 1
        if self.entries > self.max_files:
            raise OutputRefused(f"more than {self.max_files} files")

    def spend(self, size: int) -> None:
        self.written += size
        if self.written > self.max_bytes:
            raise OutputRefused(f"larger than {self.max_bytes} bytes")


def _take(archive: tarfile.TarFile, member: tarfile.TarInfo, target: Path, budget: _Budget) -> None:
    budget.enter()
    inner = _inner_path(member.name)
    if not inner.parts:
        if not (member.isreg() or member.isdir()):
            raise OutputRefused("the output is a link or a device")
        budget.rooted = True
    if not budget.rooted or not (member.isreg() or member.isdir()):
        return
    path = target.joinpath(*inner.parts)
    if member.isdir():
        path.mkdir(parents=True, exist_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    source = archive.extractfile(member)
    if source is not None:
        _copy(source, path, budget)


def _inner_path(name: str) -> PurePosixPath:
    """The member's place below the root. Raises `OutputRefused` for names that reach elsewhere."""
    path = PurePosixPath(name.removeprefix("./"))
    if path.is_absolute() or ".." in path.parts or "\0" in name:
        raise OutputRefused(f"name {name[:80]!r} reaches outside")
    if len(path.parts) > _MAX_DEPTH or any(len(os.fsencode(part)) > _MAX_NAME for part in path.parts):
        raise OutputRefused(f"name {name[:80]!r}… is too long")
    return PurePosixPath(*path.parts[1:])


def _copy(source: IO[bytes], path: Path, budget: _Budget) -> None:
    """Never through an existing file: a name met twice is the sign of a forged archive."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as sink:
        while chunk := source.read(_CHUNK):
            budget.spend(len(chunk))
            sink.write(chunk)
