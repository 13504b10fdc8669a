"""What this machine has, what it lacks, and the command that mends it. Needs neither root nor Docker."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import psutil

from practicum.vm_images.builder import Images
from practicum.vm_images.engine import Engine, Host
from practicum.vm_images.errors import EngineMissing

GIB = 1 << 30
OLDEST_PYTHON = (3, 11)
DISK_NEEDED = 12 * GIB
"""All images take about 8 GiB; the rest is for their building, desks and records."""
MEMORY_NEEDED = 3 * GIB
MEMORY_COMFORTABLE = 6 * GIB
SETUP = "scripts/setup"
QEMU = f"qemu-system-{platform.machine()}"
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_NAMESPACES = ("--unshare-all", "--disable-userns", "--unshare-user", "--ro-bind", "/", "/", "true")


class Standing(StrEnum):
    OK = "ok"
    LIMITED = "limited"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. `mend` is empty where nothing can be done; only MISSING keeps a run from it."""

    name: str
    standing: Standing
    sentence: str
    mend: str = ""


def examine(images: Images) -> Iterator[Finding]:
    """Every finding, as it comes."""
    yield python(sys.version_info[:3])
    yield from _engine(images)
    yield bubblewrap()
    yield libreoffice(shutil.which)
    yield disk(images.cache)
    yield memory(psutil.virtual_memory().total)
    yield qemu(shutil.which)
    yield browser(shutil.which)


def _engine(images: Images) -> Iterator[Finding]:
    try:
        engine = Engine.connect()
    except EngineMissing as error:
        yield Finding("docker", Standing.MISSING, f"No Docker engine answers: {error.reason}.", SETUP)
        return
    with engine:
        host = engine.host()
        yield docker(host)
        yield limits(host)
        yield built(images, engine)


def well(findings: list[Finding]) -> bool:
    """Whether nothing that a run needs is missing."""
    return all(finding.standing is not Standing.MISSING for finding in findings)


def python(version: tuple[int, int, int]) -> Finding:
    text = ".".join(map(str, version))
    if version[:2] < OLDEST_PYTHON:
        return Finding("python", Standing.MISSING, f"Python {text} is too old.", "apt-get install python3.11")
    return Finding("python", Standing.OK, f"Python {text} on {platform.machine()}.")


def docker(host: Host) -> Finding:
    return Finding("docker", Standing.OK, f"Docker engine {host.version} answers.")


def limits(host: Host) -> Finding:
    lacking = [
        name
        for name, there in (
            ("memory", host.memory_limit),
            ("processor", host.cpu_limit),
            ("pids", host.pids_limit),
        )
        if not there
    ]
    if lacking:
        sentence = (
            f"The kernel gives the engine no limit on: {', '.join(lacking)}; desks could starve each other."
        )
        return Finding("cgroups", Standing.LIMITED, sentence, "mount -t cgroup2 none /sys/fs/cgroup")
    return Finding(
        "cgroups", Standing.OK, f"Memory, processor and pids are limited by cgroups v{host.cgroups}."
    )


def built(images: Images, engine: Engine) -> Finding:
    missing = [name for name in images.recipes.names() if images.find(name, engine) is None]
    if missing:
        sentence = f"Images not built for their present recipe: {', '.join(missing)}."
        return Finding("images", Standing.LIMITED, sentence, f"practicum image build {' '.join(missing)}")
    return Finding("images", Standing.OK, "All images are built.")


def bubblewrap() -> Finding:
    """Tried, not only looked for: some kernels forbid the namespaces it needs."""
    path = shutil.which("bwrap")
    if path is None:
        return Finding(
            "bubblewrap", Standing.MISSING, "bubblewrap, the jail of the verifiers, is not installed.", SETUP
        )
    tried = subprocess.run((path, *_NAMESPACES), capture_output=True, text=True, check=False)
    if tried.returncode:
        sentence = f"bubblewrap cannot make a jail here: {tried.stderr.strip()}."
        mend = "sysctl -w kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0"
        return Finding("bubblewrap", Standing.MISSING, sentence, mend)
    return Finding("bubblewrap", Standing.OK, "bubblewrap makes jails.")


def libreoffice(which: Callable[[str], str | None]) -> Finding:
    if which("soffice") or which("libreoffice"):
        return Finding("libreoffice", Standing.OK, "LibreOffice can recalculate workbooks.")
    return Finding(
        "libreoffice", Standing.MISSING, "LibreOffice, which recalculates workbooks, is not installed.", SETUP
    )


def disk(folder: Path) -> Finding:
    """Free space where our cache lies; the engine's own folder is only root's to look at."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free = psutil.disk_usage(str(existing)).free
    sentence = f"{free // GIB} GiB of disk are free."
    if free < DISK_NEEDED:
        return Finding(
            "disk",
            Standing.MISSING,
            f"{sentence[:-1]}; images and desks need {DISK_NEEDED // GIB}.",
            "practicum image prune",
        )
    return Finding("disk", Standing.OK, sentence)


def memory(total: int) -> Finding:
    sentence = f"{total / GIB:.1f} GiB of memory."
    if total < MEMORY_NEEDED:
        return Finding("memory", Standing.MISSING, f"{sentence[:-1]}; one desk needs {MEMORY_NEEDED // GIB}.")
    if total < MEMORY_COMFORTABLE:
        return Finding(
            "memory",
            Standing.LIMITED,
            f"{sentence[:-1]} let one desk run at a time.",
            "practicum run --workers 1",
        )
    return Finding("memory", Standing.OK, sentence)


def qemu(which: Callable[[str], str | None], kvm: Path = Path("/dev/kvm")) -> Finding:
    """Only whether KVM may be opened; whether a guest runs under it is tried when a disk is there to try."""
    install = "apt-get install --no-install-recommends qemu-system-x86 qemu-utils"
    if which(QEMU) is None:
        return Finding("qemu", Standing.LIMITED, "No QEMU, so no virtual machine desks (optional).", install)
    if not os.access(kvm, os.R_OK | os.W_OK):
        sentence = "QEMU is here and KVM may not be used, so virtual machines are slow (optional)."
        return Finding("qemu", Standing.LIMITED, sentence)
    return Finding("qemu", Standing.OK, "QEMU is here, and KVM may be used.")


def browser(which: Callable[[str], str | None]) -> Finding:
    if any(which(name) for name in _BROWSERS):
        return Finding("browser", Standing.OK, "Chromium is here for the tests of the viewer.")
    sentence = "No Chromium on this machine, so the viewer's browser tests are left out (optional)."
    return Finding("browser", Standing.LIMITED, sentence, "apt-get install chromium")
