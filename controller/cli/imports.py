"""`practicum import`: tasks of other benchmarks as language worlds. Their data stays where it is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from practicum.agents import registry
from practicum.agents.agent import Agent, Privileged
from practicum.controller.errors import BadRequest, NothingScored
from practicum.controller.lent import JUDGE, Count
from practicum.controller.occubench import Imported, Sitters, sit_all
from practicum.controller.show import console, encode, plain
from practicum.controller.subjects import lend
from practicum.tasks.worlds.occubench.lint import Flaw, Linted, lint
from practicum.tasks.worlds.occubench.reader import load

app = typer.Typer(no_args_is_help=True)


@app.callback()
def imports() -> None:
    """Bring tasks of other benchmarks in as language worlds."""


@app.command()
def occubench(
    folder: Annotated[Path, typer.Argument(help="Folder of the released files.")],
    *,
    out: Annotated[
        Path | None, typer.Option(help="Sit an agent at the tasks; folder of the records.")
    ] = None,
    agent: Annotated[str, typer.Option(help="Who sits, by name or file.")] = "random",
    model: Annotated[str, typer.Option(help="Model that plays the worlds, at OPENAI_BASE_URL.")] = "",
    judge: Annotated[str, typer.Option(help="Model that judges by the rubric; none if empty.")] = "",
    mended: Annotated[bool, typer.Option(help="Show the state as JSON, and the tools.")] = False,
    constrained: Annotated[bool, typer.Option(help="Ask the endpoint for JSON.")] = True,
    tasks: Annotated[int | None, typer.Option(min=1, help="Only the first so many.")] = None,
    steps: Annotated[int, typer.Option(min=1, help="Calls of one task.")] = 60,
    workers: Annotated[int, typer.Option(min=1)] = 2,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Read OccuBench's release and lint its configurations; with --out sit an agent at every task."""
    loaded = load(folder)[:tasks]
    linted = lint(loaded)
    if out is None:
        if as_json:
            typer.echo(encode({flaw: [linted.count(flaw), linted.tasks_with(flaw)] for flaw in Flaw}))
        else:
            _show_lint(linted)
        return
    meter = Count()
    who = Sitters(
        agent=partial(_candidate, agent),
        world=lend(model, meter, constrained=constrained, max_output=2048),
        meter=meter,
        judge=lend(judge, meter, constrained=constrained, max_output=1024, purpose=JUDGE) if judge else None,
        mended=mended,
        steps=steps,
    )
    results = sit_all(loaded, who, out, workers=workers)
    if as_json:
        typer.echo(encode(results))
    else:
        console().print(_results(results))
    if all(result.fault for result in results):
        raise NothingScored(f"all {len(results)} tasks faulted: {results[0].fault}")


def _candidate(name: str) -> Agent:
    sitter = registry.resolve(name)
    if isinstance(sitter, Privileged):
        raise BadRequest(f"{name} must be shown the task behind the exam, and imported worlds have none")
    return sitter


def _show_lint(linted: Linted) -> None:
    table = Table("flaw", "found", "tasks", box=None, header_style="bold")
    for flaw in Flaw:
        table.add_row(flaw, f"{linted.count(flaw):,}", f"{linted.tasks_with(flaw)} of {linted.tasks}")
    out = console()
    out.print(table)
    nowhere = linted.count(Flaw.FIELD_NOWHERE)
    out.print(
        f"{nowhere:,} of {linted.returned_fields:,} fields that the {linted.tools:,} tools return "
        f"({100 * nowhere / max(1, linted.returned_fields):.0f} %) are nowhere in the state."
    )


def _results(results: Sequence[Imported]) -> Table:
    table = Table("industry", "tasks", "faults", "calls", "judged", "passed", box=None, header_style="bold")
    for industry in [*sorted({result.industry for result in results}), "all"]:
        rows = [result for result in results if industry in (result.industry, "all")]
        judged = [row for row in rows if row.judged is not None]
        table.add_row(
            plain(industry),
            str(len(rows)),
            str(sum(bool(row.fault) for row in rows)),
            str(sum(row.calls for row in rows)),
            str(len(judged)),
            str(sum(bool(row.judged) for row in judged)) if judged else "–",
        )
    return table
