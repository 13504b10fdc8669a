"""One situation worked and graded in this process, without a controller: for checks and ladders."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from practicum.infra.environment import ToolCall, ToolResult
from practicum.infra.faults.account import FaultAccount, account
from practicum.infra.faults.inject import FaultyEnvironment, inject
from practicum.infra.world.journal import Entry
from practicum.tasks.worlds import grade
from practicum.tasks.worlds.catalog import write_reference
from practicum.tasks.worlds.scenario import Scenario, Setup
from practicum.verifiers.verdict import Verdict

Work = Callable[[Callable[[ToolCall], ToolResult]], str | None]


@dataclass(frozen=True, slots=True)
class Worked:
    """What became of it. `stopped` says why the worker went no further, if it did."""

    verdict: Verdict
    entries: tuple[Entry, ...]
    faults: FaultAccount
    stopped: str | None = None


def work(scenario: Scenario, setup: Setup, seed: int, work: Work, faults: str = "E0") -> Worked:
    """Let `work` call the tools, then collect and grade through files, as a trial does."""
    world = scenario.open(setup)
    environment = inject(world, faults, f"{scenario.id}/{seed}")
    stopped = work(environment.call)
    with tempfile.TemporaryDirectory(prefix="practicum-world-") as place:
        outputs, reference = Path(place, "outputs"), Path(place, "reference")
        outputs.mkdir()
        reference.mkdir()
        environment.collect(outputs)
        write_reference(scenario, setup, reference)
        verdict = grade.verify(outputs, reference, {"scenario": scenario.rules.name})
    met = FaultAccount()
    if isinstance(environment, FaultyEnvironment):
        met = account(environment.log(), passed=verdict.passed)
    return Worked(verdict, tuple(world.entries), met, stopped)


def plan_work(scenario: Scenario, setup: Setup) -> Work:
    """The oracle's."""
    return lambda call: scenario.work(call, setup.facts)


def nothing(_: Callable[[ToolCall], ToolResult]) -> None:
    """The work of nobody."""
