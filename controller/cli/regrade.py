"""`practicum regrade`: grade recorded outputs again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import track
from rich.table import Table

from practicum.controller.errors import NothingScored
from practicum.controller.house import open_house
from practicum.controller.regrade import Regraded
from practicum.controller.regrade import regrade as regrade_run
from practicum.controller.show import console, encode, plain
from practicum.controller.store import Run


def regrade(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of the run.")],
    *,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Grade recorded outputs again, without any agent."""
    run = Run.open(folder)
    record = run.record()
    again = regrade_run(run, open_house(record.house))
    watched = track(again, "grading", total=len(record.trials), console=console(stderr=True), transient=True)
    found = list(watched)
    if not found:
        raise NothingScored(f"{folder}: no trial has outputs to grade")
    if as_json:
        typer.echo(encode(found))
        return
    changed = [one for one in found if one.before != one.after]
    out = console()
    if changed:
        out.print(_table(changed))
    out.print(f"{len(found)} graded again, {len(changed)} changed")
    renewed = {one.trial.task for one in found if one.task_changed}
    if renewed:
        out.print(f"changed since they were planned: {', '.join(sorted(renewed))}", style="yellow")


def _table(changed: list[Regraded]) -> Table:
    table = Table("task", "agent", "seed", "before", "after", box=None, pad_edge=False)
    for one in changed:
        trial = one.trial
        table.add_row(
            plain(trial.task), plain(trial.agent), str(trial.seed), _number(one.before), _number(one.after)
        )
    return table


def _number(score: float | None) -> str:
    return "fault" if score is None else f"{score:.3f}"
