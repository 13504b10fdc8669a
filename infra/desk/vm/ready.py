"""Booted machines, saved: each kind of hardware boots once, and every desk after that begins where it stood.

A saved machine is an overlay of its disk with memory and devices in an internal snapshot. Booting takes from
seconds to a minute; going on from a copy of the file takes about one second.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from filelock import FileLock
from platformdirs import user_cache_path

from practicum.infra.desk.vm.accelerator import qemu
from practicum.infra.desk.vm.emulator import BOOT_LOG, CONSOLE_LOG, OVERLAY, Hardware

KEPT = 6
"""Saved machines that are kept, the latest used; each takes some hundred megabytes."""


@dataclass(frozen=True, slots=True)
class ReadyMachines:
    folder: Path = field(default_factory=lambda: user_cache_path("practicum") / "vm" / "ready")

    def copy(self, hardware: Hardware, folder: Path, boot: Callable[[], None]) -> None:
        """Lay a copy of the saved machine, and what it said at boot, in `folder`. Where there is none yet,
        `boot` makes one there.

        Only one process boots; others wait for it.
        """
        saved = self.folder / f"{key_of(hardware)}.qcow2"
        self.folder.mkdir(parents=True, exist_ok=True)
        with FileLock(saved.with_suffix(".lock")):
            if not saved.is_file():
                boot()
                (folder / CONSOLE_LOG).replace(folder / BOOT_LOG)
                shutil.copyfile(folder / BOOT_LOG, saved.with_suffix(".log"))
                Path(shutil.move(folder / OVERLAY, saved.with_suffix(".new"))).replace(saved)
                self._prune(saved)
        saved.touch()
        shutil.copyfile(saved.with_suffix(".log"), folder / BOOT_LOG)
        shutil.copyfile(saved, folder / OVERLAY)

    def _prune(self, fresh: Path) -> None:
        by_use = sorted(self.folder.glob("*.qcow2"), key=lambda path: path.stat().st_mtime, reverse=True)
        for old in by_use[KEPT:]:
            if old != fresh:
                old.unlink(missing_ok=True)
                old.with_suffix(".log").unlink(missing_ok=True)


def key_of(hardware: Hardware) -> str:
    """Names what a snapshot fits: the disk, the room on it, the machine, and the QEMU that made it."""
    parts = (hardware.disk.digest, str(hardware.spec.disk), _version(), *hardware.arguments())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


@cache
def _version() -> str:
    return subprocess.run([qemu(), "--version"], capture_output=True, check=True, text=True).stdout
