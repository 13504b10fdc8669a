"""What each page is given: plain data, the same for the server and for a static export."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import Any

import msgspec

from practicum.controller.ledger import RUN, Ledger, Unit
from practicum.controller.outcome import Fault, Result, Scored, Trial
from practicum.controller.store import Attempt, Run
from practicum.controller.viewer.library import fault_log, pick
from practicum.controller.viewer.matrix import Cell, Totals, cell, cells, totals
from practicum.controller.viewer.moments import Film, film
from practicum.controller.viewer.safe import clip, visible
from practicum.verifiers.verdict import Check


@dataclass(frozen=True, slots=True)
class Links:
    """Where a page finds its files, as prefixes relative to itself."""

    frames: str
    thumbs: str
    evidence: str


@dataclass(frozen=True, slots=True)
class Money:
    """Nano-dollars of the whole run: booked, reserved by what is running, and the cap (`None` for none)."""

    spent: int
    held: int
    cap: int | None


@dataclass(frozen=True, slots=True)
class RunPage:
    """`suffix` is what a link to a folder needs where no server adds it."""

    name: str
    suffix: str
    created: str
    desk: str
    money: Money
    totals: Totals
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class TrialPage:
    run: str
    trial: Trial
    cell: Cell
    attempt: int
    attempts: tuple[int, ...]
    title: str
    instruction: str
    film: Film
    links: Links
    left_out: tuple[str, ...]
    logs: str


def run_page(name: str, run: Run, suffix: str = "") -> RunPage:
    record = run.record()
    shown = cells(run)
    return RunPage(name, suffix, record.created, record.desk, money(run), totals(shown), shown)


def money(run: Run) -> Money:
    """Nothing at all for a run that has no ledger yet."""
    if not run.ledger.exists():
        return Money(0, 0, None)
    with closing(Ledger(run.ledger)) as ledger:
        total = ledger.total(RUN, Unit.NANO_DOLLARS)
        return Money(total.spent, total.held, ledger.cap(RUN, Unit.NANO_DOLLARS))


def trial_page(name: str, run: Run, trial: Trial, number: str | None, links: Links) -> TrialPage:
    """Raises `NotHere` for a trial that has not started."""
    folder = run.trial(trial.id)
    attempt = pick(folder, number)
    question = attempt.instance()
    result = _result(attempt)
    log = fault_log(attempt)
    return TrialPage(
        run=name,
        trial=trial,
        cell=cell(run, trial),
        attempt=attempt.number,
        attempts=tuple(other.number for other in folder.attempts()),
        title=visible(question.title) if question else trial.task,
        instruction=clip(visible(question.instruction)) if question else "",
        film=film(attempt.steps(), log.calls if log else ()),
        links=links,
        left_out=_left_out(result),
        logs=_logs(result),
    )


def verdict_of(attempt: Attempt) -> tuple[Check, ...]:
    """The checks of a scored attempt, texts made harmless; empty for anything else."""
    result = _result(attempt)
    if result is None or not isinstance(result.outcome, Scored):
        return ()
    return tuple(_cleaned(check) for check in result.outcome.verdict.checks)


def _left_out(result: Result | None) -> tuple[str, ...]:
    notes = result.environment.get("left_out", ()) if result else ()
    return tuple(visible(str(note)) for note in notes)


def _logs(result: Result | None) -> str:
    return clip(visible(result.outcome.logs), 8000) if result and isinstance(result.outcome, Fault) else ""


def _result(attempt: Attempt) -> Result | None:
    return attempt.result() if attempt.result_path.exists() else None


def _cleaned(check: Check) -> Check:
    return Check(
        name=visible(check.name),
        passed=check.passed,
        score=check.score,
        expected=clip(visible(check.expected), 4000),
        found=clip(visible(check.found), 4000),
        reason=clip(visible(check.reason), 4000),
        weight=check.weight,
        role=check.role,
        children=tuple(_cleaned(child) for child in check.children),
        evidence=check.evidence,
    )


def embedded(value: Any) -> str:
    """JSON that can stand inside a `<script type="application/json">` whatever strings it holds."""
    text = msgspec.json.encode(value).decode()
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
