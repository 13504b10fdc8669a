"""Who has an existing machine now: a lock that the kernel frees with its process, and a note of the label."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout

from practicum.infra.desk.desk import Label
from practicum.infra.desk.ssh.host import Host


@dataclass(frozen=True, slots=True)
class Lease:
    """One machine held by this process under a label, until released or taken back."""

    host: Host
    label: Label
    note: Path
    lock: FileLock

    def stands(self) -> bool:
        """Whether nobody took it back."""
        return _read(self.note) == self.label

    def release(self) -> None:
        if self.stands():
            self.note.unlink(missing_ok=True)
        self.lock.release()


@dataclass(frozen=True, slots=True)
class Leases:
    """The leases of one user on this host, in one folder."""

    folder: Path

    def take(self, hosts: tuple[Host, ...], label: Label) -> Lease | None:
        """The first machine that is free; None where none is."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for host in hosts:
            lock = self._lock(host)
            try:
                lock.acquire(timeout=0)
            except Timeout:
                continue
            note = self._note(host)
            note.write_bytes(msgspec.json.encode(label))
            return Lease(host, label, note, lock)
        return None

    def held(self, hosts: tuple[Host, ...]) -> tuple[Label, ...]:
        found = (_read(self._note(host)) for host in hosts)
        return tuple(label for label in found if label is not None)

    def take_back(
        self, hosts: tuple[Host, ...], now: float, abandoned: Callable[[Label], bool]
    ) -> tuple[Label, ...]:
        """Leases that are over, abandoned, or of a dead process; a holder that lives sees that it lost it."""
        over = []
        for host in hosts:
            label = _read(self._note(host))
            if label and (label.deadline <= now or abandoned(label) or self._is_free(host)):
                self._note(host).unlink(missing_ok=True)
                over.append(label)
        return tuple(over)

    def _is_free(self, host: Host) -> bool:
        lock = self._lock(host)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return False
        lock.release()
        return True

    def _lock(self, host: Host) -> FileLock:
        return FileLock(self._note(host).with_suffix(".lock"))

    def _note(self, host: Host) -> Path:
        return self.folder / f"{host.user}@{host.name}-{host.port}.json"


def _read(note: Path) -> Label | None:
    try:
        return msgspec.json.decode(note.read_bytes(), type=Label)
    except FileNotFoundError:
        return None
