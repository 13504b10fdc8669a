"""Stopping everything that one user runs, for good."""

from __future__ import annotations

import os
import select
import signal
import time
from contextlib import suppress
from pathlib import Path

from practicum.vm_images.handsd.session import thread_states

_AT_REST = frozenset("TtZX")
_ROUND = 0.002


class StillRunning(Exception):
    """Some processes of the user would not stop."""


def freeze(uid: int, bound: float) -> int:
    """Stop all processes of a user until two looks in a row find none that moves; returns how many.

    Nobody is left to continue them: only the same user could, and all of it is stopped. Whatever is still
    not at rest after `bound` seconds is killed; raises `StillRunning` if even that does not help.
    """
    deadline = time.monotonic() + bound
    calm = 0
    while calm < 2:
        moving = [pid for pid in _processes(uid) if not _at_rest(pid)]
        calm = 0 if moving else calm + 1
        late = time.monotonic() > deadline
        if late and time.monotonic() > deadline + bound:
            raise StillRunning(f"{len(moving)} processes do not stop")
        for pid in moving:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL if late else signal.SIGSTOP)
        if moving:
            select.select([], [], [], _ROUND)
    return len(_processes(uid))


def _processes(uid: int) -> list[int]:
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(FileNotFoundError, ProcessLookupError):
                status = Path(entry.path, "status").read_text("ascii", "replace")
                uids = status.partition("\nUid:")[2].partition("\n")[0].split()
                if str(uid) in uids:
                    found.append(int(entry.name))
    return found


def _at_rest(pid: int) -> bool:
    """Whether no thread of it can run."""
    return all(state in _AT_REST for state in thread_states(pid))
