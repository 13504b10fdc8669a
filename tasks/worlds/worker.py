"""A worker behind tools, with habits that can be taken from it one by one.

Plans of scenarios are written against this: `ask` a read, `do` a write, `submit`. With all habits it is the
careful worker that every drawn fault leaves unharmed; without one of them it is a rung of the ladder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import msgspec

from practicum.infra.environment import ToolCall, ToolErrorKind, ToolResult
from practicum.infra.faults.operations import identity
from practicum.infra.world.rules import SUBMIT, Rules, activity_log
from practicum.infra.world.tool import WorldTool
from practicum.infra.world.world import View, World

P = ParamSpec("P")
T = TypeVar("T")

_TRIES = 12
_TRANSIENT = frozenset({ToolErrorKind.FAILED, ToolErrorKind.TIMEOUT, ToolErrorKind.UNAVAILABLE})
_BLANK: Mapping[str, Any] = {"string": "", "integer": 0, "number": 0.0, "boolean": False, "array": []}


@dataclass(frozen=True, slots=True)
class Habits:
    """What a careful worker does.

    `verify`: looks before deciding, again after a change, and after a lost answer before repeating a write.
    `retry`: repeats what failed. `complete`: notices what is missing or old in an answer and asks again.
    `foresight`: thinks the whole through before taking the first thing that fits.
    """

    verify: bool = True
    retry: bool = True
    complete: bool = True
    foresight: bool = True


CAREFUL = Habits()


class Stuck(Exception):
    """The worker knows no way on and stops where it is."""


class NotAllowed(Exception):
    """The workplace refused; a plan may catch it and think again."""


class Worker:
    """`facts` are those of the instruction, and all that a plan is told beyond what it asks."""

    def __init__(
        self,
        call: Callable[[ToolCall], ToolResult],
        rules: Rules,
        facts: Mapping[str, Any],
        habits: Habits = CAREFUL,
    ) -> None:
        self.facts = facts
        self.habits = habits
        self._call = call
        self._rules = rules
        self._calls = 0
        self._revision = 0
        self._done: Counter[tuple[str, str]] = Counter()

    def ask(self, tool: Callable[Concatenate[View, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The complete and current answer of a read, or whatever comes when the habit is off."""
        known = self._rules.tools[tool.__name__]
        arguments = _named(tool, args, kwargs)
        for _ in range(_TRIES):
            result = self._send(known.name, arguments)
            if result.error is not None:
                self._must_be_transient(result)
                continue
            rows = self._rows(known, cast("dict[str, Any]", result.data))
            if rows is not None:
                return cast("T", rows)
        raise Stuck(f"{known.name} never gave a whole answer")

    def do(self, tool: Callable[Concatenate[World, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Carry out a write exactly once; its answer."""
        known = self._rules.tools[tool.__name__]
        record = self._write(known.name, _named(tool, args, kwargs))
        return cast("T", msgspec.convert(record, known.returns))

    def submit(self, answer: object) -> None:
        """Hand in the work: an instance of the scenario's answer type."""
        self._write(SUBMIT, msgspec.to_builtins(answer))

    def _write(self, tool: str, arguments: dict[str, Any]) -> Any:
        for _ in range(_TRIES):
            result = self._send(tool, arguments)
            if result.error is None:
                self._done[tool, identity(ToolCall("", tool, arguments))] += 1
                data = cast("dict[str, Any]", result.data)
                self._revision = data["revision"]
                return data["record"]
            self._must_be_transient(result)
            if self.habits.verify and (record := self._took_effect(tool, arguments)) is not None:
                return record
        raise Stuck(f"{tool} never succeeded")

    def _took_effect(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        """Whether the workplace has this write once more than it was ever acknowledged."""
        key = (tool, identity(ToolCall("", tool, arguments)))
        log = self.ask(activity_log)
        same = [entry for entry in log if (entry.tool, entry.arguments) == (tool, arguments)]
        if len(same) <= self._done[key]:
            return None
        self._done[key] += 1
        return same[-1].answer

    def _send(self, tool: str, arguments: dict[str, Any]) -> ToolResult:
        self._calls += 1
        return self._call(ToolCall(f"w-{self._calls}", tool, arguments))

    def _must_be_transient(self, result: ToolResult) -> None:
        if result.error not in _TRANSIENT:
            raise NotAllowed(result.text)
        if not self.habits.retry:
            raise Stuck(result.text)

    def _rows(self, tool: WorldTool, data: dict[str, Any]) -> Any:
        """Typed rows; `None` when the answer is not whole and the worker notices."""
        content = data["items"] if tool.lists else data["record"]
        if self.habits.complete:
            if data["revision"] < self._revision or (tool.lists and len(content) != data["total"]):
                return None
            self._revision = data["revision"]
        else:
            schema = tool.record_schema["properties"]
            content = [_filled(row, schema) for row in content] if tool.lists else _filled(content, schema)
        try:
            return msgspec.convert(content, tool.returns)
        except msgspec.ValidationError as error:
            if self.habits.complete:
                return None
            raise Stuck(f"cannot make sense of {tool.name}: {error}") from error


def _named(tool: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    names = tool.__code__.co_varnames[1:]
    return cast("dict[str, Any]", msgspec.to_builtins(dict(zip(names, args, strict=False)) | kwargs))


def _filled(row: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """What a hasty reader makes of a row with holes: something plausible."""
    return {name: _blank(part) if row.get(name) is None else row[name] for name, part in schema.items()}


def _blank(schema: Mapping[str, Any]) -> Any:
    return schema["enum"][0] if "enum" in schema else _BLANK.get(schema.get("type", ""))
