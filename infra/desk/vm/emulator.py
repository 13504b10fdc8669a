"""One QEMU process: its command line, its monitor, its end. Nothing here knows what runs inside."""

from __future__ import annotations

import itertools
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from practicum.infra.desk.desk import DeskSpec
from practicum.infra.desk.pauses import pause, pauses
from practicum.infra.desk.vm.accelerator import Accelerator, qemu
from practicum.infra.desk.vm.input import Device, Report
from practicum.infra.desk.vm.qmp import Channel, ChannelLost, CommandRefused
from practicum.infra.errors import DeskFault, Stage
from practicum.vm_images.vm.disk import Disk

SNAPSHOT = "ready"
OVERLAY, MONITOR, AGENT, BULK = "overlay.qcow2", "monitor", "agent", "bulk"
BOOT_LOG, CONSOLE_LOG, QEMU_LOG, PID = "boot.log", "console.log", "qemu.log", "qemu.pid"
_START_SECONDS = 120.0
_KILL_SECONDS = 10.0
_SANDBOX = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"
_QUEUE = 64
"""Events that an emulated input device of QEMU can hold; more are lost without a word."""
_FULL = 40
_DRAIN_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Picture:
    """The screen as QEMU shows it: RGB, row by row."""

    width: int
    height: int
    rgb: bytes


@dataclass(frozen=True, slots=True)
class Hardware:
    """What a machine is made of; equal hardware gives snapshots that fit each other."""

    disk: Disk
    spec: DeskSpec
    accelerator: Accelerator

    @property
    def processors(self) -> int:
        return max(1, math.ceil(self.spec.cpus))

    def arguments(self) -> tuple[str, ...]:
        """All that shapes the machine, without the files of one process."""
        spec = self.spec
        return (
            *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-nic", "none"),
            *("-M", "q35", *self.accelerator.options),
            *("-smp", str(self.processors), "-m", str(spec.memory), "-rtc", "base=utc"),
            *("-device", "virtio-blk-pci,drive=disk"),
            *("-device", f"VGA,xres={spec.width},yres={spec.height},edid=on"),
            *("-device", f"virtio-tablet-pci,id={Device.TABLET}"),
            *("-device", f"virtio-mouse-pci,id={Device.MOUSE}"),
            *("-device", f"virtio-keyboard-pci,id={Device.KEYBOARD}"),
            *("-device", "virtio-rng-pci", "-device", "virtio-serial-pci"),
            *("-device", "virtserialport,chardev=agent,name=org.qemu.guest_agent.0"),
            *("-device", "virtserialport,chardev=bulk,name=desk.bulk"),
            *("-kernel", str(self.disk.kernel), "-initrd", str(self.disk.ram_disk)),
            *("-append", _kernel_line(spec)),
        )


def _kernel_line(spec: DeskSpec) -> str:
    told = {
        "WIDTH": spec.width,
        "HEIGHT": spec.height,
        "KEYBOARD": spec.keyboard,
        "LANG": spec.locale,
        "TZ": spec.timezone,
        "PIDS": spec.pids,
    }
    return " ".join(
        ["console=ttyS0", "quiet", "panic=-1", *(f"{name}={value}" for name, value in told.items())]
    )


def command_line(hardware: Hardware, folder: Path, *, resume: bool, watch: bool) -> list[str]:
    """The whole command of a machine whose files are in `folder`."""
    place = str(folder).replace(",", ",,")
    return [
        *(qemu(), *hardware.arguments()),
        *("-blockdev", f"driver=qcow2,node-name=disk,file.driver=file,file.filename={place}/{OVERLAY}"),
        *("-qmp", f"unix:{place}/{MONITOR},server=on,wait=off"),
        *("-chardev", f"socket,id=agent,path={place}/{AGENT},server=on,wait=off"),
        *("-chardev", f"socket,id=bulk,path={place}/{BULK},server=on,wait=off"),
        *("-serial", f"file:{folder}/{CONSOLE_LOG}"),
        *(("-sandbox", _SANDBOX) if sys.platform == "linux" else ()),
        *(("-vnc", "127.0.0.1:0,to=99,password=on") if watch else ()),
        *(("-loadvm", SNAPSHOT) if resume else ()),
    ]


def create_overlay(disk: Disk, target: Path, *, room: int) -> None:
    """An empty overlay of the disk with `room` MiB to write. Raises `DeskFault`."""
    base = _run_image_tool("info", "--output=json", str(disk.image))
    size = int(json.loads(base)["virtual-size"]) + (room << 20)
    backing = ("-b", str(disk.image), "-F", "qcow2")
    _run_image_tool("create", "-q", "-f", "qcow2", *backing, str(target), str(size))


def _run_image_tool(*arguments: str) -> bytes:
    done = subprocess.run(["qemu-img", *arguments], capture_output=True, check=False)
    if done.returncode != 0:
        raise DeskFault(Stage.CREATE, f"qemu-img {arguments[0]}", logs=done.stderr.decode("utf-8", "replace"))
    return done.stdout


class Emulator:
    """A running QEMU. Methods raise `ChannelLost` once it does not answer."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._process = _process_of(folder)
        self._monitor = Channel(folder / MONITOR)
        try:
            self._monitor.greet()
        except BaseException:
            self._monitor.close()
            raise
        self._pending: dict[Device, int] = {}
        self._pointer: Device | None = None
        self._pictures = itertools.count()
        self._threads: tuple[int, ...] = ()

    @classmethod
    def start(cls, hardware: Hardware, folder: Path, *, resume: bool, watch: bool) -> Emulator:
        """Raises `DeskFault` with what QEMU said."""
        argv = command_line(hardware, folder, resume=resume, watch=watch)
        process = psutil.Process(spawn(argv, folder / QEMU_LOG))
        (folder / PID).write_text(str(process.pid), "ascii")
        deadline = time.monotonic() + _START_SECONDS
        for seconds in pauses():
            with suppress(ChannelLost):
                return cls(folder)
            if not _lives(process):
                raise DeskFault(Stage.START, "QEMU ended at once", logs=logs(folder))
            if time.monotonic() > deadline:
                break
            pause(seconds)
        raise DeskFault(Stage.START, "QEMU did not start in time", logs=logs(folder))

    @property
    def alive(self) -> bool:
        return self._process is not None and _lives(self._process)

    def picture(self) -> Picture:
        """The screen now."""
        path = self.folder / f"screen-{next(self._pictures)}.ppm"
        self._monitor.call("screendump", filename=str(path))
        data = path.read_bytes()
        path.unlink()
        magic, size, depth, rgb = data.split(b"\n", 3)
        width, height = (int(word) for word in size.split())
        if magic != b"P6" or depth != b"255" or len(rgb) != width * height * 3:
            raise ChannelLost("screendump: not a whole picture")
        return Picture(width, height, rgb)

    def busy_seconds(self) -> float | None:
        """Seconds that the guest's processors have worked or waited to; None where nobody counts them."""
        if not self._threads:
            told = self._monitor.call("query-cpus-fast")
            self._threads = tuple(int(processor["thread-id"]) for processor in told)
        pid = self._process.pid if self._process else 0
        try:
            counted = [
                Path(f"/proc/{pid}/task/{thread}/schedstat").read_text("ascii") for thread in self._threads
            ]
        except OSError:
            return None
        return sum(int(word) for line in counted for word in line.split()[:2]) / 1e9

    def send(self, report: Report) -> None:
        """Hand events to a device, never more than it can hold before the guest has taken them."""
        if self._pending.get(report.device, 0) + len(report.events) + 1 > _FULL:
            self.drain(report.device)
        if report.device is not Device.KEYBOARD:
            self._point_with(report.device)
        self._monitor.call("input-send-event", events=list(report.events))
        self._pending[report.device] = self._pending.get(report.device, 0) + len(report.events) + 1

    def drain(self, device: Device) -> None:
        """Return when the guest's kernel has taken every event that was sent to the device.

        Raises `ChannelLost` if it does not.
        """
        if not self._pending.pop(device, 0):
            return
        waited = 0.0
        for seconds in pauses(first=0.001, longest=0.02):
            if self._is_drained(device):
                return
            if waited > _DRAIN_SECONDS:
                raise ChannelLost(f"the guest takes no input from its {device}")
            pause(seconds)
            waited += seconds

    def save(self, *, timeout: float = 120.0) -> None:
        """Save memory and disk in the overlay, as they are now."""
        self._job("snapshot-save", timeout)

    def load(self, *, timeout: float = 120.0) -> None:
        """Go back to what was saved."""
        self._job("snapshot-load", timeout)
        self._pending.clear()

    def pause(self) -> None:
        self._monitor.call("stop")

    def resume(self) -> None:
        self._monitor.call("cont")

    def status(self) -> str:
        """What QEMU says of the machine: `running`, `paused`, `io-error` where the host's disk is full, …"""
        return str(self._monitor.call("query-status", timeout=2.0)["status"])

    def set_watch_password(self, password: str) -> tuple[str, int]:
        """Guard the VNC server, giving its host and port."""
        self._monitor.call("set_password", protocol="vnc", password=password)
        told = self._monitor.call("query-vnc")
        return str(told["host"]), int(told["service"])

    def kill(self) -> None:
        """End the process, whoever started it; nothing happens to any other that has its number by now."""
        self._monitor.close()
        kill(self.folder)

    def close(self) -> None:
        """Leave it running."""
        self._monitor.close()

    def _job(self, command: str, timeout: float) -> None:
        self._monitor.call("stop")
        self._monitor.call(command, job_id=command, tag=SNAPSHOT, vmstate="disk", devices=["disk"])
        waited = 0.0
        for seconds in pauses():
            job = next(job for job in self._monitor.call("query-jobs") if job["id"] == command)
            if job["status"] == "concluded":
                break
            if waited > timeout:
                raise ChannelLost(f"{command} did not end in {timeout:.0f} s")
            pause(seconds)
            waited += seconds
        self._monitor.call("job-dismiss", id=command)
        if "error" in job:
            raise CommandRefused(command, "GenericError", str(job["error"]))
        self._monitor.call("cont")

    def _is_drained(self, device: Device) -> bool:
        """The guest's driver lends QEMU a buffer an event, and lends it again once it took the event."""
        path = f"/machine/peripheral/{device}/virtio-backend"
        queue: Mapping[str, Any] = self._monitor.call("x-query-virtio-queue-element", path=path, queue=0)
        return bool((queue["avail"]["idx"] - queue["used"]["idx"]) % (1 << 16) >= _QUEUE)

    def _point_with(self, device: Device) -> None:
        """Choose which emulated pointer gets the events of buttons."""
        if self._pointer is device:
            return
        mice = self._monitor.call("query-mice")
        name = f"QEMU Virtio {device.capitalize()}"
        index = next(mouse["index"] for mouse in mice if mouse["name"] == name)
        self._monitor.call("human-monitor-command", command_line=f"mouse_set {index}")
        self._pointer = device


def kill(folder: Path) -> None:
    """End the QEMU of a folder and wait until it is gone. Raises `DeskFault` when it does not go."""
    process = _process_of(folder)
    if process is None:
        return
    with suppress(psutil.NoSuchProcess):
        process.kill()
        try:
            process.wait(_KILL_SECONDS)
        except psutil.TimeoutExpired as error:
            if _lives(process):
                raise DeskFault(Stage.CLOSE, f"QEMU {process.pid} cannot be killed") from error


def logs(folder: Path, cap: int = 16 << 10) -> str:
    """The end of what the guest said while it booted, of what QEMU said, and of the console since."""
    parts = []
    for name in (BOOT_LOG, QEMU_LOG, CONSOLE_LOG):
        with suppress(FileNotFoundError), (folder / name).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - cap))
            parts.append(f"{name}:\n{file.read().decode('utf-8', 'replace')}")
    return "\n".join(parts)


def spawn(argv: list[str], log: Path) -> int:
    """Start a process in a session of its own, which may outlive this one."""
    files = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    return os.posix_spawn(argv[0], argv, os.environ, file_actions=files, setsid=True)


def _process_of(folder: Path) -> psutil.Process | None:
    """The QEMU of a folder: the process of the noted number, if it was told this folder."""
    try:
        process = psutil.Process(int((folder / PID).read_text("ascii")))
        ours = any(str(folder) in word for word in process.cmdline())
    except (FileNotFoundError, ValueError, psutil.NoSuchProcess, psutil.ZombieProcess):
        return None
    return process if ours else None


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
