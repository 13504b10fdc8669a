"""A simulator that is wrong on purpose, at known rates: the control of an audit.

It runs the true world and spoils answers, at most one kind a call, so that an audit must find exactly what
was planted and nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from practicum.infra.environment import Tool, ToolCall, ToolErrorKind, ToolResult
from practicum.infra.faults.operations import Access
from practicum.infra.world.differences import Kind
from practicum.infra.world.engine import WorldEnvironment
from practicum.infra.world.rules import ACTIVITY, SUBMIT
from practicum.infra.world.tool import WorldTool

Data = dict[str, Any]
_encode = msgspec.json.Encoder().encode


class Planted:
    """`rates` are chances at a call that a kind can befall. `chances` and `planted` count them."""

    def __init__(self, inner: WorldEnvironment, rates: Mapping[Kind, float], seed: str) -> None:
        self.chances: Counter[Kind] = Counter()
        self.planted: Counter[Kind] = Counter()
        self._inner = inner
        self._rates = rates
        self._rng = Random(f"planted/{seed}")
        self._before: dict[tuple[str, str], Any] = {}

    def tools(self) -> tuple[Tool, ...]:
        return self._inner.tools()

    def collect(self, into: Path) -> tuple[str, ...]:
        return self._inner.collect(into)

    def call(self, call: ToolCall) -> ToolResult:
        fork = self._inner.fork()
        clean = self._inner.call(call)
        tool = self._inner.rules.tools.get(call.name)
        if clean.error is not None:
            return self._allowed(clean, tool)
        self._remember()
        if call.name in (SUBMIT, ACTIVITY) or tool is None or clean.data is None:
            return clean
        if self._strikes(Kind.RULE_INVENTION):
            if tool.access is Access.WRITE:
                self._inner = fork
            return ToolResult(text="refused: not possible at this time", error=ToolErrorKind.REFUSED)
        return self._spoilt(clean, tool)

    def _allowed(self, clean: ToolResult, tool: WorldTool | None) -> ToolResult:
        """An answer to what must be refused, if one is planted."""
        if clean.error is not ToolErrorKind.REFUSED or tool is None:
            return clean
        kind = Kind.RULE_OMISSION if tool.access is Access.WRITE else Kind.FABRICATION
        if not self._strikes(kind):
            return clean
        record = {name: _invented(part) for name, part in tool.record_schema["properties"].items()}
        return _result({"revision": 0, "total": 1, "items": [record]} if tool.lists else {"record": record})

    def _spoilt(self, clean: ToolResult, tool: WorldTool) -> ToolResult:
        for kind, spoil in _SPOILS.items():
            data: Data = msgspec.json.decode(_encode(clean.data))
            worse = spoil(self, data, data["items"] if tool.lists else [data["record"]], tool)
            if worse is not None and self._strikes(kind):
                return _result(worse)
        return clean

    def _strikes(self, kind: Kind) -> bool:
        self.chances[kind] += 1
        struck = self._rng.random() < self._rates.get(kind, 0.0)
        self.planted[kind] += struck
        return struck

    def _remember(self) -> None:
        for change in self._inner.entries[-1].changes:
            for name, value in (change.before or {}).items():
                if change.after is not None and change.after.get(name) != value:
                    self._before[change.id, name] = value

    def fabricated(self, data: Data, rows: list[Data], tool: WorldTool) -> Data | None:
        if not tool.lists or not rows:
            return None
        extra = {**rows[-1], "id": f"{rows[-1]['id']}-bis"}
        return {**data, "total": len(rows) + 1, "items": [*rows, extra]}

    def omitted(self, data: Data, rows: list[Data], tool: WorldTool) -> Data | None:
        if not tool.lists or not rows:
            return None
        return {**data, "total": len(rows) - 1, "items": rows[:-1]}

    def drifted(self, data: Data, rows: list[Data], tool: WorldTool) -> Data | None:
        for row in rows:
            for name, value in row.items():
                if type(value) in (int, float) and (row["id"], name) not in self._before:
                    row[name] = value + 1
                    return data
        return None

    def lost(self, data: Data, rows: list[Data], tool: WorldTool) -> Data | None:
        if tool.access is Access.WRITE:
            return None
        for row in rows:
            for name, value in row.items():
                old = self._before.get((row["id"], name))
                if type(old) is type(value) and old != value:
                    row[name] = old
                    return data
        return None

    def leaked(self, data: Data, rows: list[Data], tool: WorldTool) -> Data | None:
        return {**data, "hidden_state": {"revision": data["revision"]}}

    def broken(self, data: Data, rows: list[Data], tool: WorldTool) -> Data | None:
        if not rows:
            return None
        name = max(rows[0])
        if name == "id":
            return None
        del rows[0][name]
        return data


Spoil = Callable[[Planted, Data, list[Data], WorldTool], Data | None]
_SPOILS: Mapping[Kind, Spoil] = {
    Kind.FABRICATION: Planted.fabricated,
    Kind.OMISSION: Planted.omitted,
    Kind.DRIFT: Planted.drifted,
    Kind.LOST_WRITE: Planted.lost,
    Kind.LEAK: Planted.leaked,
    Kind.SCHEMA_BREAK: Planted.broken,
}


def _invented(schema: Mapping[str, Any]) -> Any:
    blanks = {"string": "made up", "integer": 1, "number": 1.0, "boolean": True, "array": []}
    return schema["enum"][0] if "enum" in schema else blanks.get(schema.get("type", ""), {})


def _result(data: Data) -> ToolResult:
    return ToolResult(text=_encode(data).decode(), data=data)
