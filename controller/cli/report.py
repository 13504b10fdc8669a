"""`practicum report`: read a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from practicum.controller import report as reports
from practicum.controller import report_csv, report_html, report_text
from practicum.controller.files import write_whole
from practicum.controller.index import summaries
from practicum.controller.show import console, encode, trials_table
from practicum.controller.store import Run


def report(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of the run.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="The whole report as JSON.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="One line a trial.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write a page with plots that loads nothing.")] = None,
    trials: Annotated[bool, typer.Option("--trials", help="Also one line a trial.")] = False,
) -> None:
    """Read a run: rates with intervals, costs, comparisons. Fails where nothing was scored."""
    run = Run.open(folder)
    if as_csv:
        typer.echo(report_csv.render(summaries(run)), nl=False)
        return
    found = reports.read(run)
    if html is not None:
        write_whole(html, report_html.render(found).encode())
    if as_json:
        typer.echo(encode(found))
        return
    out = console()
    if trials:
        out.print(trials_table(summaries(run)))
    report_text.render(found, out)
