"""Locks that the kernel lets go when their holder dies, however it dies.

`flock` on a file of the record: no clock, no heartbeat, no stale lock to judge. A lease belongs to the
process that works on the trial, so a controller killed alone never frees a trial whose worker lives on.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Held(Exception):
    """Somebody else holds this lock."""


@contextmanager
def exclusive(path: Path, *, wait: bool = False) -> Iterator[None]:
    """Hold `path` for the block. Raises `Held` when it is taken and `wait` is not asked for."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError as error:
            raise Held(str(path)) from error
        os.ftruncate(file, 0)
        os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(file)


def is_held(path: Path) -> bool:
    """Whether any process, this one included, holds the lock."""
    if not path.exists():
        return False
    file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False
