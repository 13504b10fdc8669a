"""Run a foreign program on a candidate's file from inside a verifier, behind walls of its own.

Inside the jail the reference is readable. A spreadsheet may hold a formula that reads another file, and a
program under test may open what it likes: so whatever interprets a candidate runs in a second, inner jail
that has only the files it is given. It has no `/proc`: the kernel lets nobody mount one inside another jail.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

from practicum.verifiers.errors import MissingExtra
from practicum.verifiers.jail import walls

_WORK = "/tmp/work"
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
_OUTPUT_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Completed:
    """How the program ended; `timed_out` programs were killed with all their children."""

    status: int
    stdout: bytes
    stderr: bytes
    timed_out: bool = False

    @property
    def ok(self) -> bool:
        return self.status == 0 and not self.timed_out


def run(
    argv: Sequence[str],
    folder: Path,
    *,
    seconds: float,
    memory: int = 3 << 30,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    writable: bool = True,
) -> Completed:
    """Run `argv` with `folder` as its working directory and only private file; output is cut at 4 MiB each.

    Raises `MissingExtra` where the program or bubblewrap is not installed.
    """
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise MissingExtra("bubblewrap", mend=walls.MEND)
    if shutil.which(argv[0]) is None:
        raise MissingExtra(argv[0], mend=f"install the Debian package that has {argv[0]}")
    command = [bwrap, *walls.base({**_ENVIRONMENT, **(environment or {})}), "--disable-userns"]
    command += ["--size", str(512 << 20), "--tmpfs", "/tmp"]
    command += ["--bind" if writable else "--ro-bind", str(folder), _WORK, *walls.SEAL[:-1], _WORK]
    return _captured([*command, *_limited(argv, seconds, memory)], seconds, stdin)


def _limited(argv: Sequence[str], seconds: float, memory: int) -> list[str]:
    limits = (
        f"--as={memory}",
        f"--cpu={int(seconds) + 1}",
        f"--fsize={256 << 20}",
        "--core=0",
        "--nofile=256",
    )
    return ["prlimit", *limits, "--", *argv]


def _captured(command: list[str], seconds: float, stdin: bytes) -> Completed:
    """Output goes to files, which the size limit bounds; a pipe would let it grow in our own memory."""
    with TemporaryFile() as given, TemporaryFile() as out, TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        timed_out = False
        with subprocess.Popen(
            command, stdin=given, stdout=out, stderr=err, start_new_session=True
        ) as process:
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                timed_out = True
                process.kill()
        out.seek(0)
        err.seek(0)
        return Completed(process.returncode, out.read(_OUTPUT_BYTES), err.read(_OUTPUT_BYTES), timed_out)
