"""Whether this machine has room for one more trial. Measured, not guessed; a full disk is never entered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

from practicum.tasks.spec import TaskSpec

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Machine:
    """What is free, in bytes, and the load: runnable processes per processor over the last minute."""

    memory: int
    disk: int
    load: float


@dataclass(frozen=True, slots=True)
class Admission:
    """What must stay free, in bytes, and how many desks may be open at once.

    Above `load` a second trial waits; the first always gets in.
    """

    memory: int = 512 * MIB
    disk: int = 1024 * MIB
    desks: int | None = None
    load: float = 8.0

    def objection(self, spec: TaskSpec, running: int, machine: Machine) -> str | None:
        """Why a trial of this task has to wait, or `None`. `running` trials hold a desk already."""
        needed = 0 if spec.desk is None else spec.desk.memory * MIB
        if machine.disk < self.disk:
            return f"only {machine.disk // MIB} MiB of disk are free, {self.disk // MIB} must stay"
        if spec.desk is not None and self.desks is not None and running >= self.desks:
            return f"all {self.desks} desks are taken"
        if running and machine.memory - needed < self.memory:
            return f"{machine.memory // MIB} MiB of memory are free, a desk may take {needed // MIB}"
        if running and machine.load > self.load:
            return f"the processors are overloaded ({machine.load:.1f} processes each)"
        return None


def measure(folder: Path) -> Machine:
    """This machine now."""
    return Machine(
        memory=psutil.virtual_memory().available,
        disk=psutil.disk_usage(str(folder)).free,
        load=psutil.getloadavg()[0] / (psutil.cpu_count() or 1),
    )


Gauge = Callable[[Path], Machine]
