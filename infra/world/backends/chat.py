"""What a model is told that plays a workplace, and how its answers are read: strictly, or asked for again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, TypeVar

import msgspec

from practicum.infra.environment import JSON
from practicum.infra.errors import WorldFault
from practicum.infra.world.rules import Rules
from practicum.infra.world.tool import WorldTool

T = TypeVar("T")

_PART = (
    "You are the software of a workplace. Somebody calls your tools; you answer as the real software would, "
    "from the state alone. Never make up rows or values, leave nothing out, and keep to the schema. A call "
    "that breaks a rule, or names a row that is not there, is refused and changes nothing."
)


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Said:
    role: Role
    text: str


class Chat(Protocol):
    """A chat model that somebody above lends to a world and pays for."""

    def __call__(self, messages: Sequence[Said], schema: JSON) -> str:
        """One answer, which ought to fit the schema. Raises `WorldFault` when the endpoint fails."""
        ...


class Invalid(ValueError):
    """An answer that cannot be taken; says why, so that the model can be told."""


def ask(
    chat: Chat, messages: Sequence[Said], schema: JSON, read: Callable[[bytes], T], *, attempts: int
) -> tuple[T, str]:
    """The first answer that `read` takes, and its text; each refusal goes back to the model.

    Raises `WorldFault` after `attempts`.
    """
    asked, why = list(messages), ""
    for _ in range(attempts):
        text = chat(asked, schema)
        try:
            return read(text.strip().encode("utf-8", "replace")), text
        except (Invalid, msgspec.MsgspecError) as error:
            why = str(error)
            asked += [
                Said(Role.ASSISTANT, text),
                Said(
                    Role.USER, f"This is not a valid answer: {why}. Answer again, with the JSON object only."
                ),
            ]
    raise WorldFault(f"the model that plays the world gave no valid answer in {attempts} attempts: {why}")


def introduction(rules: Rules, task: str) -> str:
    """The workplace in words: tools with argument and return schemas, tables, and what always holds."""
    tools = {
        tool.name: {
            "description": tool.spec.description,
            "kind": str(tool.access),
            "arguments": tool.spec.parameters,
            "answer": answer_schema(tool),
        }
        for tool in rules.tools.values()
    }
    demands = [f"- {rule.__doc__ or rule.__name__.replace('_', ' ')}" for rule in rules.invariants]
    return "\n\n".join(
        [
            _PART,
            task,
            f"Tools:\n{pretty(tools)}",
            f"Tables:\n{pretty(rules.state_schema())}",
            *(["What always holds:\n" + "\n".join(demands)] if demands else []),
        ]
    )


def answer_schema(tool: WorldTool) -> dict[str, Any]:
    return {"type": "array", "items": tool.record_schema} if tool.lists else tool.record_schema


def reply_schema(tool: WorldTool, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Of one reply: `refused` is empty where the call is allowed, and `answer` null where it is not."""
    properties = {
        "refused": {"type": "string"},
        "answer": {"anyOf": [answer_schema(tool), {"type": "null"}]},
        **(more or {}),
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def typed(tool: WorldTool, answer: Any) -> Any:
    """The answer as the tool's own type. Raises `Invalid`."""
    try:
        return msgspec.convert(answer, tool.returns, strict=True)
    except msgspec.ValidationError as error:
        raise Invalid(f"the answer does not fit its schema: {error}") from error


def pretty(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=1).decode()
