"""The machine that Windows is installed on, and how far it has come."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from practicum.vm_images.windows.setup import Setup

DISK_GIB = 64
MEMORY_MIB = 4096
_FIRMWARE = (
    "/usr/share/OVMF/OVMF_CODE_4M.fd",
    "/usr/share/OVMF/OVMF_CODE.fd",
    "/opt/homebrew/share/qemu/edk2-x86_64-code.fd",
)


class Mark(StrEnum):
    """What the scripts inside say on the serial port, in order."""

    SETTLING = "settling"
    DRIVERS = "drivers"
    AGENT = "agent"
    SETTLED = "settled"
    INSTALLING = "installing"
    READY = "ready"


@dataclass(frozen=True, slots=True)
class Progress:
    """The last mark that was passed, programs installed since, and what failed, if anything did."""

    mark: Mark | None = None
    programs: tuple[str, ...] = ()
    failure: str = ""


_LINE = re.compile(r"^desk: (failed: |program )?(.*?)\s*$", re.MULTILINE)


def progress(console: str) -> Progress:
    """From all that the serial port has said so far; firmware and kernel talk between the lines."""
    mark: Mark | None = None
    programs: list[str] = []
    failure = ""
    for kind, text in _LINE.findall(console):
        if kind == "failed: ":
            failure = text
        elif kind == "program ":
            programs.append(text)
        elif text in list(Mark):
            mark = Mark(text)
    return Progress(mark, tuple(programs), failure)


@dataclass(frozen=True, slots=True)
class Media:
    """What the installation reads: the user's Windows and virtio media, and the one that answers."""

    windows: Path
    virtio: Path
    answers: Path


def command_line(
    setup: Setup, media: Media, disk: Path, folder: Path, accelerator: tuple[str, ...]
) -> list[str]:
    """QEMU's whole command. The disk comes first in boot order, which tells once something is on it."""
    place = _escaped(folder)
    return [
        *("qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-nic", "none"),
        *("-M", "q35", *accelerator, "-smp", "2", "-m", str(MEMORY_MIB), "-rtc", "base=utc"),
        *("-drive", f"if=pflash,format=raw,unit=0,readonly=on,file={_escaped(firmware())}"),
        *("-drive", f"if=pflash,format=raw,unit=1,file={place}/nvram.fd"),
        *(
            "-blockdev",
            f"driver=qcow2,node-name=disk,discard=unmap,file.driver=file,file.filename={_escaped(disk)}",
        ),
        *("-device", "virtio-blk-pci,drive=disk,bootindex=1"),
        *_optical("windows", media.windows, port=0, boot=2),
        *_optical("virtio", media.virtio, port=1),
        *_optical("answers", media.answers, port=2),
        *("-device", f"VGA,xres={setup.width},yres={setup.height},edid=on"),
        *("-device", "qemu-xhci", "-device", "usb-tablet,id=tablet", "-device", "usb-kbd,id=keyboard"),
        *(
            "-device",
            "virtio-serial-pci",
            "-device",
            "virtserialport,chardev=agent,name=org.qemu.guest_agent.0",
        ),
        *("-chardev", f"socket,id=agent,path={place}/agent,server=on,wait=off"),
        *("-qmp", f"unix:{place}/monitor,server=on,wait=off", "-serial", f"file:{folder}/console.log"),
    ]


def firmware() -> Path:
    """The UEFI firmware's code. Raises `FileNotFoundError`."""
    for path in map(Path, _FIRMWARE):
        if path.is_file():
            return path
    raise FileNotFoundError("UEFI firmware (mend: apt-get install ovmf)")


def lay_nvram(folder: Path) -> None:
    """A machine's own variables of the firmware, fresh."""
    code = firmware()
    shutil.copyfile(
        code.with_name(code.name.replace("CODE", "VARS").replace("code", "vars")), folder / "nvram.fd"
    )


def _optical(name: str, path: Path, *, port: int, boot: int | None = None) -> tuple[str, ...]:
    order = "" if boot is None else f",bootindex={boot}"
    medium = f"driver=raw,node-name={name},read-only=on,file.driver=file,file.filename={_escaped(path)}"
    return "-blockdev", medium, "-device", f"ide-cd,bus=ide.{port},drive={name}{order}"


def _escaped(path: Path) -> str:
    return str(path).replace(",", ",,")
