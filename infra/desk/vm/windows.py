"""Installing Windows unattended in a virtual machine, from the user's own media.

Not tried on real Windows: see the README of `vm_images`.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

from practicum.infra.desk.pauses import pause
from practicum.infra.desk.vm.accelerator import Accelerator, qemu
from practicum.infra.desk.vm.desk import encode
from practicum.infra.desk.vm.emulator import CONSOLE_LOG, PID, QEMU_LOG, Emulator, kill, logs, spawn
from practicum.infra.desk.vm.qmp import ChannelLost, CommandRefused
from practicum.infra.errors import DeskFault, EngineUnavailable, Stage
from practicum.vm_images.windows import media
from practicum.vm_images.windows.installation import (
    DISK_GIB,
    Mark,
    Media,
    Progress,
    command_line,
    lay_nvram,
    progress,
)
from practicum.vm_images.windows.setup import Setup

MARK_SECONDS = 3600.0
"""The longest that one stage may take under a real accelerator; TCG gets several times as much."""
_LOOK = 2.0
_STAGES = {None: Stage.START, Mark.SETTLING: Stage.DISPLAY, Mark.DRIVERS: Stage.DISPLAY}

Say = Callable[[str], None]


def install(
    setup: Setup,
    target: Path,
    *,
    windows: Path,
    virtio: Path,
    accelerator: Accelerator,
    say: Say = lambda _: None,
) -> None:
    """Make the disk `target`. Raises `DeskFault` with the stage, logs and screen where it stopped."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="installing-") as name:
        folder = Path(name)
        media.write(setup, folder / "answers.iso")
        _lay_firmware(folder)
        disk = folder / "disk.qcow2"
        subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", str(disk), f"{DISK_GIB}G"], check=True)
        inserted = Media(windows, virtio, folder / "answers.iso")
        argv = command_line(setup, inserted, disk, folder, accelerator.options)
        _attend([qemu(), *argv[1:]], folder, accelerator.slowness * MARK_SECONDS, say)
        disk.replace(target)
        (folder / "nvram.fd").replace(target.with_suffix(".nvram.fd"))


def _lay_firmware(folder: Path) -> None:
    try:
        lay_nvram(folder)
    except FileNotFoundError as error:
        raise EngineUnavailable("no UEFI firmware is installed", mend="apt-get install ovmf") from error


def _attend(argv: list[str], folder: Path, patience: float, say: Say) -> None:
    """Run the machine until it says that it is ready and has turned itself off."""
    pid = spawn(argv, folder / QEMU_LOG)
    (folder / PID).write_text(str(pid), "ascii")
    try:
        seen, since = Progress(), time.monotonic()
        while seen.mark is not Mark.READY:
            now = progress(_console(folder))
            if now != seen:
                seen, since = now, time.monotonic()
                say(seen.programs[-1] if seen.programs else str(seen.mark))
            if seen.failure or not psutil.pid_exists(pid) or time.monotonic() - since > patience:
                raise _stopped(folder, seen)
            pause(_LOOK)
        psutil.Process(pid).wait(patience)
    finally:
        kill(folder)


def _console(folder: Path) -> str:
    with suppress(FileNotFoundError):
        return (folder / CONSOLE_LOG).read_bytes().decode("utf-8", "replace")
    return ""


def _stopped(folder: Path, seen: Progress) -> DeskFault:
    """Why, after which mark, and what the screen shows."""
    frame = None
    with suppress(ChannelLost, CommandRefused, OSError):
        emulator = Emulator(folder)
        try:
            frame = encode(emulator.picture())
        finally:
            emulator.close()
    stage = _STAGES.get(seen.mark, Stage.STAGING)
    reason = seen.failure or f"it stopped after {seen.mark or 'nothing'}"
    return DeskFault(stage, f"installing Windows: {reason}", logs=logs(folder), frame=frame)
