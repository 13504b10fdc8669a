"""Which accelerator a virtual machine can really use: asked by running one, not by looking at `/dev/kvm`.

A device that is there may hang, and one that runs a few instructions may still not run an operating system;
both have been met. So the question is put to the very kernel that desks boot.
"""

from __future__ import annotations

import logging
import shutil
import subprocess
import sys
import time
from enum import StrEnum
from pathlib import Path

import msgspec
import psutil
from platformdirs import user_cache_path

from practicum.infra.errors import EngineUnavailable
from practicum.vm_images.vm.disk import Disk

QEMU = "qemu-system-x86_64"
PROBE_SECONDS = 10.0
REMEMBERED_SECONDS = 3600.0
_ALIVE = b"desk: alive"
_MEMORY = 512

_log = logging.getLogger(__name__)


class Accelerator(StrEnum):
    """As QEMU names them. TCG translates instructions, on as many threads as the guest has processors."""

    KVM = "kvm"
    HVF = "hvf"
    WHPX = "whpx"
    TCG = "tcg"

    @property
    def options(self) -> tuple[str, ...]:
        if self is Accelerator.TCG:
            return ("-accel", "tcg,thread=multi", "-cpu", "max")
        return ("-accel", self.value, "-cpu", "host")

    @property
    def slowness(self) -> float:
        """By how much patience with a guest is to be multiplied."""
        return 5.0 if self is Accelerator.TCG else 1.0


_NATIVE = {"linux": Accelerator.KVM, "darwin": Accelerator.HVF, "win32": Accelerator.WHPX}


class _Known(msgspec.Struct, frozen=True):
    """What was found out, where and when (seconds since the epoch)."""

    accelerator: Accelerator
    place: str
    at: float


def qemu() -> str:
    """The path of QEMU. Raises `EngineUnavailable`."""
    path = shutil.which(QEMU)
    if path is None:
        mend = "apt-get install --no-install-recommends qemu-system-x86 qemu-utils"
        raise EngineUnavailable(f"{QEMU} is missing", mend=mend)
    return path


def best(disk: Disk, *, memory: Path | None = None) -> Accelerator:
    """The host's own accelerator if a guest answers under it, else TCG; says so when it finds out.

    Remembered in the file `memory` for an hour of this boot, since asking takes seconds where it fails.
    """
    memory = memory or user_cache_path("practicum") / "vm" / "accelerator.json"
    place = f"{psutil.boot_time():.0f}:{qemu()}"
    try:
        known = msgspec.json.decode(memory.read_bytes(), type=_Known)
    except (FileNotFoundError, msgspec.DecodeError):
        known = None
    if known is not None and known.place == place and 0 <= time.time() - known.at < REMEMBERED_SECONDS:
        return known.accelerator
    found = _find(disk)
    memory.parent.mkdir(parents=True, exist_ok=True)
    memory.write_bytes(msgspec.json.encode(_Known(found, place, time.time())))
    return found


def _find(disk: Disk) -> Accelerator:
    native = _NATIVE.get(sys.platform)
    if native is not None and answers(native, disk):
        return native
    _log.warning("no guest answers under %s: virtual machines are emulated (TCG), and slow", native or "any")
    return Accelerator.TCG


def answers(accelerator: Accelerator, disk: Disk, *, bound: float = PROBE_SECONDS) -> bool:
    """Whether the disk's kernel, on two processors, reaches its first program within `bound` seconds."""
    argv = [
        *(qemu(), "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-nic", "none"),
        *("-M", "q35", *accelerator.options, "-smp", "2", "-m", str(_MEMORY), "-serial", "stdio"),
        *("-kernel", str(disk.kernel), "-initrd", str(disk.ram_disk)),
        *("-append", "console=ttyS0 quiet panic=-1 vm.probe"),
    ]
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=bound, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0 and _ALIVE in done.stdout
