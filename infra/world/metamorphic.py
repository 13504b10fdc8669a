"""Checks of a simulated world that need no reference: what it may not contradict itself in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from practicum.infra.environment import Environment, ToolCall, ToolErrorKind, ToolResult
from practicum.infra.errors import WorldFault
from practicum.infra.faults.operations import Access
from practicum.infra.world.rules import ACTIVITY, Rules
from practicum.infra.world.tool import WorldTool

NOBODY = "no-such-row-7f3a"


@dataclass(frozen=True, slots=True)
class Violation:
    """A relation between answers that does not hold."""

    relation: str
    tool: str
    detail: str


@dataclass(frozen=True, slots=True)
class Examined:
    """How many relations were tried, and which did not hold."""

    checks: int
    violations: tuple[Violation, ...]


def examine(rules: Rules, opened: Callable[[], Environment]) -> Examined:
    """Four relations over every tool that takes no arguments, or ids only.

    Reading twice gives the same; a list tells its length and no row twice; a row that is nowhere is refused;
    a refused write leaves every read as it was. A subject that gives no valid answer violates the relation.
    """
    world = opened()
    results = [
        outcome
        for tool in rules.tools.values()
        if tool.name != ACTIVITY
        for outcome in _of(tool, world, rules)
    ]
    return Examined(len(results), tuple(found for found in results if found is not None))


def _of(tool: WorldTool, world: Environment, rules: Rules) -> Iterator[Violation | None]:
    required = tool.spec.parameters.get("required", [])
    if tool.access is Access.READ and not required:
        yield _held("read twice", tool, lambda: _same(_ask(world, tool), _ask(world, tool)))
        if tool.lists:
            yield _held("a list is whole", tool, lambda: _whole(_ask(world, tool)))
    texts = all(tool.spec.parameters["properties"][name].get("type") == "string" for name in required)
    if required and texts and not _has_enum(tool):
        yield _held(
            "nobody is refused", tool, lambda: _refused(_ask(world, tool, dict.fromkeys(required, NOBODY)))
        )
        if tool.access is Access.WRITE:
            yield _held("a refused write changes nothing", tool, lambda: _unmoved(world, tool, rules))


def _held(relation: str, tool: WorldTool, check: Callable[[], str | None]) -> Violation | None:
    try:
        why = check()
    except WorldFault as fault:
        why = str(fault)
    return None if why is None else Violation(relation, tool.name, why)


def _ask(world: Environment, tool: WorldTool, arguments: dict[str, Any] | None = None) -> ToolResult:
    return world.call(ToolCall("metamorphic", tool.name, arguments or {}))


def _same(first: ToolResult, second: ToolResult) -> str | None:
    return None if _content(first) == _content(second) else "two readings differ"


def _content(result: ToolResult) -> object:
    data = result.data or {}
    return (result.error, data.get("items", data.get("record")))


def _whole(result: ToolResult) -> str | None:
    if result.data is None:
        return "no list"
    items = result.data.get("items", [])
    ids = [row.get("id") for row in items]
    if len(set(ids)) != len(ids):
        return "a row stands twice in the list"
    return (
        None if result.data.get("total") == len(items) else f"{len(items)} of {result.data.get('total')} rows"
    )


def _refused(result: ToolResult) -> str | None:
    return None if result.error is ToolErrorKind.REFUSED else "a row that is nowhere was answered for"


def _unmoved(world: Environment, tool: WorldTool, rules: Rules) -> str | None:
    readers = [
        other
        for other in rules.tools.values()
        if other.access is Access.READ
        and other.name != ACTIVITY
        and not other.spec.parameters.get("required")
    ]
    before = [_content(_ask(world, other)) for other in readers]
    _ask(world, tool, dict.fromkeys(tool.spec.parameters["required"], NOBODY))
    after = [_content(_ask(world, other)) for other in readers]
    return None if before == after else "a read differs after a refused write"


def _has_enum(tool: WorldTool) -> bool:
    return any("enum" in part for part in tool.spec.parameters["properties"].values())
