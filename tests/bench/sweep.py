"""A long sweep on fake desks: trials a minute, memory of the controller, seconds to read the report."""

from __future__ import annotations

import argparse
import itertools
import json
import tempfile
import time
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

from practicum.controller import launch, report
from practicum.controller.conduct import make_sweep
from practicum.controller.engine import Local
from practicum.controller.events import Event, TrialEnded
from practicum.controller.files import appending
from practicum.controller.index import summaries
from practicum.controller.policy import Policy
from practicum.controller.runfile import RunFile

MIB = 1 << 20
TASKS, AGENTS = 60, ("oracle", "nop", "skill:0.3", "skill:0.6", "give-up")


def specification(trials: int, workers: int) -> RunFile:
    seeds = max(1, trials // (TASKS * len(AGENTS)))
    return RunFile(
        tasks=("toys/near-term/*", "toys/full-spectrum/*", "toys/last-exam/*"),
        agents=AGENTS,
        seeds=f"0-{seeds - 1}" if seeds > 1 else "0",
        desk="fake",
        workers=workers,
        house="practicum.controller.toys:ToyHouse",
    )


class Witness:
    """Listens to the sweep: when each trial ended, and how large the controller was."""

    def __init__(self, quiet: bool) -> None:
        self.process = psutil.Process()
        self.memory: list[int] = []
        self.ended: list[float] = []
        self.quiet = quiet

    def hear(self, event: Event) -> None:
        if isinstance(event, TrialEnded):
            self.ended.append(time.perf_counter())
            self.memory.append(self.process.memory_info().rss)
            if not self.quiet and len(self.ended) % 500 == 0:
                print(f"{len(self.ended)} trials, {self.memory[-1] // MIB} MiB")

    def per_minute(self) -> list[float]:
        """Rates over tenths of the sweep."""
        step = max(1, len(self.ended) // 10)
        marks = self.ended[::step]
        return [60 * step / (after - before) for before, after in itertools.pairwise(marks)]


def row(values: list[float], unit: str) -> dict[str, float | str]:
    ordered = sorted(values)
    return {"median": ordered[len(ordered) // 2], "min": ordered[0], "max": ordered[-1], "unit": unit}


def measure(trials: int, workers: int, quiet: bool) -> dict[str, dict[str, float | str]]:
    with tempfile.TemporaryDirectory() as folder:
        spec = specification(trials, workers)
        proposal = launch.propose(spec)
        run = launch.begin(proposal, Path(folder) / "run")
        witness = Witness(quiet)
        with Local(workers) as engine, appending(run.events, sync=False) as lines:

            def tell(event: Event) -> None:
                lines.append(event)
                witness.hear(event)

            counts = make_sweep(run, spec, engine, Policy(), tell).go()
        if counts.scored != counts.planned:
            raise SystemExit(f"not everything was scored: {counts.sentence()}")
        run.index.unlink()
        cold = timed(lambda: report.read(run))
        warm = [timed(lambda: report.read(run)) for _ in range(3)]
        index = [timed(lambda: summaries(run)) for _ in range(3)]
    first, last = witness.memory[: len(witness.memory) // 10], witness.memory[-len(witness.memory) // 10 :]
    return {
        f"trials a minute, {workers} workers, {counts.planned} trials": row(witness.per_minute(), "1/min"),
        "controller memory, first tenth": row([value / MIB for value in first], "MiB"),
        "controller memory, last tenth": row([value / MIB for value in last], "MiB"),
        "report, index rebuilt": row([cold], "s"),
        "report, index there": row(warm, "s"),
        "summaries, index there": row(index, "s"),
    }


def timed(work) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=5000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    results = measure(arguments.trials, arguments.workers, arguments.json)
    if arguments.json:
        print(json.dumps(results))
        return
    table = Table(title="Sweep on fake desks")
    for column in ("what", "median", "min", "max", "unit"):
        table.add_column(column, justify="left" if column in ("what", "unit") else "right")
    for name, found in results.items():
        numbers = (f"{found[key]:.2f}" for key in ("median", "min", "max"))
        table.add_row(name, *numbers, str(found["unit"]))
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
