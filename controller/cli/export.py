"""`practicum export`: trajectories for other people's tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from practicum.controller.atif import trajectory
from practicum.controller.errors import NothingScored
from practicum.controller.files import write_json
from practicum.controller.store import Run

NAME = "trajectory.json"


def export(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of the run.")],
    *,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the files; without it each lies in its attempt.")
    ] = None,
) -> None:
    """Write the trajectory of each finished trial as ATIF."""
    run = Run.open(folder)
    written = 0
    for trial in run.plan().trials:
        attempt = run.trial(trial.id).counting_attempt()
        if attempt is None:
            continue
        target = attempt.root / NAME if out is None else out / trial.id / NAME
        target.parent.mkdir(parents=True, exist_ok=True)
        if out is not None and attempt.frames.is_dir() and not (target.parent / "frames").exists():
            (target.parent / "frames").symlink_to(attempt.frames.resolve(), target_is_directory=True)
        write_json(target, trajectory(attempt))
        written += 1
    if not written:
        raise NothingScored(f"{folder}: no trial is finished")
    typer.echo(f"{written} trajectories")
