"""Files of an existing machine over SFTP, with the caps and refusals that all desks have."""

from __future__ import annotations

import stat
from pathlib import Path, PurePosixPath

import paramiko

from practicum.infra.errors import OutputRefused

_CHUNK = 1 << 18


def put(sftp: paramiko.SFTPClient, source: Path, target: PurePosixPath, mode: int) -> None:
    """A file or folder, parents made; a single file gets `mode`. Links and devices stay behind."""
    _make_folders(sftp, target.parent)
    if source.is_file():
        sftp.put(str(source), str(target))
        sftp.chmod(str(target), mode)
        return
    _make_folders(sftp, target)
    for child in sorted(source.iterdir()):
        if not child.is_symlink() and (child.is_file() or child.is_dir()):
            put(sftp, child, target / child.name, stat.S_IMODE(child.stat().st_mode))


def _make_folders(sftp: paramiko.SFTPClient, folder: PurePosixPath) -> None:
    try:
        sftp.stat(str(folder))
    except FileNotFoundError:
        _make_folders(sftp, folder.parent)
        sftp.mkdir(str(folder))


class Take:
    """One `get`: counts what it takes. Raises `OutputRefused` over the caps, and for what is no file."""

    def __init__(self, sftp: paramiko.SFTPClient, max_bytes: int, max_files: int) -> None:
        self._sftp = sftp
        self._bytes_left = max_bytes
        self._files_left = max_files
        self.written = 0

    def take(self, source: PurePosixPath, target: Path, *, top: bool = True) -> None:
        """Raises `FileNotFoundError` where nothing is there."""
        kind = self._sftp.lstat(str(source)).st_mode or 0
        if stat.S_ISDIR(kind):
            self._count()
            target.mkdir(parents=True, exist_ok=True)
            for name in sorted(self._sftp.listdir(str(source))):
                self.take(source / name, target / _plain(name), top=False)
        elif stat.S_ISREG(kind):
            self._count()
            self._copy(source, target)
        elif top:
            raise OutputRefused(f"{source.name} is neither a file nor a folder")

    def _count(self) -> None:
        self._files_left -= 1
        if self._files_left < 0:
            raise OutputRefused("too many files")

    def _copy(self, source: PurePosixPath, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        with self._sftp.open(str(source), "rb") as file, target.open("xb") as sink:
            file.prefetch(max_concurrent_requests=64)
            while piece := file.read(_CHUNK):
                self._bytes_left -= len(piece)
                if self._bytes_left < 0:
                    raise OutputRefused("too many bytes")
                self.written += len(piece)
                sink.write(piece)


def _plain(name: str) -> str:
    """A name as the machine gave it, which must be one."""
    if name in {"", ".", ".."} or "/" in name or "\0" in name:
        raise OutputRefused(f"{name!r} is no name of a file")
    return name
