"""Shadow mode: a subject answers the agent, the executable world says what would have been true.

The shadow follows the subject's decisions, so that one difference is counted once and not at each later call:
a write that the subject refuses is undone in the shadow. What the subject wrongly allows cannot be followed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from practicum.infra.environment import Environment, Tool, ToolCall, ToolErrorKind, ToolResult
from practicum.infra.errors import WorldFault
from practicum.infra.faults.operations import Access
from practicum.infra.world.differences import Difference, Kind, Past, compare
from practicum.infra.world.engine import WorldEnvironment

_MALFORMED = frozenset({ToolErrorKind.UNKNOWN_TOOL, ToolErrorKind.BAD_ARGUMENTS})


@dataclass(frozen=True, slots=True)
class Observed:
    """One call and how its answer differs from the truth."""

    tool: str
    differences: tuple[Difference, ...]


class Shadowed:
    """An environment that is watched while an agent works in it. `truth` starts where the subject does."""

    def __init__(self, subject: Environment, truth: WorldEnvironment) -> None:
        self.truth = truth
        self.observed: list[Observed] = []
        self._subject = subject
        self._past = Past()

    def tools(self) -> tuple[Tool, ...]:
        return self._subject.tools()

    def call(self, call: ToolCall) -> ToolResult:
        """The subject's answer. Raises `WorldFault` after noting a subject that gave none."""
        before = self.truth.fork()
        truth = self.truth.call(call)
        try:
            said = self._subject.call(call)
        except WorldFault as fault:
            broken = Difference(Kind.SCHEMA_BREAK, f"no valid answer: {fault}")
            self.observed.append(Observed(call.name, (broken,)))
            raise
        tool = self.truth.rules.tools.get(call.name)
        if truth.error not in _MALFORMED:
            self.observed.append(Observed(call.name, tuple(compare(tool, truth, said, self._past))))
        writing = self.truth.access(call.name) is Access.WRITE
        if writing and truth.error is None and said.error is not None:
            self.truth = before
        else:
            self._past.remember(self.truth.entries[-1].changes)
        return said

    def collect(self, into: Path) -> tuple[str, ...]:
        return self._subject.collect(into)
