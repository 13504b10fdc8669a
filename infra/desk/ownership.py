"""Whose a machine is: labels that say the trial, the deadline, and the process that opened it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import psutil

from practicum.infra.desk.desk import Label

RUN = "practicum.run"
TRIAL = "practicum.trial"
DEADLINE = "practicum.deadline"
OWNER = "practicum.owner"


def labels(label: Label) -> dict[str, str]:
    return {RUN: label.run, TRIAL: label.trial, DEADLINE: repr(label.deadline), OWNER: _owner(os.getpid())}


def label_of(found: Mapping[str, str]) -> Label:
    """A label that cannot be read has passed its deadline."""
    try:
        deadline = float(found.get(DEADLINE, ""))
    except ValueError:
        deadline = 0.0
    return Label(found.get(RUN, ""), found.get(TRIAL, ""), deadline)


def is_orphan(found: Mapping[str, str]) -> bool:
    """Whether the process that opened it ran where we run, and runs no more."""
    owner = found.get(OWNER, "")
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
