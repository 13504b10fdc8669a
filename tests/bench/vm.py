"""How long a virtual machine takes to boot and save, to open, capture, act, move files, and reset."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

from rich.console import Console
from rich.table import Table

from practicum.infra.desk.actions import Click, Point, TypeText
from practicum.infra.desk.desk import DeskSpec, Label, Settle
from practicum.infra.desk.vm import VmDesks
from practicum.infra.desk.vm.folders import Folders
from practicum.infra.desk.vm.ready import ReadyMachines

SPEC = DeskSpec("base", width=1024, height=640)


def label() -> Label:
    return Label("bench", f"t{time.monotonic_ns()}", time.time() + 1800)


class Times:
    """Seconds by what they were spent on."""

    def __init__(self) -> None:
        self.taken: dict[str, list[float]] = {}

    @contextlib.contextmanager
    def of(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.taken.setdefault(name, []).append(time.perf_counter() - started)

    def repeat(self, name: str, action: Callable[[], object], times: int) -> None:
        for _ in range(times):
            with self.of(name):
                action()

    def summary(self) -> dict[str, dict[str, float | str]]:
        return {
            name: {"median": statistics.median(all_), "min": min(all_), "max": max(all_), "unit": "s"}
            for name, all_ in self.taken.items()
        }


def measure(times: Times, folder: Path, rounds: int) -> None:
    fresh = VmDesks(folders=Folders(folder / "vm"), ready=ReadyMachines(folder / "ready"), keep=1)
    big = folder / "big"
    big.write_bytes(os.urandom(100 << 20))
    with times.of("boot, save, resume (once per hardware)"):
        machine = replace(fresh, keep=0).start(SPEC, label())
    machine.close()
    for _ in range(rounds):
        with times.of("open: resume from the saved machine"):
            machine = replace(fresh, keep=0).start(SPEC, label())
        machine.close()
    machine = fresh.start(SPEC, label())
    desk = machine.desk
    times.repeat("capture", lambda: desk.observe(Settle(0, 0)), 20)
    times.repeat("click → settled frame", lambda: (desk.act(Click(Point(500, 300))), desk.observe()), rounds)
    times.repeat("type 20 letters", lambda: desk.act(TypeText("abcdefghij" * 2)), rounds)
    times.repeat("run true", lambda: desk.run(["true"]), rounds)
    times.repeat("put 100 MiB", lambda: desk.put(big, PurePosixPath("/home/agent/big")), 1)
    times.repeat(
        "get 100 MiB",
        lambda: desk.get(PurePosixPath("/home/agent/big"), folder / "back", max_bytes=1 << 30),
        1,
    )
    for _ in range(rounds):
        with times.of("close: reset and wait (loadvm)"):
            machine.close()
        with times.of("open: a machine that waited"):
            machine = fresh.start(SPEC, label())
    machine.close()
    fresh.reap(time.time() + 1e6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    times = Times()
    with tempfile.TemporaryDirectory(prefix="vm-bench-") as folder:
        measure(times, Path(folder), given.rounds)
    if given.json:
        print(json.dumps(times.summary()))
        return
    table = Table("what", "median", "min", "max", title="Virtual machine, seconds")
    for name, row in times.summary().items():
        table.add_row(name, *(f"{row[key]:.3f}" for key in ("median", "min", "max")))
    Console().print(table)


if __name__ == "__main__":
    main()
