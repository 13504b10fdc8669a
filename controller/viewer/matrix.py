"""A run as a person reads it: the matrix of its trials, and the totals that always add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from practicum.controller.outcome import Cancelled, Fault, Result, Scored, Trial
from practicum.controller.store import Run
from practicum.controller.viewer.safe import clip, visible


class State(StrEnum):
    """What a cell of the matrix is coloured by. The first four make up `planned`."""

    SCORED = "scored"
    FAULT = "fault"
    CANCELLED = "cancelled"
    PENDING = "pending"


@dataclass(frozen=True, slots=True)
class Cell:
    """One trial. `score` in [0, 1]; `cost` in nano-dollars; `running` is pending but worked on."""

    id: str
    task: str
    agent: str
    seed: int
    repeat: int
    tier: str
    cluster: str
    faults: str
    state: State
    running: bool = False
    passed: bool = False
    score: float | None = None
    ending: str = ""
    steps: int = 0
    seconds: float = 0.0
    tokens: int | None = 0
    cost: int | None = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class Totals:
    """`planned = scored + fault + cancelled + pending`; `cost` is `None` when any bill is unknown."""

    planned: int
    scored: int
    fault: int
    cancelled: int
    pending: int
    running: int
    passed: int
    cost: int | None
    seconds: float


def cells(run: Run) -> tuple[Cell, ...]:
    """Every planned trial, in planned order."""
    return tuple(cell(run, trial) for trial in run.plan().trials)


def cell(run: Run, trial: Trial) -> Cell:
    folder = run.trial(trial.id)
    result = folder.result()
    if result is None:
        return _cell(trial, State.PENDING, running=folder.root.exists() and folder.leased())
    return finished(result)


def finished(result: Result) -> Cell:
    trial = result.trial
    match result.outcome:
        case Scored(verdict=verdict, ending=ending):
            failures = verdict.failures()
            return _cell(
                trial,
                State.SCORED,
                result,
                passed=verdict.passed,
                score=verdict.score,
                ending=ending.value,
                why="" if verdict.passed else ", ".join(failures[:3]),
            )
        case Fault(phase=phase, kind=kind, error=error):
            return _cell(trial, State.FAULT, result, why=f"{phase}/{kind}: {error}")
        case Cancelled(reason=reason):
            return _cell(trial, State.CANCELLED, result, why=reason)


def totals(shown: Iterable[Cell]) -> Totals:
    """Pure function of the cells."""
    all_cells = list(shown)
    states = Counter(item.state for item in all_cells)
    costs = [item.cost for item in all_cells]
    known = [cost for cost in costs if cost is not None]
    return Totals(
        planned=len(all_cells),
        scored=states[State.SCORED],
        fault=states[State.FAULT],
        cancelled=states[State.CANCELLED],
        pending=states[State.PENDING],
        running=sum(item.running for item in all_cells),
        passed=sum(item.passed for item in all_cells),
        cost=sum(known) if len(known) == len(costs) else None,
        seconds=sum(item.seconds for item in all_cells),
    )


def _cell(
    trial: Trial,
    state: State,
    result: Result | None = None,
    *,
    running: bool = False,
    passed: bool = False,
    score: float | None = None,
    ending: str = "",
    why: str = "",
) -> Cell:
    spent = result.spent if result else None
    return Cell(
        id=trial.id,
        task=trial.task,
        agent=trial.agent,
        seed=trial.seed,
        repeat=trial.repeat,
        tier=trial.tier.value,
        cluster=trial.cluster,
        faults=trial.faults,
        state=state,
        running=running,
        passed=passed,
        score=score,
        ending=ending,
        steps=spent.steps if spent else 0,
        seconds=spent.seconds if spent else 0.0,
        tokens=spent.tokens if spent else 0,
        cost=spent.nano_dollars if spent else 0,
        why=clip(visible(why), 300),
    )
