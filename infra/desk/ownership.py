"""Whose a machine is: labels say the trial and the process that opened it, its name the deadline.

A container's labels are fixed when it is made, its name is not: so a warm desk can be leased.
"""

from __future__ import annotations

import math
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil

from practicum.infra.desk.desk import Label

RUN = "practicum.run"
TRIAL = "practicum.trial"
OWNER = "practicum.owner"


@dataclass(frozen=True, slots=True)
class Held:
    """A machine of ours. An orphan's process ran where we run, and runs no more."""

    id: str
    label: Label
    orphan: bool


def labels(label: Label) -> dict[str, str]:
    return {RUN: label.run, TRIAL: label.trial, OWNER: _owner(os.getpid())}


def name(deadline: float) -> str:
    """A new name, carrying the deadline in whole seconds."""
    return f"practicum-{secrets.token_hex(6)}-{math.ceil(deadline)}"


def held(id_: str, names: Sequence[str], found: Mapping[str, str]) -> Held:
    """A machine whose name was changed by somebody has passed its deadline."""
    deadline = next((text for text in (name.rpartition("-")[2] for name in names) if text.isdigit()), "0")
    label = Label(found.get(RUN, ""), found.get(TRIAL, ""), float(deadline))
    return Held(id_, label, _is_orphan(found.get(OWNER, "")))


def _is_orphan(owner: str) -> bool:
    place, _, process = owner.rpartition(":")
    if place != _place():
        return False
    pid, _, started = process.partition("@")
    return not pid.isdigit() or _started(int(pid)) != started


def _owner(pid: int) -> str:
    return f"{_place()}:{pid}@{_started(pid)}"


@cache
def _place() -> str:
    """This boot of this machine and this PID namespace: where a PID means the same as here."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    return f"{boot}:{Path('/proc/self/ns/pid').stat().st_ino}"


def _started(pid: int) -> str:
    try:
        process = psutil.Process(pid)
        return "" if process.status() == psutil.STATUS_ZOMBIE else f"{process.create_time():.2f}"
    except psutil.NoSuchProcess:
        return "gone"
