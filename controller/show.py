"""Tables and numbers for the terminal; what comes from a guest or a model loses its control characters."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from practicum.controller.prices import NANO
from practicum.controller.summary import Standing, Summary

_STYLES = {
    Standing.SCORED: "",
    Standing.FAULT: "yellow",
    Standing.CANCELLED: "dim",
    Standing.PENDING: "dim",
}


WIDE = 160
"""Columns where there is no terminal to fit."""


def console(*, stderr: bool = False) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, highlight=False, width=None if stream.isatty() else WIDE)


def encode(value: object) -> str:
    """One line of JSON."""
    return msgspec.json.encode(value).decode()


def money(nano: int | None) -> str:
    """Nano-dollars as dollars: cents, or as many digits as a small amount needs."""
    if nano is None:
        return "unknown"
    amount = nano / NANO
    return f"{amount:.2f}" if amount >= 0.01 or nano == 0 else f"{amount:.2g}"


def share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def duration(seconds: float) -> str:
    """`7 s`, `3:05`, `2:10:00`."""
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def plain(text: str, most: int = 200) -> str:
    """One line without control characters."""
    clean = "".join(char if char.isprintable() else " " for char in text)
    return clean if len(clean) <= most else clean[: most - 1] + "…"


def trials_table(summaries: Iterable[Summary], *, most: int | None = None) -> Table:
    """Task, agent, score, ending, steps, seconds, dollars: one row a trial."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("task", "agent", "seed"):
        table.add_column(name, overflow="fold")
    for name in ("score", "ending", "steps", "seconds", "dollars"):
        table.add_column(name, justify="left" if name == "ending" else "right")
    rows = list(summaries)
    for summary in rows[:most]:
        trial, spent = summary.trial, summary.spent
        table.add_row(
            plain(trial.task),
            plain(trial.agent + ("" if trial.faults == "E0" else f" {trial.faults}")),
            str(trial.seed) + (f"/{trial.repeat}" if trial.repeat else ""),
            score_cell(summary),
            ending_cell(summary),
            str(spent.steps),
            f"{spent.seconds:.1f}",
            money(spent.nano_dollars),
            style=_STYLES[summary.standing],
        )
    if most is not None and len(rows) > most:
        table.add_row(f"… and {len(rows) - most} more", style="dim")
    return table


def score_cell(summary: Summary) -> Text:
    if summary.score is None:
        return Text("–")
    return Text(f"{summary.score:.2f}", style="green" if summary.passed else "red")


def ending_cell(summary: Summary) -> str:
    if summary.standing is Standing.SCORED:
        return str(summary.ending)
    if summary.standing is Standing.FAULT:
        return plain(f"fault: {summary.kind} in {summary.phase}: {summary.error}", 60)
    return str(summary.standing)
