"""`practicum check`: put tasks through the authoring gate."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column, Table
from rich.text import Text

from practicum.controller.check import Finding, Gate, Report, each, gather, on_paper
from practicum.controller.check_desk import Keep, at_desk
from practicum.controller.check_world import on_world
from practicum.controller.errors import BadRequest
from practicum.controller.house import STANDARD, open_house
from practicum.infra.desk.desk import Frame
from practicum.tasks.desk_task import DeskTask
from practicum.tasks.seeds import Practice, Sitting, parse_numbers, private_sitting
from practicum.tasks.spec import Kind, Task
from practicum.tasks.tier import tier_by_rule

_SHOWN_FAILURES = 40
_COLUMNS = ("task", "gates", "mutants", "benign", "attacks", "steps", "s", "")
_TIER_LINE = re.compile(r'^tier = ".*"$', re.MULTILINE)


def check(
    *,
    tasks: Annotated[list[str] | None, typer.Argument(help="Tasks: ids, tiers, clusters, globs.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every task there is.")] = False,
    seeds: Annotated[str, typer.Option(help="Which questions, such as 0-4,7.")] = "0-4",
    fast: Annotated[
        bool, typer.Option(help="No desk: generator, lint, verifier, mutants, variants.")
    ] = False,
    desk: Annotated[str, typer.Option(help="Kind of desk: container, vm, fake.")] = "container",
    workers: Annotated[int, typer.Option(min=1, help="How many seeds are checked side by side.")] = 2,
    sitting: Annotated[Path | None, typer.Option(help="File with the secret of a private sitting.")] = None,
    frames: Annotated[Path | None, typer.Option(help="Keep the oracle's screens in this folder.")] = None,
    write_tier: Annotated[bool, typer.Option(help="Store the tier that the rule gives.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Put tasks through the authoring gate."""
    house = open_house(STANDARD)
    patterns = ["all"] if everything else tasks or []
    if not patterns:
        raise BadRequest("name a task to check, or give --all")
    chosen = house.select(patterns)
    drawn: Sitting = private_sitting(sitting) if sitting else Practice()
    numbers = parse_numbers(seeds)

    def part(task: Task, position: int, number: int) -> Callable[[], Report]:
        seed = drawn.seed(task.spec.id, number)
        if task.spec.kind is Kind.WORLD:
            return partial(on_world, task, seed)
        if fast and isinstance(task, DeskTask):
            return partial(on_paper, task, (seed,))
        keep = _keeper(frames) if frames else None
        return lambda: at_desk(task, seed, position, house.desks(desk), keep)

    work = [part(task, *place) for task in chosen for place in enumerate(numbers)]
    reports = gather(chosen, _with_progress(work, workers, quiet=as_json))
    if write_tier:
        _store_tiers(chosen, reports)
    _print(reports, as_json)
    if not all(report.passed for report in reports):
        raise typer.Exit(1)


def _with_progress(work: Sequence[Callable[[], Report]], workers: int, *, quiet: bool) -> Sequence[Report]:
    columns = (
        TextColumn("checking"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=quiet) as progress:
        bar = progress.add_task("", total=len(work))
        return each(work, workers, lambda report: progress.update(bar, advance=1, description=report.task))


def _keeper(folder: Path) -> Keep:
    """Writes frames as `cluster-name-seed-number.png`."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = Lock()

    def keep(task: str, seed: int, number: int, frame: Frame) -> None:
        with lock:
            (folder / f"{task.replace('/', '-')}-{seed}-{number:03d}.png").write_bytes(frame.png)

    return keep


def _store_tiers(tasks: Sequence[Task], reports: Sequence[Report]) -> None:
    for task, report in zip(tasks, reports, strict=True):
        if isinstance(task, DeskTask) and report.actions:
            path = task.folder / "task.toml"
            rule = tier_by_rule(task.spec, max(report.actions))
            text = path.read_text(encoding="utf-8")
            path.write_text(_TIER_LINE.sub(f'tier = "{rule}"', text, count=1), encoding="utf-8")


def _print(reports: Sequence[Report], as_json: bool) -> None:
    if as_json:
        typer.echo(msgspec.json.encode({"passed": all(r.passed for r in reports), "tasks": reports}))
        return
    console = Console()
    console.print(_table(reports))
    failures = [finding for report in reports for finding in report.findings if not finding.passed]
    for finding in failures[:_SHOWN_FAILURES]:
        subject = f" {finding.subject}" if finding.subject else ""
        line = f"{finding.task} seed {finding.seed}: {finding.gate}{subject}: {finding.detail}"
        console.print(Text(line, style="red"))
    if len(failures) > _SHOWN_FAILURES:
        console.print(f"and {len(failures) - _SHOWN_FAILURES} more; see --json")


def _table(reports: Sequence[Report]) -> Table:
    apart = (Gate.MUTANTS, Gate.BENIGN, Gate.RED_TEAM)
    table = Table(*(Column(name, no_wrap=True) for name in _COLUMNS), box=None, padding=(0, 1, 0, 0))
    for report in reports:
        others = [finding for finding in report.findings if finding.gate not in apart]
        actions = f"{min(report.actions)}–{max(report.actions)}" if report.actions else ""
        verdict = Text("pass", style="green") if report.passed else Text("FAIL", style="bold red")
        cells = [_cell(others), *(_cell(report.of(gate)) for gate in apart)]
        table.add_row(report.task, *cells, actions, f"{report.seconds:.0f}", verdict)
    return table


def _cell(findings: Sequence[Finding]) -> Text:
    if not findings:
        return Text("")
    passed = sum(finding.passed for finding in findings)
    return Text(f"{passed}/{len(findings)}", style="green" if passed == len(findings) else "bold red")
