"""`practicum desk`: open a desk to look at, list what is open, take away what was left."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from practicum.controller.cli.view import announcer
from practicum.controller.errors import BadRequest
from practicum.controller.viewer.library import Library
from practicum.controller.viewer.live import bare, staged
from practicum.controller.viewer.serve import serve
from practicum.infra.desk.container import ContainerDesks
from practicum.infra.desk.desk import DeskSpec, Label
from practicum.tasks import catalog
from practicum.tasks.spec import Task

app = typer.Typer(no_args_is_help=True)

JSON = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command("open")
def open_(
    *,
    image: Annotated[str, typer.Argument(help="One of `practicum image list`.")] = "base",
    task: Annotated[str | None, typer.Option(help="Stage this task instead of an empty desk.")] = None,
    seed: Annotated[int, typer.Option(help="Which of the task's questions.")] = 0,
    width: Annotated[int, typer.Option(min=320, max=7680)] = 1280,
    height: Annotated[int, typer.Option(min=240, max=4320)] = 800,
    keyboard: Annotated[str, typer.Option(help="An XKB layout.")] = "us",
    locale: Annotated[str, typer.Option()] = "C.UTF-8",
    timezone: Annotated[str, typer.Option()] = "UTC",
    minutes: Annotated[float, typer.Option(min=0.0, help="Close by itself after so long.")] = 60.0,
    screenshot: Annotated[Path | None, typer.Option(help="Write a picture here and close at once.")] = None,
    port: Annotated[int, typer.Option(help="0 takes a free one.")] = 0,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the page.")] = True,
) -> None:
    """Open a desk to sit at in the browser, until Ctrl-C."""
    spec = DeskSpec(image, width, height, locale=locale, timezone=timezone, keyboard=keyboard)
    label = Label(run="by-hand", trial=f"pid-{os.getpid()}", deadline=time.time() + 60 * minutes)
    desks = ContainerDesks()
    console = Console()
    block = bare(spec, desks, label) if task is None else staged(_only(task), seed, desks, label)
    with ExitStack() as house:
        with console.status("Opening the desk"):
            live = house.enter_context(block)
        if screenshot is not None:
            screenshot.write_bytes(live.desk.observe().png)
            console.print(f"{screenshot}", soft_wrap=True)
            return
        closing = threading.Timer(60 * minutes, lambda: os.kill(os.getpid(), signal.SIGINT))
        closing.daemon = True
        closing.start()
        house.callback(closing.cancel)
        serve(Library({}), "127.0.0.1", port, announcer(console, open_browser=open_browser), live)


def _only(name: str) -> Task:
    """Raises `TaskError` for what names no task, and `BadRequest` for what names several."""
    found = catalog.select(name)
    if len(found) != 1:
        raise BadRequest(f"{name!r} names {len(found)} tasks")
    return found[0]


@app.command("list")
def list_(as_json: JSON = False) -> None:
    """Every desk that is alive, of any run."""
    _show("Open desks", ContainerDesks().held(), as_json=as_json)


@app.command()
def reap(as_json: JSON = False) -> None:
    """Take away desks past their deadline, and those whose process is gone; nothing else is touched."""
    _show("Taken away", ContainerDesks().reap(time.time()), as_json=as_json)


def _show(title: str, labels: Sequence[Label], *, as_json: bool) -> None:
    if as_json:
        typer.echo(msgspec.json.encode({"desks": labels}))
        return
    table = Table("run", "trial", "deadline", title=title)
    for label in labels:
        deadline = datetime.fromtimestamp(label.deadline, UTC).isoformat(" ", "seconds")
        table.add_row(label.run, label.trial, deadline)
    Console().print(table if labels else f"{title}: none")
