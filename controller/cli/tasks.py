"""`practicum tasks`: what there is, what an agent would see, and a place to begin."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.table import Column, Table

from practicum.controller.errors import BadRequest
from practicum.tasks import catalog
from practicum.tasks.canary import FILE
from practicum.tasks.scaffold import scaffold
from practicum.tasks.seeds import Practice, Sitting, private_sitting
from practicum.tasks.spec import Instance, Task, TaskSpec

app = typer.Typer(no_args_is_help=True)

JSON = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command("list")
def list_(
    patterns: Annotated[list[str] | None, typer.Argument(help="Tasks: ids, tiers, clusters, globs.")] = None,
    as_json: JSON = False,
) -> None:
    """List tasks."""
    tasks = catalog.select(*(patterns or ["all"]))
    if as_json:
        typer.echo(msgspec.json.encode([_facts(task.spec) for task in tasks]))
        return
    table = Table(Column("task", no_wrap=True), "title", Column("tier", no_wrap=True), "image", "outputs")
    for task in tasks:
        table.add_row(*_row(task.spec))
    Console().print(table)


@app.command()
def show(
    *,
    task: Annotated[str, typer.Argument(help="One task.")],
    seed: Annotated[int, typer.Option(min=0, help="Which question.")] = 0,
    sitting: Annotated[Path | None, typer.Option(help="File with the secret of a private sitting.")] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open the folder of inputs.")] = False,
    keep: Annotated[Path | None, typer.Option(help="Write instruction and inputs here.")] = None,
    as_json: JSON = False,
) -> None:
    """Show what an agent would see of one instance."""
    chosen = _one(task)
    drawn: Sitting = private_sitting(sitting) if sitting else Practice()
    folder = keep or Path(tempfile.mkdtemp(prefix="practicum-show-"))
    if keep and keep.exists() and any(keep.iterdir()):
        raise BadRequest(f"{keep} is not empty")
    try:
        instance = chosen.instantiate(drawn.seed(chosen.spec.id, seed), folder)
        (folder / "instruction.md").write_text(instance.instruction, encoding="utf-8")
        shutil.rmtree(instance.reference)
        _show(instance, as_json)
        if open_:
            _open(folder)
    finally:
        if keep is None and not open_:
            shutil.rmtree(folder)


@app.command()
def new(
    name: Annotated[str, typer.Argument(metavar="CLUSTER/NAME")],
    under: Annotated[Path | None, typer.Option(help="Where the task folders are.")] = None,
) -> None:
    """Begin a desk task that already passes the fast check."""
    folder = scaffold(name, under)
    typer.echo(f"{folder}\nnext: practicum check --fast {folder}")


def _one(pattern: str) -> Task:
    found = catalog.select(pattern)
    if len(found) != 1:
        raise BadRequest(f"{pattern!r} names {len(found)} tasks; show wants one")
    return found[0]


def _facts(spec: TaskSpec) -> Any:
    return msgspec.to_builtins(spec)


def _row(spec: TaskSpec) -> Sequence[str]:
    outputs = ", ".join(output.path for output in spec.outputs)
    return spec.id, spec.title, spec.tier, spec.desk.image if spec.desk else "world", outputs


def _inputs(instance: Instance) -> list[dict[str, Any]]:
    return [
        {"path": path.relative_to(instance.inputs).as_posix(), "bytes": path.stat().st_size}
        for path in sorted(instance.inputs.rglob("*"))
        if path.is_file() and path.name != FILE
    ]


def _show(instance: Instance, as_json: bool) -> None:
    if as_json:
        shown = {
            "task": _facts(instance.spec),
            "seed": instance.seed,
            "instruction": instance.instruction,
            "inputs": _inputs(instance),
        }
        typer.echo(msgspec.json.encode(shown))
        return
    console = Console()
    console.print(f"[bold]{instance.spec.title}[/] ({instance.spec.id}, seed {instance.seed})\n")
    console.print(Markdown(instance.instruction))
    for item in _inputs(instance):
        console.print(f"input {item['path']}, {item['bytes']} bytes")


def _open(folder: Path) -> None:
    typer.echo(folder)
    opener = shutil.which("xdg-open")
    if opener is None or not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        typer.echo("no desktop here to open it with; the folder is above")
        return
    subprocess.Popen([opener, str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
