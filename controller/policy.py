"""Which trials of a run are to be worked on: a pure function of their records.

A pending or cancelled trial is due. A fault is due again a bounded number of times by its kind. Anything else
is due only when a person reopens it with `--retry`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from practicum.agents.agent import Ending
from practicum.controller.errors import BadRequest
from practicum.controller.outcome import FaultKind
from practicum.controller.summary import Standing, Summary

Predicate = Callable[[Summary], bool]

RETRIES: Mapping[FaultKind, int] = {
    FaultKind.DESK: 2,
    FaultKind.MODEL: 2,
    FaultKind.WORKER_DIED: 2,
    FaultKind.WORLD: 1,
    FaultKind.WALL_TIME: 1,
    FaultKind.RECORD: 1,
    FaultKind.VERIFIER: 1,
}
"""How often a trial is tried again after a fault of this kind; kinds that are not here would only repeat."""


def nothing(summary: Summary) -> bool:
    del summary
    return False


@dataclass(frozen=True, slots=True)
class Policy:
    """`reopen` is asked once for each trial, when a controller starts."""

    retries: Mapping[FaultKind, int] = field(default_factory=lambda: RETRIES)
    reopen: Predicate = nothing

    def due(self, summary: Summary) -> bool:
        return self.unfinished(summary) or self.reopen(summary)

    def unfinished(self, summary: Summary) -> bool:
        match summary.standing:
            case Standing.PENDING | Standing.CANCELLED:
                return True
            case Standing.FAULT:
                return summary.kind is not None and summary.attempt <= self.retries.get(summary.kind, 0)
            case Standing.SCORED:
                return False


_SCORE = re.compile(r"score\s*(<=|>=|<|>|=)\s*([0-9.]+)")
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
}


def parse_retry(text: str) -> Predicate:
    """`faults`, `fault:desk`, `ended:time`, `score<1`, several joined by commas. Raises `BadRequest`."""
    predicates = [_parse_one(part.strip()) for part in text.split(",")]
    return lambda summary: any(predicate(summary) for predicate in predicates)


def _parse_one(text: str) -> Predicate:
    word, _, value = text.partition(":")
    if text == "faults":
        return lambda summary: summary.standing is Standing.FAULT
    if word == "fault" and value in set(FaultKind):
        return lambda summary: summary.kind == value
    if word == "ended" and value in set(Ending):
        return lambda summary: summary.ending == value
    if match := _SCORE.fullmatch(text):
        compare, bound = _COMPARE[match[1]], float(match[2])
        return lambda summary: summary.score is not None and compare(summary.score, bound)
    raise BadRequest(
        f"--retry {text!r} is none of: faults, fault:KIND ({', '.join(FaultKind)}), "
        f"ended:HOW ({', '.join(Ending)}), score<NUMBER"
    )
