"""The ladder of scripted policies: one worker, and what it does without one of its habits.

They run every world with no model at all, so that scoring, faults and statistics can be tested offline.
`random-valid` and `nop` know nothing of the scenario; the others are briefed with its plan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from practicum.agents.agent import Agent, Exam, Sitter
from practicum.agents.identity import digest
from practicum.agents.scripted import Nop, sample
from practicum.infra.environment import JSON, Tool, ToolCall, ToolResult
from practicum.infra.world.rules import SUBMIT
from practicum.tasks.spec import Instance, Task
from practicum.tasks.worlds.catalog import WorldTask
from practicum.tasks.worlds.worker import CAREFUL, Habits

HABITS: Mapping[str, Habits] = {
    "careful": CAREFUL,
    "no-verify": Habits(verify=False),
    "no-retry": Habits(retry=False),
    "trusts-truncated": Habits(complete=False),
    "greedy": Habits(foresight=False),
}
"""`careful` is the oracle of worlds."""


class NotAWorld(ValueError):
    """A policy was asked to sit at something that is not a world."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Privileged: follows the scenario's own plan with the habits of its name."""

    name: str
    habits: Habits
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", digest(self.name, {"habits": self.habits}))

    def brief(self, task: Task, instance: Instance) -> Agent:
        """Raises `NotAWorld`."""
        if not isinstance(task, WorldTask):
            raise NotAWorld(f"{self.name} works in worlds only, {task.spec.id} is none")
        return _Briefed(self.name, self.digest, self.habits, task, instance.params["facts"])


@dataclass(frozen=True, slots=True)
class _Briefed:
    name: str
    digest: str
    habits: Habits
    task: WorldTask
    facts: Mapping[str, Any]

    def sit(self, exam: Exam) -> None:
        stuck = self.task.scenario.work(exam.call, self.facts, self.habits)
        if stuck is not None:
            exam.note(self.name, f"stopped: {stuck}")


@dataclass(frozen=True, slots=True)
class RandomValid:
    """`calls` calls that fit the schemas, with ids that earlier answers mentioned; then a random hand-in."""

    calls: int = 24
    name: str = "random-valid"
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", digest(self.name, {"calls": self.calls}))

    def sit(self, exam: Exam) -> None:
        wander(exam.tools, exam.call, exam.seed, self.calls)


def wander(tools: Sequence[Tool], call: Callable[[ToolCall], ToolResult], seed: int, calls: int) -> None:
    """What `random-valid` does, over any `call`."""
    rng = Random(f"random-valid/{seed}")
    seen: list[str] = []
    work = [tool for tool in tools if tool.name != SUBMIT]
    for number in range(calls):
        tool = rng.choice(work)
        result = call(ToolCall(f"r-{number}", tool.name, _arguments(tool, seen, rng)))
        seen += _ids(result.data or {})
    for tool in tools:
        if tool.name == SUBMIT:
            call(ToolCall("r-submit", SUBMIT, _arguments(tool, seen, rng)))


def _arguments(tool: Tool, seen: list[str], rng: Random) -> JSON:
    arguments: dict[str, Any] = sample(tool.parameters, rng)
    for name, schema in tool.parameters.get("properties", {}).items():
        if seen and name in arguments and schema.get("type") == "string" and "enum" not in schema:
            arguments[name] = rng.choice(seen)
    return arguments


def _ids(data: JSON) -> list[str]:
    rows = data.get("items") or [data.get("record")]
    return [row["id"] for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)]


def _policy(name: str) -> Callable[[], Sitter]:
    return lambda: Policy(name, HABITS[name])


POLICIES: Mapping[str, Callable[[], Sitter]] = {
    **{name: _policy(name) for name in HABITS},
    "random-valid": RandomValid,
}
"""By name, for the registry."""

LADDER = ("oracle", "no-verify", "no-retry", "trusts-truncated", "greedy", "random-valid", "nop")


def ladder() -> Mapping[str, Sitter]:
    """The seven rungs, best first."""
    makers = {"oracle": _policy("careful"), **POLICIES, "nop": Nop}
    return {name: makers[name]() for name in LADDER}
