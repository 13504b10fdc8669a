"""`practicum desk`: open a desk to look at, list what is open, take away what was left."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from practicum.infra.desk.container import ContainerDesks
from practicum.infra.desk.desk import DeskSpec, Label

app = typer.Typer(no_args_is_help=True)

JSON = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command("open")
def open_(
    *,
    image: Annotated[str, typer.Argument(help="One of `practicum image list`.")] = "base",
    width: Annotated[int, typer.Option(min=320, max=7680)] = 1280,
    height: Annotated[int, typer.Option(min=240, max=4320)] = 800,
    keyboard: Annotated[str, typer.Option(help="An XKB layout.")] = "us",
    locale: Annotated[str, typer.Option()] = "C.UTF-8",
    timezone: Annotated[str, typer.Option()] = "UTC",
    minutes: Annotated[float, typer.Option(min=0.0, help="Close by itself after so long.")] = 60.0,
    screenshot: Annotated[Path | None, typer.Option(help="Write a picture here and close at once.")] = None,
) -> None:
    """Open a desk and keep it until Ctrl-C."""
    spec = DeskSpec(image, width, height, locale=locale, timezone=timezone, keyboard=keyboard)
    label = Label(run="by-hand", trial=f"pid-{os.getpid()}", deadline=time.time() + 60 * minutes)
    console = Console()
    desks = ContainerDesks()
    with console.status("Opening the desk"):
        block = desks.open(spec, label)
        desk = block.__enter__()
    try:
        if screenshot is not None:
            screenshot.write_bytes(desk.observe().png)
            console.print(f"{screenshot}", soft_wrap=True)
            return
        console.print(f"The desk is open for {minutes:g} minutes; Ctrl-C closes it.")
        _until_interrupted(60 * minutes)
    finally:
        block.__exit__(None, None, None)


@app.command("list")
def list_(as_json: JSON = False) -> None:
    """Every desk that is alive, of any run."""
    _show("Open desks", ContainerDesks().held(), as_json=as_json)


@app.command()
def reap(as_json: JSON = False) -> None:
    """Take away desks past their deadline, and those whose process is gone; nothing else is touched."""
    _show("Taken away", ContainerDesks().reap(time.time()), as_json=as_json)


def _until_interrupted(seconds: float) -> None:
    try:
        threading.Event().wait(seconds)
    except KeyboardInterrupt:
        return


def _show(title: str, labels: Sequence[Label], *, as_json: bool) -> None:
    if as_json:
        typer.echo(msgspec.json.encode({"desks": labels}))
        return
    table = Table("run", "trial", "deadline", title=title)
    for label in labels:
        deadline = datetime.fromtimestamp(label.deadline, UTC).isoformat(" ", "seconds")
        table.add_row(label.run, label.trial, deadline)
    Console().print(table if labels else f"{title}: none")
