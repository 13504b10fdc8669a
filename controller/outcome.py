"""What became of a trial, and what a run is made of.

    Outcome = Scored | Fault | Cancelled

A Fault is ours: it is never a score and never in a mean. `planned = scored + fault + cancelled + pending`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import msgspec

from practicum.agents.agent import Ending
from practicum.tasks.spec import Limits, Tier
from practicum.verifiers.verdict import Verdict


class Phase(StrEnum):
    """Where in the story of a trial something failed."""

    INSTANCE = "instance"
    PROVISION = "provision"
    DRIVE = "drive"
    COLLECT = "collect"
    VERIFY = "verify"
    RECORD = "record"


class FaultKind(StrEnum):
    DESK = "desk"
    MODEL = "model"
    TASK = "task"
    AGENT_CODE = "agent_code"
    VERIFIER = "verifier"
    DISK_FULL = "disk_full"
    WALL_TIME = "wall_time"
    WORKER_DIED = "worker_died"
    WORLD = "world"
    RECORD = "record"


class Scored(msgspec.Struct, frozen=True, kw_only=True, tag="scored"):
    verdict: Verdict
    ending: Ending


class Fault(msgspec.Struct, frozen=True, kw_only=True, tag="fault"):
    phase: Phase
    kind: FaultKind
    error: str
    logs: str = ""


class Cancelled(msgspec.Struct, frozen=True, kw_only=True, tag="cancelled"):
    reason: str


Outcome = Scored | Fault | Cancelled


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One planned unit of work. `id` is content-addressed over everything that decides the result."""

    id: str
    task: str
    task_digest: str
    agent: str
    agent_digest: str
    environment_digest: str
    seed: int
    repeat: int
    tier: Tier
    cluster: str
    subdomain: str
    limits: Limits
    desk_kind: str
    faults: str = "E0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a trial used: seconds of wall time by part, tokens and nano-dollars (`None` where unknown).

    `steps` is the larger of model calls and tool calls; `tools` counts the tool calls by tool.
    """

    seconds: float = 0.0
    model_seconds: float = 0.0
    tool_seconds: float = 0.0
    steps: int = 0
    tokens: int | None = 0
    nano_dollars: int | None = 0
    tools: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The record of one finished trial: the one file whose presence means it is finished."""

    trial: Trial
    outcome: Outcome
    spent: Spent
    attempt: int
    started: str
    finished: str
    environment: dict[str, Any] = field(default_factory=dict)
