"""Speed of worlds: tool calls on one core, and the whole ladder over the public set on two, with records."""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from practicum.controller.ladder import RECORDS, Climb, climb
from practicum.infra.environment import ToolCall
from practicum.infra.world.engine import WorldEnvironment
from practicum.tasks.worlds import library, sets
from practicum.tasks.worlds.scenario import Scenario

WORKERS = 2
ROUNDS = 5
WORLDS = 60


def calls_per_second() -> float:
    """The oracle's own calls of every scenario, journaled and hashed; seconds are CPU time of one core."""
    prepared = [batch for scenario in library.scenarios().values() for batch in _batches(scenario)]
    begun = time.process_time()
    for world, calls in prepared:
        for call in calls:
            world.call(call)
    return sum(len(calls) for _, calls in prepared) / (time.process_time() - begun)


def _batches(scenario: Scenario) -> list[tuple[WorldEnvironment, list[ToolCall]]]:
    """Fresh worlds, each with the calls that the oracle makes in it."""
    setup = scenario.setup(0)
    rehearsal = scenario.open(setup)
    scenario.work(rehearsal.call, setup.facts)
    calls = [ToolCall(entry.call_id, entry.tool, entry.arguments) for entry in rehearsal.entries]
    return [(scenario.open(setup), calls) for _ in range(WORLDS)]


def ladder_seconds(seeds: int) -> float:
    """Scenarios × seeds × four levels × seven policies."""
    what = Climb(library.names(), tuple(range(seeds)))
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        climb(what, workers=WORKERS, records=Path(folder))
        seconds = time.perf_counter() - begun
        written = len((Path(folder) / RECORDS).read_bytes().splitlines())
    if written != what.size:
        raise SystemExit(f"{written} records of {what.size} trials")
    return seconds


def measure(work: Callable[[], float], rounds: int, unit: str) -> dict[str, float | str]:
    values = [work() for _ in range(rounds)]
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "unit": unit}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seeds", type=int, default=sets.SEEDS_EACH)
    parser.add_argument("--rounds", type=int, default=1, help="of the ladder")
    chosen = parser.parse_args()
    instances = len(library.names()) * chosen.seeds
    results = {
        "world tool calls, one core": measure(calls_per_second, ROUNDS, "calls/s"),
        f"{instances} instances x 4 levels x 7 policies, {WORKERS} workers": measure(
            lambda: ladder_seconds(chosen.seeds), chosen.rounds, "s"
        ),
    }
    if chosen.json:
        print(json.dumps(results))
        return
    table = Table("what", "median", "min", "max", "unit")
    for name, row in results.items():
        table.add_row(name, *(f"{row[key]:,.1f}" for key in ("median", "min", "max")), str(row["unit"]))
    Console().print(table)


if __name__ == "__main__":
    main()
