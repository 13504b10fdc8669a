"""`practicum prices`: show the price table, and where to lay another over it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from practicum.agents.agent import Usage
from practicum.controller.prices import Price, PriceTable, load, shipped, user_file
from practicum.controller.show import console, encode, money

app = typer.Typer(no_args_is_help=True)

File = Annotated[Path | None, typer.Option("--prices", help="Price table laid over the others.")]


@app.command()
def show(*, prices: File = None, as_json: Annotated[bool, typer.Option("--json")] = False) -> None:
    """The table in force: shipped, under the user's own, under --prices."""
    table = in_force(prices)
    if as_json:
        typer.echo(encode(table))
        return
    out = console()
    out.print(_table(table))
    for kind, rate in table.machines.items():
        out.print(f"{kind}: ${money(rate)} an hour")
    out.print(f"Your own prices go into {user_file()}", soft_wrap=True)


@app.command()
def bill(
    model: str,
    *,
    tokens_in: Annotated[int, typer.Option(min=0, help="Fresh tokens in.")] = 0,
    cached: Annotated[int, typer.Option(min=0, help="Tokens read from a cache.")] = 0,
    tokens_out: Annotated[int, typer.Option(min=0)] = 0,
    prices: File = None,
) -> None:
    """What so many tokens of a model cost."""
    usage = Usage(input=tokens_in, cache_read=cached, output=tokens_out)
    typer.echo(f"${money(in_force(prices).price(model).cost(usage))}")


def in_force(path: Path | None) -> PriceTable:
    return load(path).over(shipped()) if path else shipped()


def _table(table: PriceTable) -> Table:
    shown = Table(title="US dollars per million tokens", box=None, header_style="bold", pad_edge=False)
    for name in ("model", "in", "cached", "cache write", "write, 1 h", "out", "dated"):
        shown.add_column(name, justify="left" if name in ("model", "dated") else "right")
    for name, price in table.models.items():
        shown.add_row(name, *(f"{part / 1000:g}" for part in _parts(price)), price.dated)
    return shown


def _parts(price: Price) -> tuple[int, ...]:
    return (price.input, price.cache_read, price.cache_write, price.cache_write_long, price.output)
