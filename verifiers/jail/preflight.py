"""A look at the outputs before anything is parsed: only plain files and folders, few and small enough."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from practicum.verifiers.jail.limits import JailLimits


def objection(outputs: Path, limits: JailLimits) -> str | None:
    """Why these outputs may not be graded, or None. Follows no link and opens no file."""
    total = 0
    for count, (entry, depth) in enumerate(_walk(outputs, 1), start=1):
        name = os.path.relpath(entry.path, outputs)
        info = entry.stat(follow_symlinks=False)
        if not (stat.S_ISREG(info.st_mode) or stat.S_ISDIR(info.st_mode)):
            return f"{name!r} is a {_kind(info.st_mode)}, not a plain file or folder"
        if stat.S_ISREG(info.st_mode) and info.st_nlink > 1:
            return f"{name!r} is one of {info.st_nlink} hard links to one file"
        total += info.st_size if stat.S_ISREG(info.st_mode) else 0
        if depth > limits.outputs_depth:
            return f"{name!r} lies deeper than {limits.outputs_depth} folders"
        if count > limits.outputs_files:
            return f"more than {limits.outputs_files} files and folders"
        if total > limits.outputs_bytes:
            return f"more than {limits.outputs_bytes} bytes"
    return None


def _walk(folder: Path | str, depth: int) -> Iterator[tuple[os.DirEntry[str], int]]:
    stack: list[tuple[Path | str, int]] = [(folder, depth)]
    while stack:
        here, level = stack.pop()
        with os.scandir(here) as entries:
            for entry in sorted(entries, key=lambda item: item.name):
                yield entry, level
                if entry.is_dir(follow_symlinks=False):
                    stack.append((entry.path, level + 1))


def _kind(mode: int) -> str:
    for test, name in (
        (stat.S_ISLNK, "symbolic link"),
        (stat.S_ISFIFO, "named pipe"),
        (stat.S_ISSOCK, "socket"),
        (stat.S_ISBLK, "block device"),
        (stat.S_ISCHR, "character device"),
    ):
        if test(mode):
            return name
    return "special file"
