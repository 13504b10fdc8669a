"""A world answered from a journal: the same calls get the same answers and effects, without code or model."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

import msgspec

from practicum.infra.environment import ToolCall, ToolErrorKind
from practicum.infra.errors import WorldFault
from practicum.infra.faults.operations import identity
from practicum.infra.world.journal import Entry
from practicum.infra.world.rules import Rules
from practicum.infra.world.tool import WorldTool
from practicum.infra.world.world import Refused, View, World


class Recorded:
    """The k-th call of an operation gets what its k-th call got; `WorldFault` for one never recorded."""

    def __init__(self, rules: Rules, entries: Iterable[Entry]) -> None:
        self._kinds = {kind.__name__: kind for kind in rules.kinds}
        self._left: dict[tuple[str, str], deque[Entry]] = {}
        for entry in entries:
            if entry.error in (None, ToolErrorKind.REFUSED):
                arguments = self._checked(rules, entry)
                key = (entry.tool, identity(ToolCall("", entry.tool, arguments)))
                self._left.setdefault(key, deque()).append(entry)

    def read(self, tool: WorldTool, view: View, arguments: dict[str, Any]) -> Any:
        return self._answer(tool, self._next(tool, arguments))

    def write(self, tool: WorldTool, world: World, arguments: dict[str, Any]) -> Any:
        entry = self._next(tool, arguments)
        answer = self._answer(tool, entry)
        for change in entry.changes:
            kind = self._kinds[change.table]
            if change.after is None:
                world.drop(world.get(kind, change.id))
            else:
                world.put(msgspec.convert(change.after, kind))
        return answer

    def _next(self, tool: WorldTool, arguments: dict[str, Any]) -> Entry:
        left = self._left.get((tool.name, identity(ToolCall("", tool.name, arguments))))
        if not left:
            raise WorldFault(f"{tool.name} {arguments} is not in the record, or not this often")
        return left.popleft()

    def _answer(self, tool: WorldTool, entry: Entry) -> Any:
        if entry.error is not None:
            raise Refused(str(entry.answer))
        return msgspec.convert(entry.answer["items" if tool.lists else "record"], tool.returns)

    def _checked(self, rules: Rules, entry: Entry) -> dict[str, Any]:
        tool = rules.tools.get(entry.tool)
        return tool.read(entry.arguments) if tool else entry.arguments
