"""What a controller gives to a worker, and what it gets back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from practicum.controller.outcome import Fault, Trial
from practicum.controller.prices import PriceTable
from practicum.controller.summary import Summary


@dataclass(frozen=True, slots=True)
class Job:
    """One trial to work on, in the run at `root`.

    `task`, `agent` and `desk` are the names in the house. `finished` is how many attempts had a result when
    the job was made: where there are more, somebody else worked on the trial meanwhile. `reopened` when the
    trial was scored already. `warm` desks are kept ready for the jobs that follow. `wall` is in seconds: the
    worker is killed when the job takes longer.
    """

    root: Path
    run: str
    house: str
    trial: Trial
    task: str
    agent: str
    desk: str
    finished: int
    prices: PriceTable
    wall: float
    reopened: bool = False
    warm: int = 0


@dataclass(frozen=True, slots=True)
class Done:
    """The trial has a new record."""

    summary: Summary


@dataclass(frozen=True, slots=True)
class Skipped:
    """The trial was not begun and stays as it was: somebody else owns it, or a cap leaves no room."""

    reason: str
    cap: bool = False


@dataclass(frozen=True, slots=True)
class Broken:
    """The worker ended without an answer, or the answer could not be recorded."""

    fault: Fault


Answer = Done | Skipped | Broken
