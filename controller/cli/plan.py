"""`practicum plan`: price a run before it starts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from practicum.controller import forecast as forecasts
from practicum.controller import launch
from practicum.controller.cli import options
from practicum.controller.forecast import Forecast
from practicum.controller.house import STANDARD
from practicum.controller.launch import Metered, Proposal
from practicum.controller.prices import Price
from practicum.controller.prices import dollars as nano
from practicum.controller.runfile import Prices, RunFile, TrialLimits
from practicum.controller.show import console, duration, encode, money, plain


def plan(
    selection: Annotated[list[str] | None, typer.Argument(help="As for run.")] = None,
    *,
    agent: Annotated[str, typer.Option(help="Agents by name or file, joined by commas.")] = "oracle",
    seeds: Annotated[str, typer.Option(help="Questions of the sitting: 0-4,7.")] = "0",
    repeats: Annotated[int, typer.Option(min=1)] = 1,
    where: Annotated[list[str] | None, typer.Option(help="Keep tasks with a fact: image=cad.")] = None,
    desk: Annotated[str, typer.Option(help="Kind of desk.")] = "container",
    budget: Annotated[str, typer.Option(help="Dollars: say what they buy.")] = "",
    history: Annotated[Path, typer.Option(help="Folder with earlier runs.")] = Path("runs"),
    trial_tokens: Annotated[int | None, typer.Option(help="Tokens of one trial.")] = None,
    trial_dollars: Annotated[float | None, typer.Option(help="Dollars of one trial.")] = None,
    prices: Annotated[Path | None, typer.Option(help="Price table laid over the shipped one.")] = None,
    price_in: Annotated[float | None, typer.Option(help="Dollars a million tokens in, if unknown.")] = None,
    price_out: Annotated[float | None, typer.Option(help="Dollars a million tokens out, if unknown.")] = None,
    free: Annotated[bool, typer.Option("--free", help="Models without a price cost nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json")] = False,
    house: Annotated[str, typer.Option(hidden=True)] = STANDARD,
) -> None:
    """Price a run before it starts, and say what a budget buys."""
    spec = options.from_file(selection) or RunFile(
        tasks=tuple(selection or ()),
        agents=options.words(agent),
        seeds=seeds,
        repeats=repeats,
        where=options.pairs(where or ()),
        desk=desk,
        house=house,
        limits=TrialLimits(tokens=trial_tokens, dollars=trial_dollars),
        prices=Prices(file=options.absolute(prices), input=price_in, output=price_out, free=free),
    )
    proposal = launch.propose(spec)
    found = forecasts.forecast(
        proposal.plan.trials,
        forecasts.history(history) if history.is_dir() else [],
        _prices(proposal),
        nano(options.dollars(budget)) if budget else None,
    )
    if as_json:
        typer.echo(encode(found))
    else:
        _show(found, len(proposal.plan.trials))


def _prices(proposal: Proposal) -> dict[str, Price | None]:
    return {
        name: forecasts.dearest(proposal.prices.price(model) for model in sitter.models)
        if isinstance(sitter, Metered)
        else None
        for name, sitter in proposal.sitters.items()
    }


def _show(found: Forecast, planned: int) -> None:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("agent", "tier", "trials", "dollars", "90 % interval", "at most", "time", "from"):
        table.add_column(name, justify="left" if name in ("agent", "tier", "from") else "right")
    for line in found.lines:
        interval = line.interval
        table.add_row(
            plain(line.agent),
            line.tier,
            str(line.trials),
            "unknown" if line.nano_dollars is None else money(round(line.nano_dollars)),
            "–" if interval is None else f"{money(round(interval.low))} – {money(round(interval.high))}",
            "–" if line.most is None else money(line.most),
            "–" if line.seconds is None else duration(line.seconds),
            line.source,
        )
    out = console()
    out.print(table)
    if found.nano_dollars is None or found.interval is None:
        out.print(
            f"{planned} trials; their cost is unknown: set --trial-dollars or --trial-tokens, or run a pilot"
        )
        return
    low, high = (money(round(side)) for side in (found.interval.low, found.interval.high))
    out.print(f"{planned} trials, about ${money(round(found.nano_dollars))} ({low} – {high})")
    if found.affordable is not None:
        share = 100 * found.affordable / planned
        out.print(f"${money(found.budget)} buys about {found.affordable} of them ({share:.0f} %)")
    for cell, half in found.half_widths.items():
        out.print(f"  {plain(cell)}: pass rate to about ±{100 * half:.0f} points")
