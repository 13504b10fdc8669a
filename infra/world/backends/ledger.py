"""A model answers and says what changes; the engine owns the state.

The state is shown anew at each call, so the model has nothing to remember. Rows that do not fit their table,
changes by a read, a clock that runs back, and broken invariants are not taken.
"""

from __future__ import annotations

from typing import Any

import msgspec

from practicum.infra.world.backends.chat import (
    Chat,
    Invalid,
    Role,
    Said,
    ask,
    introduction,
    pretty,
    reply_schema,
    typed,
)
from practicum.infra.world.rules import Rules
from practicum.infra.world.tables import Row
from practicum.infra.world.tool import WorldTool
from practicum.infra.world.world import CLOCK, Clock, Refused, View, World

_TASK = (
    "You are shown the state at each call. Reply with one JSON object that has three fields. `refused` is "
    "the empty text where the call is allowed, `answer` is then the answer, and `changes` has an object "
    "of `table`, `id` and `row` for every row that the call makes or changes, with the whole row, or null "
    "for one that it removes; reads change nothing. Where the call is not allowed, `refused` is the "
    "reason, `answer` null and `changes` empty."
)


class _Write(msgspec.Struct, forbid_unknown_fields=True):
    table: str
    id: str
    row: dict[str, Any] | None


class _Reply(msgspec.Struct, forbid_unknown_fields=True):
    refused: str
    answer: Any
    changes: list[_Write]


class Ledger:
    def __init__(self, rules: Rules, chat: Chat, *, attempts: int = 3) -> None:
        self._rules = rules
        self._kinds = {kind.__name__: kind for kind in rules.kinds}
        self.chat = chat
        self._attempts = attempts
        self._opening = Said(Role.SYSTEM, introduction(rules, _TASK))

    def read(self, tool: WorldTool, view: View, arguments: dict[str, Any]) -> Any:
        def take(reply: _Reply) -> None:
            if reply.changes:
                raise Invalid("a read changes nothing")

        return self._play(tool, view, arguments, take)

    def write(self, tool: WorldTool, world: World, arguments: dict[str, Any]) -> Any:
        def take(reply: _Reply) -> None:
            try:
                for change in reply.changes:
                    self._apply(world, change)
                if (why := self._rules.broken(world)) is not None:
                    raise Invalid(f"this must always hold: {why}")
            except Invalid:
                world.rollback()
                raise

        return self._play(tool, world, arguments, take)

    def _play(self, tool: WorldTool, view: View, arguments: dict[str, Any], take: Any) -> Any:
        def read(data: bytes) -> _Reply:
            reply = msgspec.json.decode(data, type=_Reply)
            if reply.refused:
                if reply.changes or reply.answer is not None:
                    raise Invalid("a refused call has the answer null and changes nothing")
                return reply
            reply.answer = typed(tool, reply.answer)
            take(reply)
            return reply

        state = {kind.__name__: view.all(kind) for kind in self._rules.kinds}
        call = msgspec.json.encode({"tool": tool.name, "arguments": arguments}).decode()
        messages = [self._opening, Said(Role.USER, f"The state now:\n{pretty(state)}\n\nThe call:\n{call}")]
        schema = reply_schema(tool, {"changes": self._changes_schema()})
        reply, _ = ask(self.chat, messages, schema, read, attempts=self._attempts)
        if reply.refused:
            raise Refused(reply.refused)
        return reply.answer

    def _apply(self, world: World, change: _Write) -> None:
        kind = self._kinds.get(change.table)
        if kind is None:
            raise Invalid(f"there is no table {change.table!r}")
        old = world.find(kind, change.id)
        if change.row is None:
            if old is None or kind is Clock:
                raise Invalid(f"{change.table} {change.id!r} cannot be removed")
            world.drop(old)
            return
        row = self._row(kind, change)
        if isinstance(row, Clock) and (row.id != CLOCK or row.now < world.now):
            raise Invalid("the clock does not run back")
        world.put(row)

    def _row(self, kind: type[Row], change: _Write) -> Row:
        try:
            row: Row = msgspec.convert(change.row, kind, strict=True)
        except msgspec.ValidationError as error:
            raise Invalid(f"a row does not fit table {change.table}: {error}") from error
        if row.id != change.id:
            raise Invalid(f"a row {row.id!r} under the id {change.id!r}")
        return row

    def _changes_schema(self) -> dict[str, Any]:
        one = {
            "type": "object",
            "properties": {
                "table": {"enum": list(self._kinds)},
                "id": {"type": "string"},
                "row": {"anyOf": [*self._rules.state_schema().values(), {"type": "null"}]},
            },
            "required": ["table", "id", "row"],
            "additionalProperties": False,
        }
        return {"type": "array", "items": one}
