"""`practicum audit`: how far a simulator of worlds can be trusted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from practicum.controller import subjects
from practicum.controller.audit import POLICIES, Audit, audit
from practicum.controller.errors import BadRequest
from practicum.controller.lent import Count
from practicum.controller.show import console, encode, plain, share
from practicum.infra.world.differences import Kind
from practicum.tasks.seeds import parse_numbers
from practicum.tasks.worlds import library


def audit_command(
    simulator: Annotated[str, typer.Argument(help=f"One of: {subjects.WORDS}.")],
    *,
    worlds: Annotated[list[str] | None, typer.Option("--world", help="Scenario: industry/name.")] = None,
    seeds: Annotated[str, typer.Option(help="Questions of the practice sitting.")] = "0",
    policies: Annotated[str, typer.Option(help="Who works in it, joined by commas.")] = ",".join(POLICIES),
    model: Annotated[str, typer.Option(help="Model that plays the world.")] = "",
    constrained: Annotated[bool, typer.Option(help="Ask the endpoint to keep to the schema.")] = True,
    max_output: Annotated[int, typer.Option(min=16, help="Tokens of one answer.")] = 2048,
    page: Annotated[Path | None, typer.Option(help="Write the page here (Markdown).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Audit a simulator: its answers beside those of the executable world, on the same calls."""
    known = library.names()
    names = worlds or list(known)
    if unknown := [name for name in names if name not in known]:
        raise BadRequest(f"no scenario {unknown[0]!r}; there are {', '.join(known)}")
    meter = Count()
    subject = subjects.subject(
        simulator, model=model, constrained=constrained, max_output=max_output, meter=meter
    )
    scenarios = [library.scenario(name) for name in names]
    found = audit(simulator, subject, scenarios, parse_numbers(seeds), policies.split(","))
    if page is not None:
        page.write_text(markdown(found), encoding="utf-8")
    if as_json:
        typer.echo(encode(found))
        return
    console().print(_table(found))
    for sentence in sentences(found):
        console().print(plain(sentence, 400))
    if meter.calls:
        tokens = "unknown" if meter.tokens is None else f"{meter.tokens:,}"
        console().print(f"{sum(meter.calls.values()):,} model calls for the world, {tokens} tokens")


def _table(found: Audit) -> Table:
    table = Table("difference", "calls", "per 1,000", "90 %", box=None, header_style="bold")
    for row in _rows(found):
        table.add_row(*row)
    return table


def _rows(found: Audit) -> Iterator[tuple[str, str, str, str]]:
    for kind in Kind:
        if (rate := found.rates.get(kind)) is not None:
            bounds = f"{rate.interval.low:.1f}–{rate.interval.high:.1f}"
            yield kind, str(rate.found), f"{rate.per_thousand:.1f}", bounds


def sentences(found: Audit) -> Iterator[str]:
    """What the table does not say."""
    sittings = len(found.sittings)
    yield f"{found.calls:,} calls in {sittings} sittings; {found.faults} ended without a valid answer."
    yield f"The simulator changed the verdict in {share(found.flips)} of the sittings that went through."
    broken = len(found.violations)
    yield f"Relations that need no reference: {broken} of {found.examined} do not hold."


def markdown(found: Audit) -> str:
    """The page: rates, what follows from them, and one example of each kind in each sitting."""
    lines = [
        f"# Audit of `{found.subject}`",
        "",
        "| difference | calls | per 1,000 | 90 % |",
        "|---|---|---|---|",
    ]
    lines += ["| " + " | ".join(row) + " |" for row in _rows(found)]
    lines += ["", *sentences(found), ""]
    examples = [
        f"- `{sitting.world}` seed {sitting.seed}, {sitting.policy}: {plain(example, 300)}"
        for sitting in found.sittings
        for example in sitting.examples
    ]
    contradictions = [
        f"- {item.relation}: `{item.tool}`: {plain(item.detail, 300)}" for item in found.violations
    ]
    for title, items in (("Examples", examples), ("Contradictions", contradictions)):
        if items:
            lines += [f"## {title}", "", *items, ""]
    return "\n".join(lines)
