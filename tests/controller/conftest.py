"""Runs of toys: the whole controller with fake desks, in this process or in workers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from practicum.controller import launch
from practicum.controller.conduct import make_sweep
from practicum.controller.engine import Engine, Inline
from practicum.controller.events import Event
from practicum.controller.index import summaries
from practicum.controller.policy import Policy
from practicum.controller.runfile import Prices, RunFile
from practicum.controller.store import Run
from practicum.controller.summary import Summary
from practicum.controller.sweep import Sweep

TOYS = "practicum.controller.toys:ToyHouse"


class Lab:
    """Makes runs of toys under a temporary folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.events: list[Event] = []

    def spec(self, *tasks: str, agents: tuple[str, ...] = ("oracle",), **settings: object) -> RunFile:
        prices = Prices(input=1.0, output=4.0)
        return RunFile(tasks=tasks, agents=agents, desk="fake", house=TOYS, **{"prices": prices, **settings})

    def begin(self, spec: RunFile, name: str = "run") -> Run:
        return launch.begin(launch.propose(spec), self.root / name)

    def sweep(
        self, run: Run, spec: RunFile, *, engine: Engine | None = None, policy: Policy | None = None
    ) -> Sweep:
        return make_sweep(run, spec, engine or Inline(), policy or Policy(), self.events.append)

    def go(self, *tasks: str, agents: tuple[str, ...] = ("oracle",), **settings: object) -> Run:
        spec = self.spec(*tasks, agents=agents, **settings)
        run = self.begin(spec, f"run-{len(list(self.root.iterdir()))}")
        self.sweep(run, spec).go()
        return run

    def only(self, run: Run) -> Summary:
        (summary,) = summaries(run)
        return summary


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


@pytest.fixture(scope="session")
def labs() -> type[Lab]:
    """For fixtures of a wider scope, which bring their own folder."""
    return Lab


@pytest.fixture
def bills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[int]]:
    """The book of the toy provider: what it billed, call by call."""
    path = tmp_path / "bills.txt"
    monkeypatch.setenv("PRACTICUM_TOY_BILLS", str(path))
    return lambda: [int(line) for line in path.read_text().split()] if path.exists() else []
