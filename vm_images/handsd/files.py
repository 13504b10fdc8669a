"""What leaves the desk: regular files and folders as a tar stream, no link followed anywhere on the way."""

from __future__ import annotations

import os
import stat
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO, cast

from practicum.vm_images.handsd.protocol import CHUNK

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY


class Refused(Exception):
    """What is there may not be taken: not a regular file or folder, or over the caps."""


@dataclass(slots=True)
class Caps:
    max_bytes: int
    max_files: int

    def take(self, size: int) -> None:
        self.max_bytes -= size
        self.max_files -= 1
        if self.max_bytes < 0:
            raise Refused("too many bytes")
        if self.max_files < 0:
            raise Refused("too many files")


class _Sink:
    """A file to write to that hands on whole chunks."""

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self._send = send
        self._held = bytearray()

    def write(self, data: bytes) -> int:
        self._held += data
        if len(self._held) >= CHUNK:
            self.flush()
        return len(data)

    def flush(self) -> None:
        if self._held:
            self._send(bytes(self._held))
            self._held.clear()


class _Exactly:
    """Reads as many bytes as the header promised: a file that shrank ends in zeros, one that grew is cut."""

    def __init__(self, fd: int, size: int) -> None:
        self._fd = fd
        self._left = size

    def read(self, size: int) -> bytes:
        size = min(size, self._left)
        data = os.read(self._fd, size)
        self._left -= len(data) or size
        return data or bytes(size)


def pack(path: PurePosixPath, caps: Caps, send: Callable[[bytes], None]) -> None:
    """Send `path` as a tar stream whose one top member is called as `path` is.

    Raises `FileNotFoundError` and `Refused`.
    """
    sink = _Sink(send)
    with tarfile.open(fileobj=cast(BinaryIO, sink), mode="w|", format=tarfile.PAX_FORMAT) as archive:
        parent = _walk(path.parent)
        try:
            _add(archive, parent, path.name, path.name, caps, top=True)
        finally:
            os.close(parent)
    sink.flush()


def _walk(path: PurePosixPath) -> int:
    """The folder at an absolute path, reached without following a link."""
    folder = os.open("/", _FOLDER)
    for part in path.parts[1:]:
        try:
            deeper = os.open(part, _FOLDER, dir_fd=folder)
        except NotADirectoryError as error:
            raise Refused(f"{part} is not a folder") from error
        finally:
            os.close(folder)
        folder = deeper
    return folder


def _add(archive: tarfile.TarFile, folder: int, name: str, arcname: str, caps: Caps, *, top: bool) -> None:
    about = os.stat(name, dir_fd=folder, follow_symlinks=False)
    member = tarfile.TarInfo(arcname)
    member.mtime = int(about.st_mtime)
    if stat.S_ISDIR(about.st_mode):
        caps.take(0)
        member.type, member.mode = tarfile.DIRTYPE, 0o755
        archive.addfile(member)
        for child in _children(folder, name):
            _add(archive, child[0], child[1], f"{arcname}/{child[1]}", caps, top=False)
    elif stat.S_ISREG(about.st_mode):
        fd = os.open(name, _FILE, dir_fd=folder)
        try:
            member.size = os.fstat(fd).st_size
            caps.take(member.size)
            archive.addfile(member, cast(BinaryIO, _Exactly(fd, member.size)))
        finally:
            os.close(fd)
    elif top:
        raise Refused(f"{name} is neither a file nor a folder")


def _children(folder: int, name: str) -> Iterator[tuple[int, str]]:
    inner = os.open(name, _FOLDER, dir_fd=folder)
    try:
        for child in sorted(os.listdir(inner)):  # noqa: PTH208 - of a descriptor, which a path cannot name
            yield inner, child
    finally:
        os.close(inner)
