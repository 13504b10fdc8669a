"""`practicum image`: the images desks are opened on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Column, Table

from practicum.controller.cli.image_vm import Form, build_disks
from practicum.controller.errors import BadRequest
from practicum.controller.image_check import BOUND, Checked, check_image
from practicum.controller.show import console, encode, plain
from practicum.infra.desk.container import ContainerDesks
from practicum.vm_images import builder
from practicum.vm_images.builder import Images
from practicum.vm_images.engine import Engine
from practicum.vm_images.errors import EngineMissing

app = typer.Typer(no_args_is_help=True)

JSON = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Names = Annotated[
    list[str] | None, typer.Argument(metavar="[IMAGE]...", help="All of them where none is named.")
]

MIB = 1 << 20
_LINE_WIDTH = 60


@app.command("list")
def list_(as_json: JSON = False) -> None:
    """List images, what they offer, and whether they are built."""
    images = Images()
    with _engine_if_any() as engine:
        rows = [_row(name, images, engine) for name in images.recipes.names()]
    if as_json:
        typer.echo(encode({"images": rows}))
        return
    size = Column("built", justify="right", no_wrap=True)
    table = Table(Column("image", no_wrap=True), "summary", "programs", size, box=None)
    for row in rows:
        table.add_row(row.image, row.summary, ", ".join(row.programs), row.standing)
    console().print(table)


@app.command()
def build(
    *,
    names: Names = None,
    form: Annotated[Form, typer.Option("--as", help="What desks are opened on.")] = Form.CONTAINER,
    iso: Annotated[Path | None, typer.Option(help="Your medium of Windows, for windows-*.")] = None,
    virtio: Annotated[Path | None, typer.Option(help="The medium of virtio drivers for it.")] = None,
    as_json: JSON = False,
) -> None:
    """Build images that their recipes no longer match; the others are left as they are."""
    images = Images()
    if form is Form.VM:
        built = build_disks(names or list(images.recipes.names()), iso, virtio)
        typer.echo(encode({"disks": built}) if as_json else "\n".join(f"{n}: {p}" for n, p in built.items()))
        return
    wanted = _chosen(names, images)
    with Engine.connect() as engine:
        if all(images.find(name, engine) for name in wanted):
            manifests = images.build(wanted, engine)
        else:
            with _Bars(console(stderr=True)) as bars:
                manifests = images.build(wanted, engine, bars.report)
    if as_json:
        typer.echo(encode({"images": list(manifests.values())}))
        return
    for name, manifest in manifests.items():
        console().print(f"{name}: {images.reference(name)}, {manifest.size // MIB} MiB")


@app.command()
def show(name: Annotated[str, typer.Argument(metavar="IMAGE")], as_json: JSON = False) -> None:
    """Show what is in an image: its programs, its packages and their versions."""
    images = Images()
    images.recipes.get(name)
    with Engine.connect() as engine:
        manifest = images.manifest(name, engine)
    if manifest is None:
        raise BadRequest(f"image {name!r} is not built (mend: practicum image build {name})")
    if as_json:
        typer.echo(encode(manifest))
        return
    screen = console()
    screen.print(f"[bold]{name}[/]  {images.reference(name)}  {manifest.size // MIB} MiB")
    screen.print(f"recipe {manifest.digest}\nimage  {manifest.id}")
    table = Table("program", "title", "version", "starts as", box=None)
    for offer in images.recipes.offers(name):
        table.add_row(offer.name, offer.title, manifest.programs[offer.name], " ".join(offer.argv))
    screen.print(table)
    screen.print(f"{len(manifest.packages)} packages (see --json)")


@app.command()
def check(
    *,
    names: Names = None,
    pictures: Annotated[Path, typer.Option(help="Where a screenshot of each program goes.")] = Path(
        "runs/image-check"
    ),
    bound: Annotated[float, typer.Option(min=1, help="Seconds a window may take to appear.")] = BOUND,
    as_json: JSON = False,
) -> None:
    """Open each offered program in a desk; fails where its window does not appear, alone."""
    images = Images()
    wanted = _chosen(names, images)
    results = _check_all(wanted, images, pictures, bound)
    if as_json:
        typer.echo(encode({"checks": results}))
    else:
        console().print(_check_table(results))
    if not all(result.ok for result in results):
        raise typer.Exit(1)


@app.command()
def prune(as_json: JSON = False) -> None:
    """Remove images of ours that no present recipe gives; those a desk still uses stay."""
    with Engine.connect() as engine:
        removed = Images().prune(engine)
    if as_json:
        typer.echo(encode({"removed": removed}))
        return
    for tag, gone in removed.items():
        console().print(f"{tag}: {'removed' if gone else 'in use, kept'}")
    if not removed:
        console().print("nothing is stale")


class _Bars:
    """One bar for each layer that is being built."""

    def __init__(self, screen: Console) -> None:
        self._bars: dict[str, TaskID] = {}
        self._progress = Progress(
            TextColumn("{task.description:<12}"),
            BarColumn(24),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            TextColumn("[dim]{task.fields[line]}"),
            console=screen,
        )

    def __enter__(self) -> _Bars:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def report(self, news: builder.Progress) -> None:
        if news.name not in self._bars:
            self._bars[news.name] = self._progress.add_task(news.name, total=1.0, line="")
        line = plain(news.line, _LINE_WIDTH).replace("[", r"\[")
        self._progress.update(self._bars[news.name], completed=news.done, line=line)


def _chosen(names: Sequence[str] | None, images: Images) -> tuple[str, ...]:
    chosen = tuple(dict.fromkeys(names or images.recipes.names()))
    for name in chosen:
        images.reference(name)
    return chosen


@contextmanager
def _engine_if_any() -> Iterator[Engine | None]:
    try:
        engine = Engine.connect()
    except EngineMissing:
        yield None
        return
    with engine:
        yield engine


@dataclass(frozen=True, slots=True)
class _Row:
    """An image in the list; `built` and `size` (bytes) are None where no engine answers."""

    image: str
    summary: str
    programs: tuple[str, ...]
    reference: str
    built: bool | None
    size: int | None

    @property
    def standing(self) -> str:
        if self.size is not None:
            return f"{self.size // MIB} MiB"
        return "no engine" if self.built is None else "no"


def _row(name: str, images: Images, engine: Engine | None) -> _Row:
    found = images.find(name, engine) if engine else None
    return _Row(
        image=name,
        summary=images.recipes.get(name).summary,
        programs=tuple(offer.name for offer in images.recipes.get(name).offers),
        reference=images.reference(name),
        built=found is not None if engine else None,
        size=found.size if found else None,
    )


def _check_all(names: Sequence[str], images: Images, pictures: Path, bound: float) -> list[Checked]:
    programs = sum(len(images.recipes.get(name).offers) for name in names)
    columns = (TextColumn("{task.description}"), BarColumn(24), MofNCompleteColumn(), TimeElapsedColumn())
    results: list[Checked] = []
    with Progress(*columns, console=console(stderr=True)) as progress:
        bar = progress.add_task("opening programs", total=programs)
        for name in names:
            for result in check_image(name, images, ContainerDesks(), pictures, bound):
                results.append(result)
                progress.update(bar, advance=1, description=f"{name}: {result.title}")
    return results


def _check_table(results: Sequence[Checked]) -> Table:
    table = Table("image", "program", "", Column("seconds", justify="right"), "elements", "reason", box=None)
    for result in results:
        mark = "[green]ok[/]" if result.ok else "[red]failed[/]"
        seconds, reason = f"{result.seconds:.1f}", plain(result.reason)
        table.add_row(result.image, result.title, mark, seconds, str(result.elements), reason)
    return table
