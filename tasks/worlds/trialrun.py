"""One situation worked and graded in this process, without a controller: for checks and ladders."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from practicum.infra.environment import Environment, ToolCall, ToolResult
from practicum.infra.faults.account import FaultAccount, account
from practicum.infra.faults.inject import FaultyEnvironment, inject
from practicum.infra.faults.operations import Operation
from practicum.infra.world.engine import WorldEnvironment
from practicum.infra.world.journal import Entry
from practicum.tasks.worlds import grade
from practicum.tasks.worlds.catalog import write_reference
from practicum.tasks.worlds.scenario import Plan, Scenario, Setup
from practicum.verifiers.verdict import Verdict

Work = Callable[[Callable[[ToolCall], ToolResult]], str | None]
"""Something that uses tools; returns why it went no further, if it did not finish."""


@dataclass(frozen=True, slots=True)
class Worked:
    """What became of it."""

    verdict: Verdict
    entries: tuple[Entry, ...]
    faults: FaultAccount
    stopped: str | None = None


@dataclass(frozen=True, slots=True)
class Situation:
    """One seed of a scenario, with a folder for what is left and the reference already written."""

    scenario: Scenario
    seed: int
    setup: Setup
    folder: Path
    operations: tuple[Operation, ...]

    def work(self, work: Work, faults: str = "E0") -> Worked:
        """Let `work` call the tools, then collect and grade through files, as a trial does."""
        world = WorldEnvironment.at(
            self.scenario.rules, self.setup.now, self.setup.rows, operations=lambda: self.operations
        )
        environment = inject(world, faults, f"{self.scenario.id}/{self.seed}")
        stopped = work(environment.call)
        verdict = self.grade(environment)
        met = FaultAccount()
        if isinstance(environment, FaultyEnvironment):
            met = account(environment.log(), passed=verdict.passed)
        return Worked(verdict, tuple(world.entries), met, stopped)

    def grade(self, environment: Environment) -> Verdict:
        """Collect what is left and verify it."""
        outputs = self.folder / "outputs"
        for path in outputs.iterdir():
            path.unlink()
        environment.collect(outputs)
        return grade.verify(outputs, self.folder / "reference", {"scenario": self.scenario.rules.name})

    def plan(self, faults: str = "E0", plan: Plan | None = None) -> Worked:
        """The oracle's work, or that of another plan."""
        return self.work(lambda call: self.scenario.work(call, self.setup.facts, plan=plan), faults)


@contextmanager
def situation(scenario: Scenario, seed: int) -> Iterator[Situation]:
    setup = scenario.setup(seed)
    with tempfile.TemporaryDirectory(prefix="practicum-world-") as name:
        folder = Path(name)
        (folder / "outputs").mkdir()
        (folder / "reference").mkdir()
        write_reference(scenario, setup, folder / "reference")
        yield Situation(scenario, seed, setup, folder, scenario.operations(setup))


def nothing(_: Callable[[ToolCall], ToolResult]) -> None:
    """The work of nobody."""
