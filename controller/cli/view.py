"""`practicum view`: look at runs in the browser, or write them as a folder of pages."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from practicum.controller.errors import BadRequest
from practicum.controller.store import Run
from practicum.controller.viewer.export import export
from practicum.controller.viewer.library import Library
from practicum.controller.viewer.serve import serve

console = Console()


def view(
    runs: Annotated[
        list[Path] | None, typer.Argument(help="Run folders; the newest one unless told.")
    ] = None,
    host: Annotated[str, typer.Option(help="A loopback address.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 takes a free one.")] = 0,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the page.")] = True,
    export_to: Annotated[Path | None, typer.Option("--export", help="Write a static site here.")] = None,
) -> None:
    """Watch and replay trials screen by screen."""
    folders = runs or [newest(Path("runs"))]
    if export_to is not None:
        _export(folders, export_to)
        return

    serve(Library.of(folders), host, port, announcer(console, open_browser=open_browser))


def announcer(to: Console, *, open_browser: bool) -> Callable[[str], None]:
    """Prints the link and, where asked, opens it."""

    def announce(link: str) -> None:
        to.print(f"Open {link}", soft_wrap=True, highlight=False)
        if open_browser:
            webbrowser.open(link)

    return announce


def newest(root: Path) -> Path:
    """The run begun last below `root`. Raises `BadRequest` where there is none."""
    plans = sorted(root.glob("*/plan.json"), key=lambda plan: plan.stat().st_mtime)
    if not plans:
        raise BadRequest(f"no run below {root}/; name one, or make one with `practicum run`")
    return plans[-1].parent


def _export(folders: list[Path], target: Path) -> None:
    if len(folders) != 1:
        raise BadRequest("--export takes one run")
    run = Run.open(folders[0].resolve())
    with Progress(console=console, transient=True) as progress:
        bar = progress.add_task("pages", total=len(run.plan().trials))
        written = export(run, target, lambda _: progress.advance(bar))
    console.print(f"{written} trials in {target}/index.html")
