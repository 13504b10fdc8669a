"""How one answer of a simulated world differs from the true one, in eight kinds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import msgspec

from practicum.infra.environment import JSON, ToolResult
from practicum.infra.faults.operations import Access
from practicum.infra.world.tables import Change
from practicum.infra.world.tool import WorldTool

_ENVELOPE = frozenset({"revision", "total", "items", "record"})


class Kind(StrEnum):
    """FABRICATION: rows that do not exist, or an answer where there is nothing to read. OMISSION: rows left
    out. RULE_INVENTION: refused although allowed. RULE_OMISSION: allowed although refused. DRIFT: a value
    that never was. LOST_WRITE: a value from before a write. LEAK: more than the schema shows. SCHEMA_BREAK:
    an answer that does not fit its schema, or none."""

    FABRICATION = "fabrication"
    OMISSION = "omission"
    RULE_INVENTION = "rule invention"
    RULE_OMISSION = "rule omission"
    DRIFT = "drift"
    LOST_WRITE = "lost write"
    LEAK = "leak"
    SCHEMA_BREAK = "schema break"


@dataclass(frozen=True, slots=True)
class Difference:
    kind: Kind
    detail: str


@dataclass(slots=True)
class Past:
    """Values that were true before a write, by row and field."""

    _values: dict[tuple[str, str], list[Any]] = field(default_factory=dict)

    def remember(self, changes: Iterable[Change]) -> None:
        for change in changes:
            after = change.after or {}
            for name, value in (change.before or {}).items():
                if after.get(name) != value:
                    self._values.setdefault((change.id, name), []).append(value)

    def knows(self, row: str, name: str, value: Any) -> bool:
        return value in self._values.get((row, name), ())


def compare(tool: WorldTool | None, truth: ToolResult, said: ToolResult, past: Past) -> list[Difference]:
    """Every kind at most once, with its first instance."""
    if said.error is not None:
        return [] if truth.error else [Difference(Kind.RULE_INVENTION, f"refused: {said.text[:200]}")]
    if truth.error is not None:
        reading = tool is not None and tool.access is Access.READ
        kind = Kind.FABRICATION if reading else Kind.RULE_OMISSION
        return [Difference(kind, f"answered what must be refused: {truth.text[:200]}")]
    if tool is None or truth.data is None:
        return []
    found: dict[Kind, Difference] = {}
    for difference in _contents(tool, truth.data, said.data or {}, past):
        found.setdefault(difference.kind, difference)
    return list(found.values())


def _contents(tool: WorldTool, truth: JSON, said: JSON, past: Past) -> Iterator[Difference]:
    if extra := sorted(set(said) - _ENVELOPE):
        yield Difference(Kind.LEAK, f"beside the answer: {', '.join(extra)}")
    content = said.get("items" if tool.lists else "record")
    rows = content if tool.lists else [content]
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        yield Difference(Kind.SCHEMA_BREAK, "no rows where the schema has rows")
        return
    kind = tool.returns.__args__[0] if tool.lists else tool.returns
    for row in rows:
        yield from _shape(row, kind, tool.record_schema["properties"])
    yield from _rows(truth["items"] if tool.lists else [truth["record"]], rows, past)
    if tool.lists and said.get("total") not in (None, len(rows)):
        yield Difference(Kind.OMISSION, f"{len(rows)} of {said.get('total')} rows")


def _shape(row: Mapping[str, Any], kind: Any, known: Mapping[str, Any]) -> Iterator[Difference]:
    if extra := sorted(set(row) - set(known)):
        yield Difference(Kind.LEAK, f"fields nobody may see: {', '.join(extra)}")
    try:
        msgspec.convert({name: row[name] for name in row if name in known}, kind, strict=True)
    except msgspec.ValidationError as error:
        yield Difference(Kind.SCHEMA_BREAK, str(error))


def _rows(truth: list[Any], said: list[Any], past: Past) -> Iterator[Difference]:
    real, told = _by_id(truth), _by_id(said)
    if missing := [key for key in real if key not in told]:
        yield Difference(Kind.OMISSION, f"left out: {', '.join(missing[:5])}")
    if invented := [key for key in told if key not in real]:
        yield Difference(Kind.FABRICATION, f"made up: {', '.join(invented[:5])}")
    for key in real.keys() & told.keys():
        for name, value in real[key].items():
            if name in told[key] and told[key][name] != value and type(told[key][name]) is type(value):
                old = past.knows(key, name, told[key][name])
                detail = f"{key}.{name} is {value!r}, said {told[key][name]!r}"
                yield Difference(Kind.LOST_WRITE if old else Kind.DRIFT, detail)


def _by_id(rows: list[Any]) -> dict[str, Mapping[str, Any]]:
    return {str(row.get("id", number)): row for number, row in enumerate(rows)}
