"""Disks of virtual machines, made from the same images as containers.

    image ── + kernel, Xorg, guest agent (`layer/`) ── exported ── ext4 ── qcow2

Nothing is mounted and no root is needed on the host: `mke2fs -d` lays out the file system in a container of
the very image. A disk is a folder of three files, named by digest: `disk.qcow2`, `vmlinuz`, `initrd`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import docker
import requests
from docker.errors import DockerException
from filelock import FileLock
from platformdirs import user_cache_path

from practicum.vm_images import debian
from practicum.vm_images.builder import LABEL, Images
from practicum.vm_images.context import archive, folder_entries
from practicum.vm_images.engine import Engine, StepFailed
from practicum.vm_images.errors import BuildFailed
from practicum.vm_images.recipe import digest_of

LAYER = Path(__file__).parent / "layer"
_STAGING = "/var/lib/vm/root"
_CHUNK = 1 << 20

Say = Callable[[str], None]
"""Is told what is being done, line by line."""


class QemuMissing(BuildFailed):
    """`qemu-img` is not installed."""

    def __init__(self, image: str) -> None:
        super().__init__(image, "qcow2", "qemu-img is not installed (mend: apt-get install qemu-utils)")


@dataclass(frozen=True, slots=True)
class Disk:
    """A built disk. Never written to: machines write to overlays."""

    folder: Path
    digest: str

    @property
    def image(self) -> Path:
        return self.folder / "disk.qcow2"

    @property
    def kernel(self) -> Path:
        return self.folder / "vmlinuz"

    @property
    def ram_disk(self) -> Path:
        return self.folder / "initrd"


@dataclass(frozen=True, slots=True)
class Disks:
    """The disks of one set of images, kept in the user's cache."""

    images: Images = field(default_factory=Images)
    cache: Path = field(default_factory=lambda: user_cache_path("practicum") / "vm" / "disks")

    def digest(self, name: str) -> str:
        """Hex SHA-256 of the image's recipe and of what makes it a machine. Raises `UnknownImage`."""
        return hashlib.sha256(f"{self.images.digest(name)}:{digest_of(LAYER)}".encode()).hexdigest()

    def find(self, name: str) -> Disk | None:
        """The disk of the present recipe, if it is built."""
        disk = self._disk(name)
        return disk if disk.image.is_file() else None

    def build(self, name: str, say: Say = lambda _: None) -> Disk:
        """The disk, made if it is missing. Raises `BuildFailed`, `EngineMissing` or `NoMirror`.

        Only one process makes it; others wait and find it made.
        """
        disk = self._disk(name)
        self.cache.mkdir(parents=True, exist_ok=True)
        with FileLock(self.cache / f"{name}.lock"):
            if not disk.image.is_file():
                self._make(name, disk, say)
        return disk

    def prune(self) -> tuple[Path, ...]:
        """Remove the disks that no present recipe gives."""
        present = {self._disk(name).folder for name in self.images.recipes.names()}
        gone = tuple(folder for folder in self.cache.glob("*-*") if folder.is_dir() and folder not in present)
        for folder in gone:
            shutil.rmtree(folder)
        return gone

    def _disk(self, name: str) -> Disk:
        digest = self.digest(name)
        return Disk(self.cache / f"{name}-{digest[:12]}", digest)

    def _make(self, name: str, disk: Disk, say: Say) -> None:
        if shutil.which("qemu-img") is None:
            raise QemuMissing(name)
        with (
            Engine.connect() as engine,
            tempfile.TemporaryDirectory(dir=self.cache, prefix="making-") as folder,
        ):
            self.images.build([name], engine, lambda progress: say(f"{progress.name}: {progress.line}"))
            making = Path(folder)
            try:
                tag = self._add_machine(name, engine, disk.digest, say)
                say("laying out the file system")
                _lay_out(tag, making)
                say("writing the disk")
                _to_qcow2(making / "disk.raw", making / "disk.qcow2")
            except (StepFailed, DockerException, requests.RequestException) as error:
                raise BuildFailed(name, "disk", str(error)) from error
            except subprocess.CalledProcessError as error:
                raise BuildFailed(name, "qcow2", error.stderr.decode("utf-8", "replace")) from error
            disk.folder.mkdir(exist_ok=True)
            for file in ("vmlinuz", "initrd", "disk.qcow2"):
                (making / file).replace(disk.folder / file)

    def _add_machine(self, name: str, engine: Engine, digest: str, say: Say) -> str:
        tag = f"practicum/{name}-vm:{digest[:12]}"
        arguments = {"PARENT": self.images.reference(name), **debian.proxies()}
        with archive(folder_entries(LAYER)) as context:
            engine.build(
                context, tag, arguments=arguments, labels={LABEL: digest}, lines=say, stop=threading.Event()
            )
        return tag


def _lay_out(tag: str, folder: Path) -> None:
    """`disk.raw`, `vmlinuz` and `initrd` of the tagged image, in `folder`."""
    owner = f"{os.getuid()}:{os.getgid()}"
    volumes = {str(folder): {"bind": "/out", "mode": "rw"}}
    with (
        closing(docker.from_env(timeout=600)) as client,
        _container(client, tag, ["true"]) as source,
        _container(client, tag, ["vm-disk", owner], volumes=volumes) as maker,
    ):
        maker.put_archive(_STAGING, source.export(_CHUNK))
        maker.start()
        if maker.wait()["StatusCode"] != 0:
            raise StepFailed(maker.logs().decode("utf-8", "replace"))


@contextmanager
def _container(client: docker.DockerClient, tag: str, command: list[str], **options: Any) -> Iterator[Any]:
    container = client.containers.create(tag, command, network_mode="none", **options)
    try:
        yield container
    finally:
        container.remove(force=True, v=True)


def _to_qcow2(raw: Path, target: Path) -> None:
    subprocess.run(
        ["qemu-img", "convert", "-f", "raw", "-O", "qcow2", str(raw), str(target)],
        check=True,
        capture_output=True,
    )
    raw.unlink()
    target.chmod(0o444)
