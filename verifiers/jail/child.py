"""The process inside the jail: limits itself, imports one verifier, runs it, and reports over a pipe."""

from __future__ import annotations

import ctypes
import errno
import importlib
import os
import resource
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import cast

import msgspec

from practicum.verifiers.errors import Unreadable
from practicum.verifiers.jail.limits import JailLimits, Resource
from practicum.verifiers.jail.protocol import (
    OUTPUTS,
    READY,
    REFERENCE,
    Crashed,
    Exhausted,
    Graded,
    Refused,
    Report,
    Request,
)
from practicum.verifiers.verdict import Verdict

_PR_SET_DUMPABLE = 4
_FULL = frozenset({errno.ENOSPC, errno.EFBIG, errno.EDQUOT})


def main(report_fd: int) -> None:
    os.set_inheritable(report_fd, False)
    _hide_from_children()
    os.write(report_fd, READY)
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=Request)
    _limit(request.limits)
    with os.fdopen(report_fd, "wb") as pipe:
        pipe.write(msgspec.json.encode(_run(request)))


def _run(request: Request) -> Report:
    try:
        verify = _load(request)
        return _graded(verify(Path(OUTPUTS), Path(REFERENCE), request.params))
    except Unreadable as error:
        return Refused(str(error.path), error.reason)
    except MemoryError as error:
        return Exhausted(Resource.MEMORY, str(error))
    except RecursionError as error:
        return Exhausted(Resource.NESTING, str(error))
    except Exception as error:  # noqa: BLE001 - the seam: whatever a verifier raises must be reported as its fault
        if isinstance(error, OSError) and error.errno in _FULL:
            return Exhausted(Resource.FILE_SIZE, str(error))
        if isinstance(error, OSError) and error.errno == errno.EMFILE:
            return Exhausted(Resource.FILE_SIZE, "too many open files")
        return Crashed(f"{type(error).__name__}: {error}", traceback.format_exc())


def _load(request: Request) -> Callable[[Path, Path, object], object]:
    sys.path += request.search_path
    module, _, name = request.target.partition(":")
    found: object = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return cast("Callable[[Path, Path, object], object]", found)


def _graded(verdict: object) -> Report:
    if isinstance(verdict, Verdict):
        return Graded(verdict)
    return Crashed(f"the verifier returned {type(verdict).__name__}, not a Verdict", "")


def _limit(limits: JailLimits) -> None:
    for which, value in (
        (resource.RLIMIT_AS, limits.memory),
        (resource.RLIMIT_CPU, limits.cpu_seconds),
        (resource.RLIMIT_FSIZE, limits.file_size),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_NPROC, limits.processes),
        (resource.RLIMIT_CORE, 0),
    ):
        _, ceiling = resource.getrlimit(which)
        hard = value if ceiling == resource.RLIM_INFINITY else min(value, ceiling)
        resource.setrlimit(which, (_soft(which, hard), hard))


def _soft(which: int, hard: int) -> int:
    """Processor time runs out softly first: SIGXCPU names the cause, SIGKILL does not."""
    return max(0, hard - 1) if which == resource.RLIMIT_CPU else hard


def _hide_from_children() -> None:
    """A program under test runs as the same user: it must not reach the report pipe through /proc."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_DUMPABLE)")


if __name__ == "__main__":
    main(int(sys.argv[1]))
