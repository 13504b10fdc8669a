"""The rules of one workplace: its tables, its tools, what always holds, and what is to be handed in."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Concatenate

from practicum.infra.environment import Tool
from practicum.infra.faults.operations import Access
from practicum.infra.world.tables import Row, Tables
from practicum.infra.world.tool import Signature, WorldTool, inlined
from practicum.infra.world.world import Clock, Rule, View, World

Read = Callable[Concatenate[View, ...], Any]
Write = Callable[Concatenate[World, ...], Any]

SUBMIT = "submit"
ACTIVITY = "activity_log"


@dataclass(frozen=True, slots=True)
class Activity:
    """One write that this workplace accepted, with what it answered."""

    id: str
    tool: str
    arguments: dict[str, Any]
    answer: dict[str, Any]


def activity_log(_: View) -> list[Activity]:
    """List every write that took effect so far, oldest first: where to look when an answer was lost."""
    raise TypeError("answered from the journal")


@dataclass(frozen=True)
class Rules:
    """A scenario as the engine knows it. `answer` is a frozen dataclass: the arguments of `submit`."""

    name: str
    tables: tuple[type[Row], ...]
    reads: tuple[Read, ...]
    writes: tuple[Write, ...]
    answer: type[Any]
    invariants: tuple[Rule, ...] = ()

    @cached_property
    def tools(self) -> Mapping[str, WorldTool]:
        made = [WorldTool(function, Access.READ) for function in (*self.reads, activity_log)]
        made += [WorldTool(function, Access.WRITE) for function in self.writes]
        return {tool.name: tool for tool in made}

    @cached_property
    def submission(self) -> Signature:
        parameters = inspect.signature(self.answer).parameters
        return Signature(self.answer, [parameters[field.name] for field in fields(self.answer)])

    @cached_property
    def menu(self) -> tuple[Tool, ...]:
        """What an agent is told of, `submit` last."""
        summary = f"{self.submission.summary} Hands in your work and ends it: no write is taken afterwards."
        return (*(tool.spec for tool in self.tools.values()), Tool(SUBMIT, summary, self.submission.schema))

    @cached_property
    def kinds(self) -> tuple[type[Row], ...]:
        return (Clock, *self.tables)

    def load(self, plain: Mapping[str, Any]) -> Tables:
        """Tables from JSON values, as `Tables.plain` gives them."""
        return Tables.load(self.kinds, plain)

    def state_schema(self) -> dict[str, Any]:
        """JSON schema of a row of each table, with units."""
        return {kind.__name__: inlined(kind) for kind in self.kinds}

    def broken(self, view: View) -> str | None:
        """The first invariant that does not hold, in words."""
        return next((why for rule in self.invariants if (why := rule(view)) is not None), None)
