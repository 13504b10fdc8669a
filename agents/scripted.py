"""Agents without a model: the oracle, nobody, and a random hand."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from practicum.agents.agent import Agent, Exam
from practicum.agents.identity import digest
from practicum.infra.environment import JSON, Tool, ToolCall, ToolErrorKind, ToolResult
from practicum.infra.operator import Operator
from practicum.tasks.spec import Instance, Kind, Task


@dataclass(frozen=True, slots=True)
class Oracle:
    """Privileged: knows the task, and solves it through the same tools an agent has."""

    name: str = "oracle"
    digest: str = field(default_factory=lambda: digest("oracle", {}))

    def brief(self, task: Task, instance: Instance) -> Agent:
        return _BriefedOracle(self.name, self.digest, task, instance)


@dataclass(frozen=True, slots=True)
class _BriefedOracle:
    name: str
    digest: str
    task: Task
    instance: Instance

    def sit(self, exam: Exam) -> None:
        call = exam.call if self.task.spec.kind is Kind.WORLD else patient(exam.call)
        self.task.solve(Operator.over(call), self.instance)


def patient(call: Callable[[ToolCall], ToolResult]) -> Callable[[ToolCall], ToolResult]:
    """Makes a call again that the desk failed to answer. For desks, where it then did not take effect; in a
    world it may have, and the worker there looks first."""

    def again(request: ToolCall) -> ToolResult:
        result = call(request)
        for _ in range(_AGAIN):
            if result.error not in _UNANSWERED or result.data is not None:
                break
            result = call(request)
        return result

    return again


@dataclass(frozen=True, slots=True)
class Nop:
    """Does nothing and says it is done."""

    name: str = "nop"
    digest: str = field(default_factory=lambda: digest("nop", {}))

    def sit(self, exam: Exam) -> None:
        exam.note("nop", "did nothing")


@dataclass(frozen=True, slots=True)
class RandomHand:
    """`calls` valid calls drawn from the exam's seed. Commands and files are left alone: a random shell
    line is only noise."""

    calls: int = 30
    name: str = "random"
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", digest(self.name, {"calls": self.calls}))

    def sit(self, exam: Exam) -> None:
        rng = Random(exam.seed)
        tools = [tool for tool in exam.tools if tool.name not in _LEFT_ALONE]
        if not tools:
            return
        for number in range(1, self.calls + 1):
            tool = rng.choice(tools)
            exam.call(ToolCall(f"random-{number}", tool.name, random_arguments(tool, rng)))


_AGAIN = 3
_UNANSWERED = frozenset({ToolErrorKind.FAILED, ToolErrorKind.TIMEOUT, ToolErrorKind.UNAVAILABLE})
_LEFT_ALONE = frozenset({"bash", "powershell", "read_file", "write_file"})


def random_arguments(tool: Tool, rng: Random) -> JSON:
    """Arguments the tool accepts, drawn from its schema; the computer's depend on its action."""
    if tool.name == "computer":
        properties: dict[str, Any] = dict(tool.parameters["properties"])
        return _computer(rng, properties["x"]["maximum"], properties["y"]["maximum"])
    arguments: JSON = sample(tool.parameters, rng)
    return arguments


def sample(schema: JSON, rng: Random) -> Any:
    """A value that fits the schema's enum, const, types, bounds, anyOf and oneOf; patterns are not read."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return rng.choice(list(schema["enum"]))
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return sample(rng.choice(list(schema[union])), rng)
    kind = schema.get("type", "string")
    return _SAMPLERS[rng.choice(kind) if isinstance(kind, list) else kind](schema, rng)


def _object(schema: JSON, rng: Random) -> dict[str, Any]:
    required = set(schema.get("required", ()))
    return {
        name: sample(inner, rng)
        for name, inner in schema.get("properties", {}).items()
        if name in required or rng.random() < 0.5
    }


def _array(schema: JSON, rng: Random) -> list[Any]:
    low = schema.get("minItems", 0)
    count = rng.randint(low, schema.get("maxItems", low + 3))
    return [sample(schema.get("items", {}), rng) for _ in range(count)]


def _string(schema: JSON, rng: Random) -> str:
    low = schema.get("minLength", 1)
    count = rng.randint(low, schema.get("maxLength", low + 8))
    return "".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(count))


def _integer(schema: JSON, rng: Random) -> int:
    low = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
    high = schema.get("maximum", schema.get("exclusiveMaximum", low + 101) - 1)
    return rng.randint(int(low), int(high))


def _number(schema: JSON, rng: Random) -> float:
    low = float(schema.get("minimum", schema.get("exclusiveMinimum", 0.0)))
    high = float(schema.get("maximum", schema.get("exclusiveMaximum", low + 100.0)))
    return low + (high - low) * (0.05 + 0.9 * rng.random())


_SAMPLERS: dict[str, Callable[[JSON, Random], Any]] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": lambda _, rng: rng.random() < 0.5,
    "null": lambda _schema, _rng: None,
}

_KEYS = ("enter", "tab", "escape", "up", "down", "left", "right", "space", "backspace", "page_down")


def _computer(rng: Random, right: int, bottom: int) -> JSON:
    def point() -> tuple[int, int]:
        return rng.randint(0, right), rng.randint(0, bottom)

    x, y = point()
    choices: Sequence[JSON] = (
        {
            "action": "click",
            "x": x,
            "y": y,
            "button": rng.choice(["left", "right"]),
            "count": rng.randint(1, 2),
        },
        {"action": "move", "x": x, "y": y},
        {"action": "drag", "path": [[x, y], list(point())]},
        {"action": "scroll", "x": x, "y": y, "dy": rng.choice([-3, -1, 1, 3])},
        {"action": "type", "text": "".join(itertools.islice(_letters(rng), rng.randint(1, 8)))},
        {"action": "key", "keys": rng.choice(_KEYS)},
        {"action": "screenshot"},
    )
    return rng.choice(choices)


def _letters(rng: Random) -> Iterator[str]:
    while True:
        yield rng.choice("abcdefghijklmnopqrstuvwxyz 0123456789")
