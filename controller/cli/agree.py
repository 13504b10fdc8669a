"""`practicum agree`: do runs in different simulators rank the same agents alike?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from practicum.controller.agreement import Agreement, Ceiling, answers, ceiling, every_pair
from practicum.controller.errors import BadRequest
from practicum.controller.show import console, encode, plain, share
from practicum.controller.store import Run


def agree(
    runs: Annotated[list[Path], typer.Argument(help="Folders of two runs or more.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Rank agreement of runs (Kendall's tau-b, pairs of agents), beside each run's agreement with itself."""
    if len(runs) < 2:
        raise BadRequest("agreement needs two runs or more")
    found = {str(path): answers(Run.open(path)) for path in runs}
    agreements = every_pair(found)
    ceilings = {name: ceiling(run) for name, run in found.items()}
    if as_json:
        typer.echo(encode({"agreements": agreements, "ceilings": ceilings}))
        return
    console().print(_table(agreements))
    for name, top in ceilings.items():
        console().print(f"{plain(name)} with itself: {_ceiling(top)}")


def _table(agreements: tuple[Agreement, ...]) -> Table:
    names = ("runs", "agents", "questions", "concordant", "discordant", "tied", "agreed", "tau-b")
    table = Table(*names, box=None, header_style="bold")
    for one in agreements:
        counted = one.pairs
        tau = "–" if counted.tau_b is None else f"{counted.tau_b:.3f}"
        table.add_row(
            f"{plain(one.first)} ~ {plain(one.second)}",
            *(
                str(n)
                for n in (one.agents, one.questions, counted.concordant, counted.discordant, counted.tied)
            ),
            share(counted.agreement),
            tau,
        )
    return table


def _ceiling(top: Ceiling | None) -> str:
    if top is None:
        return "too few agents or questions to tell"
    return f"tau-b {top.mean:.3f} ({top.low:.3f} to {top.high:.3f}) between halves of its questions"
