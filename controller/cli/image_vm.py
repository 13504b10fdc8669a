"""`practicum image build --as vm`: disks of virtual machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from platformdirs import user_cache_path

from practicum.controller.errors import BadRequest
from practicum.controller.show import console
from practicum.infra.desk.vm import windows
from practicum.infra.desk.vm.accelerator import best
from practicum.vm_images.vm.disk import Disks
from practicum.vm_images.windows.setup import Release, Setup

_WINDOWS = {
    "windows-10": Setup(Release.WINDOWS_10, "Windows 10 Pro"),
    "windows-11": Setup(Release.WINDOWS_11, "Windows 11 Pro"),
}


class Form(StrEnum):
    """What an image is built as."""

    CONTAINER = "container"
    VM = "vm"


def build_disks(names: Sequence[str], iso: Path | None, virtio: Path | None) -> Mapping[str, str]:
    """Each name with the path of its disk. Raises `BadRequest`, `BuildFailed` or `DeskFault`."""
    return {name: str(_build(name, iso, virtio)) for name in names}


def _build(name: str, iso: Path | None, virtio: Path | None) -> Path:
    with console(stderr=True).status(f"{name}: disk") as shown:
        if name not in _WINDOWS:
            return Disks().build(name, lambda line: shown.update(f"{name}: {line[:60]}")).image
        if iso is None or virtio is None:
            raise BadRequest(f"{name} is installed from your own media: give --iso and --virtio")
        target = user_cache_path("practicum") / "vm" / "windows" / f"{name}.qcow2"
        target.parent.mkdir(parents=True, exist_ok=True)
        windows.install(
            _WINDOWS[name],
            target,
            windows=iso,
            virtio=virtio,
            accelerator=best(Disks().build("base")),
            say=lambda mark: shown.update(f"{name}: {mark}"),
        )
        return target
