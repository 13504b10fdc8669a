"""Degraded answers: the clean one in, the degraded one out, with the witness by which a reader can tell.

Structured answers are `{"revision", "total", "items"}` or `{"revision", "record"}`. A shortened list keeps
its true `total`; a lost field is one that the tool's description promises; an old answer keeps its old
`revision`. On a desk, text is cut in the middle of a line, and an old screen is older than the last action.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from practicum.infra.environment import ToolResult
from practicum.infra.faults.plan import Strike

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Degraded:
    """An answer that is wrong without saying so, and what gives it away."""

    result: ToolResult
    strike: Strike
    witness: str


_ORDER = (Strike.TRUNCATED, Strike.DROPPED, Strike.NULL)


def degrade(clean: ToolResult, strike: Strike, salt: int, earlier: ToolResult | None) -> Degraded | None:
    """The degraded answer; where `strike` does not fit the next that does; `None` where none fits.

    `earlier` is the last clean answer to the same operation.
    """
    for kind in (strike, *(kind for kind in _ORDER if kind is not strike)):
        found = _degrade(clean, kind, salt, earlier)
        if found is not None:
            return found
    return None


def _degrade(clean: ToolResult, strike: Strike, salt: int, earlier: ToolResult | None) -> Degraded | None:
    if strike is Strike.STALE:
        return _stale(clean, earlier)
    if clean.data is not None and ("items" in clean.data or "record" in clean.data):
        return _structured(clean.data, strike, salt)
    return _cut_text(clean) if strike is Strike.TRUNCATED else None


def _stale(clean: ToolResult, earlier: ToolResult | None) -> Degraded | None:
    if earlier is None or earlier == clean:
        return None
    was, now = dict(earlier.data or {}), dict(clean.data or {})
    if "revision" not in now:
        return Degraded(earlier, Strike.STALE, "the screen is older than the last action")
    then, revision = was.pop("revision", None), now.pop("revision")
    if then == revision or was == now:
        return None
    return Degraded(earlier, Strike.STALE, f"revision {then}, although the state is at {revision}")


def _structured(data: Mapping[str, Any], strike: Strike, salt: int) -> Degraded | None:
    if strike is Strike.TRUNCATED:
        return _shortened(data)
    rows = data["items"] if "items" in data else [data["record"]]
    at = salt % len(rows) if rows else 0
    fields = _loseable(rows[at]) if rows else []
    if not fields:
        return None
    field = fields[(salt >> 8) % len(fields)]
    worse = dict(rows[at])
    if strike is Strike.DROPPED:
        del worse[field]
        witness = f"item {at + 1} lacks the promised field {field!r}"
    else:
        worse[field] = None
        witness = f"item {at + 1} has null in {field!r}, which is never null"
    changed: dict[str, Any] = (
        {"items": [*rows[:at], worse, *rows[at + 1 :]]} if "items" in data else {"record": worse}
    )
    return Degraded(_result({**data, **changed}), strike, witness)


def _loseable(row: Any) -> list[str]:
    if not isinstance(row, dict):
        return []
    return sorted(name for name, value in row.items() if name != "id" and value is not None)


def _shortened(data: Mapping[str, Any]) -> Degraded | None:
    items = data.get("items")
    if not items:
        return None
    kept = items[: len(items) // 2]
    witness = f"total is {data['total']}, items are {len(kept)}"
    return Degraded(_result({**data, "items": kept}), Strike.TRUNCATED, witness)


def _cut_text(clean: ToolResult) -> Degraded | None:
    if len(clean.text) < 2:
        return None
    kept = clean.text[: len(clean.text) // 2]
    witness = f"{len(kept)} of {len(clean.text)} characters; the size told by the system differs"
    return Degraded(replace(clean, text=kept), Strike.TRUNCATED, witness)


def _result(data: dict[str, Any]) -> ToolResult:
    return ToolResult(text=_encode(data).decode(), data=data)
