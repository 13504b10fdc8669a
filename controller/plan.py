"""Planning: everything a run will do, decided and written down before anything starts.

Pure. Equal questions to equal agents in equal environments have equal trial ids, whatever run they are in.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from practicum.agents.agent import Sitter
from practicum.controller.errors import Impossible
from practicum.controller.outcome import Trial
from practicum.infra.desk.desk import DeskProvider
from practicum.tasks.seeds import Practice, Sitting
from practicum.tasks.spec import Limits, Task, TaskSpec

N = TypeVar("N", int, float)

UNLIMITED = Limits(steps=None, seconds=None)

WORLD = "world"
"""The desk kind of a task that needs none; its environment is part of the task's own digest."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The trials of a run, in the order in which they start, each of them once."""

    trials: tuple[Trial, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Agent × task × question × repeat × faults, and the limits that the run lays over those of its tasks.

    `numbers` are the questions of the sitting, from 0; the practice sitting uses them as seeds.
    """

    tasks: Sequence[Task]
    sitters: Mapping[str, Sitter]
    numbers: Sequence[int] = (0,)
    sitting: Sitting = field(default_factory=Practice)
    repeats: int = 1
    faults: Sequence[str] = ("E0",)
    limits: Limits = UNLIMITED


def plan(matrix: Matrix, desks: DeskProvider) -> Plan:
    """Every trial of the matrix. Seeds and repeats vary slowest, so that an early stop is still balanced.

    Raises `Impossible` when a task needs what these desks cannot do, naming each such task.
    """
    _require_capabilities([task.spec for task in matrix.tasks], desks)
    environments = {task.spec.id: environment_of(task.spec, desks) for task in matrix.tasks}
    cells = itertools.product(
        range(matrix.repeats), matrix.numbers, matrix.faults, matrix.tasks, matrix.sitters.items()
    )
    trials = [
        _trial(
            task.spec,
            agent=(name, sitter.digest),
            environment=environments[task.spec.id],
            seed=matrix.sitting.seed(task.spec.id, number),
            repeat=repeat,
            faults=faults,
            limits=tighter(task.spec.limits, matrix.limits),
        )
        for repeat, number, faults, task, (name, sitter) in cells
    ]
    return Plan(tuple({trial.id: trial for trial in trials}.values()))


def tighter(limits: Limits, overlay: Limits) -> Limits:
    """The smaller of both, each by each; `None` limits nothing."""
    return Limits(
        steps=_smaller(limits.steps, overlay.steps),
        seconds=_smaller(limits.seconds, overlay.seconds),
        tokens=_smaller(limits.tokens, overlay.tokens),
        nano_dollars=_smaller(limits.nano_dollars, overlay.nano_dollars),
    )


def _smaller(first: N | None, second: N | None) -> N | None:
    known = [value for value in (first, second) if value is not None]
    return min(known) if known else None


def identify(**facts: object) -> str:
    """A content address: 20 hex digits of the SHA-256 of the facts in canonical JSON."""
    return hashlib.sha256(msgspec.json.encode(facts, order="deterministic")).hexdigest()[:20]


def _trial(
    spec: TaskSpec,
    *,
    agent: tuple[str, str],
    environment: tuple[str, str],
    seed: int,
    repeat: int,
    faults: str,
    limits: Limits,
) -> Trial:
    agent_name, agent_digest = agent
    desk_kind, environment_digest = environment
    deciding = {
        "task_digest": spec.digest,
        "agent_digest": agent_digest,
        "environment_digest": environment_digest,
        "seed": seed,
        "repeat": repeat,
        "faults": faults,
        "limits": limits,
    }
    return Trial(
        id=identify(**deciding),
        task=spec.id,
        task_digest=spec.digest,
        agent=agent_name,
        agent_digest=agent_digest,
        environment_digest=environment_digest,
        seed=seed,
        repeat=repeat,
        tier=spec.tier,
        cluster=spec.cluster,
        subdomain=spec.subdomain,
        limits=limits,
        desk_kind=desk_kind,
        faults=faults,
    )


def environment_of(spec: TaskSpec, desks: DeskProvider) -> tuple[str, str]:
    """Kind and digest of where a task happens."""
    if spec.desk is None:
        return WORLD, WORLD
    return desks.kind, desks.digest(spec.desk.desk_spec())


def _require_capabilities(specs: Iterable[TaskSpec], desks: DeskProvider) -> None:
    lacking = []
    for spec in specs:
        if spec.desk is None:
            continue
        missing = spec.desk.capabilities - desks.capabilities(spec.desk.desk_spec())
        if missing:
            lacking.append(f"{spec.id} needs {', '.join(sorted(missing))}")
    if lacking:
        raise Impossible(f"{desks.kind} desks cannot do this: {'; '.join(lacking)}")
