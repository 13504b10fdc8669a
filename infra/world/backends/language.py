"""A model plays the world, and what has happened is known only from the conversation.

That is how the benchmarks do it that brought this kind of simulator up. Nothing is written to the tables, so
such a world is not graded by its state.
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
from practicum.infra.world.tool import WorldTool
from practicum.infra.world.world import Refused, View, World

_TASK = (
    "You are shown the state once, at the start. Keep it in mind and let accepted writes change it. Reply "
    "to each call with one JSON object that has two fields. `refused` is the empty text where the call is "
    "allowed, and then `answer` is the answer; where it is not, `refused` is the reason and `answer` "
    "null."
)


class _Reply(msgspec.Struct, forbid_unknown_fields=True):
    refused: str
    answer: Any


class Language:
    """`state` is the start, as `Tables.plain` gives it."""

    def __init__(self, rules: Rules, state: dict[str, Any], chat: Chat, *, attempts: int = 3) -> None:
        self.chat = chat
        self._attempts = attempts
        opening = f"{introduction(rules, _TASK)}\n\nThe state at the start:\n{pretty(state)}"
        self._said = [Said(Role.SYSTEM, opening)]

    def read(self, tool: WorldTool, view: View, arguments: dict[str, Any]) -> Any:
        return self._play(tool, arguments)

    def write(self, tool: WorldTool, world: World, arguments: dict[str, Any]) -> Any:
        return self._play(tool, arguments)

    def _play(self, tool: WorldTool, arguments: dict[str, Any]) -> Any:
        call = Said(Role.USER, msgspec.json.encode({"tool": tool.name, "arguments": arguments}).decode())

        def read(data: bytes) -> _Reply:
            reply = msgspec.json.decode(data, type=_Reply)
            if not reply.refused:
                reply.answer = typed(tool, reply.answer)
            elif reply.answer is not None:
                raise Invalid("a refused call has the answer null")
            return reply

        messages = [*self._said, call]
        reply, text = ask(self.chat, messages, reply_schema(tool), read, attempts=self._attempts)
        self._said += [call, Said(Role.ASSISTANT, text)]
        if reply.refused:
            raise Refused(reply.refused)
        return reply.answer
