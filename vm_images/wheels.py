"""The guest's Python packages, fetched by this machine's pip so that the build inside needs only apt."""

from __future__ import annotations

import hashlib
import platform
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from practicum.vm_images.context import Entry
from practicum.vm_images.engine import Lines, StepFailed
from practicum.vm_images.recipe import GUEST_LOCK

GUEST_PYTHON = "3.11"
GLIBC_MINOR = range(36, 16, -1)
"""glibc 2.x releases whose wheels run in the guest, newest first."""


def fetch(cache: Path, lines: Lines, lock: Path = GUEST_LOCK) -> tuple[Path, ...]:
    """The locked wheels for the guest's Python, from the cache after the first time. Raises `StepFailed`."""
    folder = cache / "wheels" / hashlib.sha256(lock.read_bytes()).hexdigest()
    done = folder / "complete"
    if not done.exists():
        lines(f"fetching wheels of {lock.name}")
        process = subprocess.run(
            (sys.executable, "-m", "pip", "download", *_target(), "-q", "-d", str(folder), "-r", str(lock)),
            capture_output=True,
            text=True,
            check=False,
        )
        if process.returncode:
            lines(process.stderr)
            raise StepFailed("the guest's Python packages cannot be fetched")
        done.touch()
    return tuple(sorted(folder.glob("*.whl")))


def entries(wheels: tuple[Path, ...], under: str) -> Iterator[Entry]:
    """The unpacked content of the wheels; equal to installing them, for wheels without scripts or data."""
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as content:
            for member in content.infolist():
                if not member.is_dir():
                    yield f"{under}{member.filename}", content.read(member)


def _target() -> Iterator[str]:
    yield from ("--no-deps", "--require-hashes", "--only-binary=:all:", "--disable-pip-version-check")
    yield from ("--implementation", "cp", "--python-version", GUEST_PYTHON)
    for minor in GLIBC_MINOR:
        yield f"--platform=manylinux_2_{minor}_{platform.machine()}"
    yield f"--platform=manylinux2014_{platform.machine()}"
