"""A scenario: the rules of a workplace, a generator of situations in it, and what doing well means there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial
from random import Random
from typing import Any

from practicum.infra.environment import ToolCall, ToolResult
from practicum.infra.faults.operations import Access, Operation, identity
from practicum.infra.world.engine import WorldEnvironment
from practicum.infra.world.journal import Entry
from practicum.infra.world.rules import SUBMIT, Rules
from practicum.infra.world.tables import Row
from practicum.infra.world.world import Rule
from practicum.tasks.seeds import stream
from practicum.tasks.worlds.evidence import Evidence
from practicum.tasks.worlds.expected import Expected
from practicum.tasks.worlds.worker import CAREFUL, Habits, NotAllowed, Stuck, Worker


class Industry(StrEnum):
    AGRICULTURE = "Agriculture & Environment"
    BUSINESS = "Business & Enterprise"
    COMMERCE = "Commerce & Consumer"
    EDUCATION = "Education & Culture"
    HEALTHCARE = "Healthcare & Life Sciences"
    INDUSTRY = "Industrial & Engineering"
    PUBLIC = "Public Service & Governance"
    SCIENCE = "Science & Research"
    TECHNOLOGY = "Technology & IT"
    TRANSPORT = "Transportation & Logistics"


_NONSENSE = (ArithmeticError, LookupError, ValueError, StopIteration)
"""What a plan runs into that takes a degraded answer for the whole truth."""

Plan = Callable[[Worker], None]


@dataclass(frozen=True, slots=True)
class Setup:
    """One situation. `facts` fill the brief and are all that a plan is told; `rows` are the state."""

    now: datetime
    rows: tuple[Row, ...]
    facts: Mapping[str, Any]
    expected: Expected


@dataclass(frozen=True, slots=True)
class NearMiss:
    """Work that is nearly right. `fails` names the check that must fail because of it."""

    name: str
    fails: str
    plan: Plan


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """Everything about one workplace.

    `brief` is the instruction, a format string over the facts. `always` are demands that hold at every
    moment, not enforced by the tools, and `at_end` demands on the last one; `rules.invariants` are those that
    the tools enforce. `trap` says in a sentence what separates a careful worker from a hasty one.
    """

    rules: Rules
    title: str
    industry: Industry
    subdomain: str
    soc: str
    difficulty: int
    trap: str
    brief: str
    generate: Callable[[Random], Setup]
    plan: Plan
    near_misses: tuple[NearMiss, ...]
    always: tuple[Rule, ...] = ()
    at_end: tuple[Rule, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    sources: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return f"worlds/{self.rules.name}"

    def setup(self, seed: int) -> Setup:
        """The situation of one seed."""
        return self.generate(stream(self.id, seed))

    def instruction(self, setup: Setup) -> str:
        return " ".join(self.brief.split()).format_map(dict(setup.facts))

    def open(self, setup: Setup) -> WorldEnvironment:
        return WorldEnvironment.at(
            self.rules, setup.now, setup.rows, operations=partial(self.operations, setup)
        )

    def work(
        self,
        call: Callable[[ToolCall], ToolResult],
        facts: Mapping[str, Any],
        habits: Habits = CAREFUL,
        plan: Plan | None = None,
        *,
        truthful: bool = True,
    ) -> str | None:
        """Follow the plan with these habits. Why the worker stopped early, if it did.

        In a `truthful` world a careful plan that crashes is our mistake, and passes its exception on.
        """
        worker = Worker(call, self.rules, facts, habits)
        try:
            (plan or self.plan)(worker)
        except (Stuck, NotAllowed) as stop:
            return str(stop)
        except _NONSENSE as error:
            if habits.complete and truthful:
                raise
            return f"lost over what it read: {error!r}"
        return None

    def operations(self, setup: Setup) -> tuple[Operation, ...]:
        """What the oracle does here when all is well: the calls that are worth striking."""
        world = WorldEnvironment.at(self.rules, setup.now, setup.rows)
        self.work(world.call, setup.facts)
        return _operations(world.entries, world.access)


def _operations(entries: list[Entry], access: Callable[[str], Access]) -> tuple[Operation, ...]:
    answers: dict[tuple[str, str], list[Any]] = {}
    for entry in entries:
        if entry.tool != SUBMIT and entry.error is None:
            key = (entry.tool, identity(ToolCall("", entry.tool, entry.arguments)))
            answers.setdefault(key, []).append(_content(entry.answer))
    indices: dict[str, int] = {}
    found = []
    for (tool, _), given in answers.items():
        indices[tool] = indices.get(tool, 0) + 1
        changing = access(tool) is Access.READ and len(given) > 1 and given[-1] != given[-2]
        found.append(Operation(tool, access(tool), indices[tool], len(given), changing))
    return tuple(found)


def _content(answer: Mapping[str, Any]) -> Any:
    return answer.get("items", answer.get("record"))
