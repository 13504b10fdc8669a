"""Whose failure a failure is. A Fault is ours; what an agent did, or a model said, never comes here.

Decided by type and by phase, never by the text of a message.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import traceback
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from practicum.agents.agent import Cancelled, ExamOver, ModelFault
from practicum.controller.outcome import Fault, FaultKind, Phase, Trial
from practicum.infra.errors import DeskFault, InfraError
from practicum.tasks.spec import Kind, Task
from practicum.verifiers.errors import VerifierError, VerifierFault

LOG_CAP = 16_000
_SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD")
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)

_OWNER_BY_PHASE: Mapping[Phase, FaultKind] = {
    Phase.INSTANCE: FaultKind.TASK,
    Phase.PROVISION: FaultKind.TASK,
    Phase.DRIVE: FaultKind.AGENT_CODE,
    Phase.COLLECT: FaultKind.DESK,
    Phase.VERIFY: FaultKind.VERIFIER,
    Phase.RECORD: FaultKind.RECORD,
}
"""Whose code runs in a phase: what it raises, and nobody else typed, is its owner's."""


class TrialFault(Exception):
    """An attempt ended in a Fault."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.error)
        self.fault = fault


class Changed(Exception):
    """What is there now is not what was planned."""


@contextmanager
def phase(name: Phase, kind: Kind = Kind.DESK) -> Iterator[None]:
    """Turns whatever the block raises, but the ends of an exam, into a `TrialFault` of this phase."""
    try:
        yield
    except (ExamOver, Cancelled, TrialFault):
        raise
    except Exception as error:  # agents, tasks and verifiers are plug-ins and may raise anything
        raise TrialFault(fault_of(name, error, kind)) from error


@contextmanager
def closing_late(house: ExitStack, notes: dict[str, Any]) -> Iterator[None]:
    """Closes the environment after the block. A closing that fails then does not undo work that is done and
    collected: it is noted, and the reaper takes what is left."""
    try:
        yield
    finally:
        try:
            house.close()
        except InfraError as error:
            notes["closing"] = str(error)


def as_planned(task: Task, trial: Trial) -> Task:
    """The task, if it is still the one that was planned."""
    if task.spec.digest != trial.task_digest:
        raise Changed(f"{task.spec.id} was changed after the run was planned")
    return task


def fault_of(name: Phase, error: Exception, kind: Kind = Kind.DESK) -> Fault:
    return Fault(
        phase=name,
        kind=_kind(name, error, kind),
        error=scrub(f"{type(error).__name__}: {error}")[:2000],
        logs=scrub(_logs(error))[-LOG_CAP:],
    )


def scrub(text: str) -> str:
    """The text without the value of any environment variable that is named like a secret."""
    for variable, value in os.environ.items():
        if len(value) >= 8 and variable.upper().endswith(_SECRET_NAMES):
            text = text.replace(value, f"[{variable}]")
    return text


def _kind(name: Phase, error: Exception, kind: Kind) -> FaultKind:
    match error:
        case OSError() if error.errno in _NO_ROOM:
            return FaultKind.DISK_FULL
        case ModelFault():
            return FaultKind.MODEL
        case InfraError():
            return FaultKind.WORLD if kind is Kind.WORLD else FaultKind.DESK
        case VerifierError():
            return FaultKind.VERIFIER
        case sqlite3.Error():
            return FaultKind.RECORD
        case _:
            return _OWNER_BY_PHASE[name]


def _logs(error: Exception) -> str:
    own = error.logs if isinstance(error, DeskFault | VerifierFault) else ""
    return own + "\n" + "".join(traceback.format_exception(error))
