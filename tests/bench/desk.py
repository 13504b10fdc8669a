"""What a desk costs: opening and closing a fresh and a warm one, memory, and whole trials an hour.

    python tests/bench/desk.py [--repeats N] [--trials N] [--json]

Trials are those of a new task as `practicum tasks new` makes it, sat by `nop` on desks of the base image:
plan, desk, collection, verifier in its jail and record included; at 1, 2 and 4 workers.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from practicum.infra.desk.container import ContainerDesks
from practicum.infra.desk.desk import DeskProvider, DeskSpec, Label
from practicum.infra.desk.pool import Pool
from practicum.tasks.scaffold import scaffold

SPEC = DeskSpec("base")
WORKERS = (1, 2, 4)


@dataclass(frozen=True, slots=True)
class Measured:
    median: float
    min: float
    max: float
    unit: str

    @classmethod
    def of(cls, values: Iterable[float], unit: str) -> Measured:
        values = list(values)
        return cls(statistics.median(values), min(values), max(values), unit)


def label() -> Label:
    return Label("bench", f"desk-{time.monotonic_ns()}", time.time() + 1800)


def open_and_close(
    desks: DeskProvider, repeats: int, before: Callable[[], object] = lambda: None
) -> tuple[list[float], list[float]]:
    """Seconds to a desk that shows its settled desktop, and seconds to its end."""
    opened, closed = [], []
    for _ in range(repeats):
        before()
        start = time.perf_counter()
        with desks.open(SPEC, label()):
            opened.append(time.perf_counter() - start)
            start = time.perf_counter()
        closed.append(time.perf_counter() - start)
    return opened, closed


def lifetimes(repeats: int) -> dict[str, Measured]:
    desks = ContainerDesks()
    opened, closed = open_and_close(desks, repeats)
    found = {
        "open a fresh desk": Measured.of(opened, "s"),
        "close a desk": Measured.of(closed, "s"),
    }
    with Pool(desks, size=1) as pool:
        opened, _ = open_and_close(pool, repeats, before=lambda: pool.warm(SPEC, bound=60.0))
    return found | {"open a warm desk": Measured.of(opened, "s")}


def memory(count: int) -> Measured:
    """MiB that the engine counts for an idle desk, without what the page cache could give back."""
    desks = ContainerDesks()
    with ExitStack() as stack:
        for _ in range(count):
            stack.enter_context(desks.open(SPEC, label()))
        ours = desks.client.containers(filters={"label": "practicum.run=bench"})
        stats = [desks.client.stats(item["Id"], stream=False)["memory_stats"] for item in ours]
    inactive = ("total_inactive_file", "inactive_file")
    used = [it["usage"] - next(it["stats"][key] for key in inactive if key in it["stats"]) for it in stats]
    return Measured.of([value / 2**20 for value in used], "MiB")


def trials_per_hour(task: Path, workers: int, trials: int) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        command = [str(Path(sys.executable).with_name("practicum")), "run", str(task), "--agent", "nop"]
        command += ["--seeds", f"0-{trials - 1}", "--workers", str(workers), "--out", f"{folder}/run"]
        started = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - started
    if f"{trials} planned = {trials} scored" not in done.stdout:
        raise SystemExit(f"not every trial was scored:\n{done.stdout}\n{done.stderr}")
    return Measured.of([3600 * trials / seconds], "trials/h")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--trials", type=int, default=24, help="trials at each number of workers")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("measuring", total=2 + len(WORKERS))
        found = lifetimes(options.repeats)
        progress.advance(bar)
        found["memory of a desk"] = memory(3)
        progress.advance(bar)
        with tempfile.TemporaryDirectory() as folder:
            task = scaffold("computing/nothing", Path(folder))
            for workers in WORKERS:
                found[f"trials, {workers} workers"] = trials_per_hour(task, workers, options.trials)
                progress.advance(bar)
    if options.json:
        json.dump({name: asdict(value) for name, value in found.items()}, sys.stdout, indent=1)
    else:
        table = Table("what", "median", "min", "max", "unit", title="Desks")
        for name, value in found.items():
            table.add_row(name, *(f"{part:.3g}" for part in (value.median, value.min, value.max)), value.unit)
        Console().print(table)


if __name__ == "__main__":
    main()
