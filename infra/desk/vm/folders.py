"""Where machines are kept while they run: a folder each, whose lease says whose it is and until when.

    root/lock                    held for moments, by whoever takes or gives a machine
    root/<machine>/lease.json    label, owner, hardware; written first, removed last
                  /overlay.qcow2, sockets, logs, qemu.pid

What is on disk is the whole truth: machines outlive the process that started them, and any process can reap.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
import psutil
from filelock import FileLock

from practicum.infra.desk.desk import Label
from practicum.infra.desk.vm.emulator import kill
from practicum.infra.errors import EngineUnavailable

_LEASE = "lease.json"
_SAME = 2.0
"""Seconds by which two processes may differ on when a third began: the kernel reckons from a moving clock."""
_EXAMPLE = "vm-000000000000/monitor"
_LONGEST_PATH = 104
"""A socket's path may have about a hundred bytes, on every system."""


@dataclass(frozen=True, slots=True)
class Lease:
    """`hardware` names what the machine was made of; `idle` when it waits for a next trial.

    The owner is a process and the moment it began (seconds since the epoch): a number is used again.
    """

    label: Label
    hardware: str
    owner: int
    owner_since: float
    idle: bool = False

    @property
    def orphaned(self) -> bool:
        if self.idle:
            return False
        try:
            process = psutil.Process(self.owner)
            if process.status() == psutil.STATUS_ZOMBIE:
                return True
            return abs(process.create_time() - self.owner_since) > _SAME
        except psutil.NoSuchProcess:
            return True


def lease_of(label: Label, hardware: str) -> Lease:
    me = psutil.Process()
    return Lease(label, hardware, me.pid, me.create_time())


@dataclass(frozen=True, slots=True)
class Folders:
    """All machines of one user on this host. Raises `EngineUnavailable` where the place cannot be trusted."""

    root: Path = field(default_factory=lambda: Path(tempfile.gettempdir()) / f"practicum-vm-{os.getuid()}")

    def create(self, lease: Lease) -> Path:
        with self._locked():
            folder = self.root / f"vm-{secrets.token_hex(6)}"
            folder.mkdir(mode=0o700)
            self._write(folder, lease)
        return folder

    def claim(self, hardware: str, label: Label) -> Path | None:
        """An idle machine of this hardware, now leased; None where there is none."""
        with self._locked():
            for folder, lease in self._leases():
                if lease.idle and lease.hardware == hardware:
                    self._write(folder, lease_of(label, hardware))
                    return folder
        return None

    def park(self, folder: Path, lease: Lease, keep: int) -> bool:
        """Let a machine wait for a next trial; False where `keep` machines wait already."""
        with self._locked():
            if sum(other.idle for _, other in self._leases()) >= keep:
                return False
            self._write(folder, lease)
        return True

    def relabel(self, folder: Path, label: Label) -> None:
        """Lease a machine of this process to another trial."""
        with self._locked():
            lease = msgspec.json.decode((folder / _LEASE).read_bytes(), type=Lease)
            self._write(folder, replace(lease, label=label))

    def remove(self, folder: Path) -> None:
        """End what runs in a folder and delete it; nothing happens if another did."""
        kill(folder)
        with self._locked():
            shutil.rmtree(folder, ignore_errors=True)

    def held(self) -> tuple[Label, ...]:
        with self._locked():
            return tuple(lease.label for _, lease in self._leases())

    def reap(self, now: float, abandoned: Callable[[Label], bool]) -> tuple[Label, ...]:
        """Remove what is past its deadline, abandoned, or of a dead process."""
        with self._locked():
            due = [
                (folder, lease.label)
                for folder, lease in self._leases()
                if lease.label.deadline <= now or lease.orphaned or abandoned(lease.label)
            ]
        for folder, _ in due:
            self.remove(folder)
        return tuple(label for _, label in due)

    def _leases(self) -> list[tuple[Path, Lease]]:
        found = []
        for path in sorted(self.root.glob(f"*/{_LEASE}")):
            try:
                found.append((path.parent, msgspec.json.decode(path.read_bytes(), type=Lease)))
            except FileNotFoundError:
                continue  # removed by its owner meanwhile
        return found

    def _write(self, folder: Path, lease: Lease) -> None:
        fresh = folder / f"{_LEASE}.new"
        fresh.write_bytes(msgspec.json.encode(lease))
        fresh.replace(folder / _LEASE)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.root.mkdir(mode=0o700, exist_ok=True, parents=True)
        about = self.root.lstat()
        if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid() or about.st_mode & 0o077:
            raise EngineUnavailable(f"{self.root} is not a private folder", mend=f"rm -r {self.root}")
        if len(str(self.root / _EXAMPLE)) > _LONGEST_PATH:
            raise EngineUnavailable(
                f"{self.root} is too long a path for sockets", mend="set TMPDIR to a shorter one"
            )
        with FileLock(self.root / "lock"):
            yield
