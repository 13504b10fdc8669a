"""Desks that are virtual machines of QEMU, one a trial, each set back to the same moment after boot."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

import msgspec
import psutil

from practicum.infra.desk.actions import Point
from practicum.infra.desk.desk import Capability, Desk, DeskSpec, Label, Network
from practicum.infra.desk.pauses import pause
from practicum.infra.desk.vm.accelerator import Accelerator, best
from practicum.infra.desk.vm.desk import CAPABILITIES, VmDesk, Watch, encode
from practicum.infra.desk.vm.emulator import (
    AGENT,
    BULK,
    OVERLAY,
    Emulator,
    Hardware,
    create_overlay,
    kill,
    logs,
)
from practicum.infra.desk.vm.folders import Folders, lease_of
from practicum.infra.desk.vm.guest import LinuxGuest
from practicum.infra.desk.vm.guest_agent import GuestAgent
from practicum.infra.desk.vm.input import move
from practicum.infra.desk.vm.qmp import ChannelLost, CommandRefused
from practicum.infra.desk.vm.ready import ReadyMachines, key_of
from practicum.infra.errors import DeskFault, DeskLost, ImageMissing, InfraError, Stage, Unsupported
from practicum.vm_images.vm.disk import Disks

OVERHEAD = 320
"""MiB that QEMU itself takes besides the guest's memory."""
BOOT_SECONDS = 60.0
RESUME_SECONDS = 20.0
IDLE_SECONDS = 900.0
_POOL = "pool"
_REST = 0.5


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a desk takes of this host: memory in MiB, processors."""

    memory: int
    cpus: float


@dataclass(frozen=True, slots=True)
class VmDesks:
    """Provider. `keep` machines wait, reset, for the next trial; a named `accelerator` spares the probe.

    With `watch` each desk has a VNC server on the loopback, behind a password of its own.
    """

    disks: Disks = field(default_factory=Disks)
    folders: Folders = field(default_factory=Folders)
    ready: ReadyMachines = field(default_factory=ReadyMachines)
    accelerator: Accelerator | None = None
    keep: int = 0
    watch: bool = False
    kind: str = "vm"

    def capabilities(self, spec: DeskSpec) -> frozenset[Capability]:
        """Raises `Unsupported` for a network that these machines are not given."""
        if spec.network is Network.ALLOWLIST:
            raise Unsupported("virtual machines have no network device")
        return CAPABILITIES | ({Capability.WATCH} if self.watch else set())

    def digest(self, spec: DeskSpec) -> str:
        shape = sha256(msgspec.json.encode(spec, order="sorted")).hexdigest()
        return f"{self.kind}:{self.disks.digest(spec.image)[:16]}:{shape[:16]}"

    def footprint(self, spec: DeskSpec) -> Footprint:
        return Footprint(spec.memory + OVERHEAD, spec.cpus)

    @contextmanager
    def open(self, spec: DeskSpec, label: Label) -> Iterator[Desk]:
        machine = self.start(spec, label)
        try:
            yield machine.desk
        except DeskLost as lost:
            raise machine.explained(lost) from lost
        finally:
            machine.close()

    def start(self, spec: DeskSpec, label: Label) -> VmMachine:
        """A ready machine, which the caller closes. Whatever was begun is gone when it raises."""
        self.capabilities(spec)
        hardware = self._hardware(spec)
        return self._waiting(hardware, label) or self._fresh(hardware, label)

    def held(self) -> tuple[Label, ...]:
        return self.folders.held()

    def reap(self, now: float, abandoned: Callable[[Label], bool] = lambda _: False) -> tuple[Label, ...]:
        """Take away what is past its deadline at `now`, abandoned, or was left by a dead process."""
        return self.folders.reap(now, abandoned)

    def _hardware(self, spec: DeskSpec) -> Hardware:
        disk = self.disks.find(spec.image)
        if disk is None:
            raise ImageMissing(f"{spec.image} --as vm")
        self._admit(spec)
        return Hardware(disk, spec, self.accelerator or best(disk))

    def _admit(self, spec: DeskSpec) -> None:
        """Raises `DeskFault` where the machine would not fit into what memory is left."""
        free, needed = psutil.virtual_memory().available >> 20, self.footprint(spec).memory
        if needed > free:
            raise DeskFault(Stage.CREATE, f"a machine of {needed} MiB does not fit into the {free} MiB left")

    def _waiting(self, hardware: Hardware, label: Label) -> VmMachine | None:
        """One that waits, reset; None where none does or it woke no more."""
        folder = self.folders.claim(key_of(hardware), label)
        if folder is None:
            return None
        machine = VmMachine(self, hardware, folder, label)
        try:
            machine.wake()
        except InfraError:
            machine.remove()
            return None
        return machine

    def _fresh(self, hardware: Hardware, label: Label) -> VmMachine:
        folder = self.folders.create(lease_of(label, key_of(hardware)))
        machine = VmMachine(self, hardware, folder, label)
        try:
            with _full_disk():
                self.ready.copy(hardware, folder, machine.boot)
            machine.resume()
        except BaseException:
            machine.remove()
            raise
        return machine


class VmMachine:
    """One QEMU in its folder (`infra.desk.pool.Machine`)."""

    def __init__(self, desks: VmDesks, hardware: Hardware, folder: Path, label: Label) -> None:
        self._desks = desks
        self._hardware = hardware
        self._folder = folder
        self._label = label
        self._emulator: Emulator | None = None
        self._guest: LinuxGuest | None = None
        self._desk: VmDesk | None = None
        self._lost = False

    @property
    def desk(self) -> VmDesk:
        if self._desk is None:
            raise DeskFault(Stage.START, "the machine was not started")
        return self._desk

    def boot(self) -> None:
        """Boot from the disk and save the machine, in its overlay, as it stands then."""
        slowness = self._hardware.accelerator.slowness
        deadline = time.monotonic() + BOOT_SECONDS * slowness
        overlay = self._folder / OVERLAY
        with self._staged(Stage.CREATE):
            create_overlay(self._hardware.disk, overlay, room=self._hardware.spec.disk)
        self._run(deadline, resume=False)
        with self._staged(Stage.DISPLAY):
            self._parts[1].await_session(timeout=_left(deadline))
        with self._staged(Stage.READY):
            self._await_rest(deadline)
            self._prove_hands(deadline)
            self._await_rest(deadline)
            self._parts[1].keyboard()
            self._parts[0].save()
            self._detach()
            kill(self._folder)

    def resume(self) -> None:
        """Go on from a saved machine. Raises `DeskFault` with the stage it came to."""
        deadline = time.monotonic() + RESUME_SECONDS * self._hardware.accelerator.slowness
        self._run(deadline, resume=True)
        self._begin(deadline)

    def wake(self) -> None:
        """Go on with a machine that waited."""
        deadline = time.monotonic() + RESUME_SECONDS * self._hardware.accelerator.slowness
        with self._staged(Stage.START):
            self._emulator = Emulator(self._folder)
            self._emulator.resume()
            self._attach(deadline)
        self._begin(deadline)

    def lease(self, label: Label) -> None:
        """Give it to another trial. Raises `DeskLost` when it no longer answers."""
        with self._staged(Stage.READY):
            self._parts[1].set_clock()
        self._desks.folders.relabel(self._folder, label)
        self._label = label

    def explained(self, fault: DeskFault) -> DeskFault:
        """The same fault with what the machine said and its last picture."""
        self._lost = True
        frame = fault.frame or (self._desk.last_frame() if self._desk else None)
        return type(fault)(fault.stage, fault.message, logs=fault.logs or logs(self._folder), frame=frame)

    def close(self) -> None:
        """Reset it for a next trial where one may wait, else end it."""
        if self._desks.keep == 0 or self._lost or not self._reset():
            self.remove()

    def remove(self) -> None:
        self._detach()
        self._desks.folders.remove(self._folder)

    @property
    def _parts(self) -> tuple[Emulator, LinuxGuest]:
        assert self._emulator is not None, "started"
        assert self._guest is not None, "attached"
        return self._emulator, self._guest

    def _run(self, deadline: float, *, resume: bool) -> None:
        with self._staged(Stage.START):
            self._emulator = Emulator.start(
                self._hardware, self._folder, resume=resume, watch=self._desks.watch
            )
            self._attach(deadline)

    def _attach(self, deadline: float) -> None:
        agent = GuestAgent(self._folder / AGENT)
        self._guest = LinuxGuest(agent, self._folder / BULK, patience=self._hardware.accelerator.slowness)
        agent.sync(timeout=_left(deadline))

    def _begin(self, deadline: float) -> None:
        """The clock of now, and proof that eyes see what hands do."""
        with self._staged(Stage.READY):
            emulator, guest = self._parts
            guest.set_clock()
            reaction = self._prove_hands(deadline)
            patience = min(1.5, max(0.25, 4 * reaction))
            watch = self._let_watch(emulator) if self._desks.watch else None
            self._desk = VmDesk(self._hardware.spec, emulator, guest, patience=patience, watch=watch)

    def _let_watch(self, emulator: Emulator) -> Watch:
        """Each trial has its own password; VNC knows eight characters of one."""
        password = secrets.token_urlsafe(6)
        return Watch(*emulator.set_watch_password(password), password)

    def _prove_hands(self, deadline: float) -> float:
        """Move the pointer, and back to the middle, until the screen shows it: seconds of the slower move."""
        emulator, _ = self._parts
        spec = self._hardware.spec
        middle = Point(spec.width // 2, spec.height // 2)
        slowest = 0.0
        for place in (Point(middle.x + 40, middle.y + 40), middle):
            before = emulator.picture()
            started = time.monotonic()
            emulator.send(move(place, (spec.width, spec.height)))
            while emulator.picture() == before:
                _left(deadline)
                pause(0.01)
            slowest = max(slowest, time.monotonic() - started)
        return slowest

    def _await_rest(self, deadline: float) -> None:
        """Return when the screen shows more than one colour and has not changed for a while."""
        emulator, _ = self._parts
        rest = _REST * self._hardware.accelerator.slowness
        picture, since = emulator.picture(), time.monotonic()
        while time.monotonic() - since < rest or picture.rgb.count(picture.rgb[:3]) * 3 == len(picture.rgb):
            _left(deadline)
            pause(0.05)
            later = emulator.picture()
            if later != picture:
                picture, since = later, time.monotonic()

    def _reset(self) -> bool:
        """Whether it is set back and waits."""
        with suppress(InfraError, ChannelLost, CommandRefused):
            emulator, _ = self._parts
            emulator.load()
            emulator.pause()
            deadline = time.time() + IDLE_SECONDS
            label = Label(_POOL, self._folder.name, deadline)
            lease = replace(lease_of(label, key_of(self._hardware)), idle=True)
            self._detach()
            return self._desks.folders.park(self._folder, lease, self._desks.keep)
        return False

    def _detach(self) -> None:
        if self._guest is not None:
            self._guest.close()
        if self._emulator is not None:
            self._emulator.close()
        self._guest = self._emulator = None

    @contextmanager
    def _staged(self, stage: Stage) -> Iterator[None]:
        """Errors while opening carry the stage, the logs and the last thing that could be seen."""
        try:
            yield
        except (ChannelLost, CommandRefused, OSError) as error:
            raise DeskFault(stage, str(error), logs=logs(self._folder), frame=self._seen()) from error

    def _seen(self) -> bytes | None:
        if self._emulator is None:
            return None
        with suppress(ChannelLost, CommandRefused, OSError):
            return encode(self._emulator.picture())
        return None


@contextmanager
def _full_disk() -> Iterator[None]:
    """A host without room for another machine is our fault, and said so."""
    try:
        yield
    except OSError as error:
        raise DeskFault(Stage.CREATE, f"the machine's disk cannot be laid: {error}") from error


def _left(deadline: float) -> float:
    """Seconds until a deadline (monotonic). Raises `ChannelLost` past it."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise ChannelLost("not ready in time")
    return left
