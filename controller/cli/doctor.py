"""`practicum doctor`: what this machine lacks, and the command that mends it."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Column, Table
from rich.text import Text

from practicum.controller.doctor import Finding, Standing, examine, well
from practicum.controller.show import console, encode, plain
from practicum.vm_images.builder import Images

_MARKS = {Standing.OK: ("✓", "green"), Standing.LIMITED: ("!", "yellow"), Standing.MISSING: ("✗", "red")}


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> None:
    """Say what this machine lacks, and the command that mends it."""
    screen = console(stderr=True)
    with screen.status("looking at this machine"):
        findings = list(examine(Images()))
    if as_json:
        typer.echo(encode({"well": well(findings), "findings": findings}))
    else:
        console().print(_table(findings))
    if not well(findings):
        raise typer.Exit(1)


def _table(findings: list[Finding]) -> Table:
    table = Table(
        Column(""), Column("", no_wrap=True), Column(""), box=None, show_header=False, pad_edge=False
    )
    for finding in findings:
        mark, style = _MARKS[finding.standing]
        words = Text(plain(finding.sentence, 300))
        if finding.mend:
            words.append(f"\n→ {finding.mend}", style="bold")
        table.add_row(Text(mark, style=style), finding.name, words)
    return table
