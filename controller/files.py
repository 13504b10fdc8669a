"""Writing that survives a crash at any point: whole files by rename, lines by append, both synced."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec


def now() -> str:
    """UTC in ISO 8601 with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def write_whole(path: Path, data: bytes) -> None:
    """Replace `path` by `data` or leave it as it was; on return the bytes are on the disk."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def write_json(path: Path, value: object) -> None:
    write_whole(path, msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n")


def sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class Appender:
    """A file of lines. A torn last line, left by a crash, is closed before the first new one."""

    def __init__(self, path: Path, *, sync: bool = True) -> None:
        self._sync = sync
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self._torn = _ends_torn(self._file)

    def append(self, value: object) -> None:
        """One JSON line, durable on return when `sync`. Raises `OSError`, also where the disk is full."""
        line = (b"\n" if self._torn else b"") + msgspec.json.encode(value) + b"\n"
        self._torn = True
        if os.write(self._file, line) != len(line):
            raise OSError(errno.ENOSPC, "only part of a record could be written")
        self._torn = False
        if self._sync:
            os.fdatasync(self._file)

    def close(self) -> None:
        os.close(self._file)


def _ends_torn(file: int) -> bool:
    size = os.fstat(file).st_size
    return size > 0 and os.pread(file, 1, size - 1) != b"\n"


@contextmanager
def appending(path: Path, *, sync: bool = True) -> Iterator[Appender]:
    appender = Appender(path, sync=sync)
    try:
        yield appender
    finally:
        appender.close()


def read_lines(path: Path) -> Iterator[bytes]:
    """Whole lines only; what a crash left of a line is passed over by whoever decodes it."""
    if not path.exists():
        return
    with path.open("rb") as stream:
        for line in stream:
            if line.endswith(b"\n") and not line.isspace():
                yield line
