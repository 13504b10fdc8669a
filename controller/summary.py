"""One line a trial: what reports, indexes and progress need of a record, without its evidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from practicum.agents.agent import Ending
from practicum.controller.outcome import Cancelled, Fault, FaultKind, Phase, Result, Scored, Spent, Trial


class Standing(StrEnum):
    """Where a planned trial stands. Each trial has exactly one."""

    SCORED = "scored"
    FAULT = "fault"
    CANCELLED = "cancelled"
    PENDING = "pending"


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """`score`, `passed`, `ending` belong to a scored trial; `phase`, `kind`, `error` to a fault.

    `reopened` when the score replaces an earlier one.
    """

    trial: Trial
    standing: Standing
    attempt: int = 0
    score: float | None = None
    passed: bool | None = None
    ending: Ending | None = None
    phase: Phase | None = None
    kind: FaultKind | None = None
    error: str = ""
    reopened: bool = False
    spent: Spent = msgspec.field(default_factory=Spent)


@dataclass(frozen=True, slots=True)
class Counts:
    """`planned = scored + fault + cancelled + pending`, by construction."""

    scored: int
    fault: int
    cancelled: int
    pending: int

    @property
    def planned(self) -> int:
        return self.scored + self.fault + self.cancelled + self.pending

    @classmethod
    def of(cls, summaries: Iterable[Summary]) -> Counts:
        standings = [summary.standing for summary in summaries]
        return cls(**{standing.value: standings.count(standing) for standing in Standing})

    def sentence(self) -> str:
        return (
            f"{self.planned} planned = {self.scored} scored + {self.fault} fault "
            f"+ {self.cancelled} cancelled + {self.pending} pending"
        )


def pending(trial: Trial) -> Summary:
    return Summary(trial=trial, standing=Standing.PENDING)


def summarise(result: Result) -> Summary:
    trial, attempt, spent = result.trial, result.attempt, result.spent
    match result.outcome:
        case Scored(verdict=verdict, ending=ending):
            return Summary(
                trial=trial,
                standing=Standing.SCORED,
                attempt=attempt,
                score=verdict.score,
                passed=verdict.passed,
                ending=ending,
                reopened=bool(result.environment.get("reopened")),
                spent=spent,
            )
        case Fault(phase=phase, kind=kind, error=error):
            return Summary(
                trial=trial,
                standing=Standing.FAULT,
                attempt=attempt,
                phase=phase,
                kind=kind,
                error=error,
                spent=spent,
            )
        case Cancelled():
            return Summary(trial=trial, standing=Standing.CANCELLED, attempt=attempt, spent=spent)
