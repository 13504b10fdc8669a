"""One line a trial, for spreadsheets and other people's statistics."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from practicum.controller.summary import Summary

COLUMNS = (
    *("trial", "task", "agent", "tier", "cluster", "subdomain", "seed", "repeat", "faults", "attempt"),
    *("standing", "score", "passed", "ending", "fault_kind", "fault_phase"),
    *("steps", "seconds", "model_seconds", "tool_seconds", "tokens", "nano_dollars"),
)


def render(standing: Iterable[Summary]) -> str:
    """Empty cells are unknown or do not apply."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_cells(summary) for summary in standing)
    return out.getvalue()


def _cells(summary: Summary) -> list[object]:
    trial, spent = summary.trial, summary.spent
    return [
        *(trial.id, trial.task, trial.agent, trial.tier, trial.cluster, trial.subdomain),
        *(trial.seed, trial.repeat, trial.faults, summary.attempt),
        *(summary.standing, summary.score, summary.passed, summary.ending, summary.kind, summary.phase),
        *(spent.steps, f"{spent.seconds:.3f}", f"{spent.model_seconds:.3f}", f"{spent.tool_seconds:.3f}"),
        *(spent.tokens, spent.nano_dollars),
    ]
