"""An imported world: tools by their released schemas, answers by whatever model plays it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import msgspec

from practicum.infra.environment import Tool, ToolCall, ToolErrorKind, ToolResult
from practicum.infra.world.backends.chat import Chat, Invalid, Role, Said, ask, pretty
from practicum.infra.world.rules import SUBMIT
from practicum.tasks.worlds.occubench.reader import Configuration, ImportedTask

JOURNAL = "journal.jsonl"
_ANSWER = "answer.json"
_OBJECT: Mapping[str, Any] = {"type": "object"}
_SUBMIT = Tool(
    SUBMIT,
    "Hand in your final response and end the work.",
    {
        "type": "object",
        "properties": {"response": {"type": "string", "description": "the final response"}},
        "required": ["response"],
        "additionalProperties": False,
    },
)


class Exchange(msgspec.Struct, frozen=True):
    """One call and what came back."""

    tool: str
    arguments: dict[str, Any]
    error: ToolErrorKind | None
    answer: Any


class ImportedWorld:
    """`mended` shows the model its state as JSON, and its tools; otherwise the released prompt as it is.

    The state lives in the conversation only, so what such a world leaves is a transcript.
    """

    def __init__(self, task: ImportedTask, chat: Chat, *, mended: bool = False, attempts: int = 3) -> None:
        self.exchanges: list[Exchange] = []
        self.response: str | None = None
        self._chat = chat
        self._attempts = attempts
        configuration = task.configuration
        self._tools = {
            action.name: Tool(action.name, action.description, action.parameters)
            for action in configuration.action_set_definitions
        }
        self._checks = {
            name: jsonschema.Draft202012Validator(tool.parameters) for name, tool in self._tools.items()
        }
        self._said = [Said(Role.SYSTEM, _mended(configuration) if mended else _released(configuration))]

    def tools(self) -> tuple[Tool, ...]:
        return (*self._tools.values(), _SUBMIT)

    def call(self, call: ToolCall) -> ToolResult:
        """Raises `WorldFault` where the model gives no JSON object."""
        if self.response is not None:
            return self._refuse(call, ToolErrorKind.REFUSED, "the work is already handed in")
        if call.name == SUBMIT:
            return self._submit(call)
        check = self._checks.get(call.name)
        if check is None:
            return self._refuse(call, ToolErrorKind.UNKNOWN_TOOL, f"there is no tool {call.name!r}")
        problem = next(iter(check.iter_errors(dict(call.arguments))), None)
        if problem is not None:
            return self._refuse(call, ToolErrorKind.BAD_ARGUMENTS, problem.message)
        return self._play(call)

    def _play(self, call: ToolCall) -> ToolResult:
        asked = Said(Role.USER, _encode({"name": call.name, "arguments": call.arguments}))
        answer, text = ask(self._chat, [*self._said, asked], _OBJECT, _object, attempts=self._attempts)
        self._said += [asked, Said(Role.ASSISTANT, text)]
        error = ToolErrorKind.REFUSED if set(answer) == {"error"} else None
        self.exchanges.append(Exchange(call.name, dict(call.arguments), error, answer))
        return ToolResult(text=_encode(answer), error=error, data=answer)

    def _submit(self, call: ToolCall) -> ToolResult:
        response = call.arguments.get("response")
        if not isinstance(response, str) or set(call.arguments) != {"response"}:
            return self._refuse(call, ToolErrorKind.BAD_ARGUMENTS, "submit takes one text, `response`")
        self.response = response
        self.exchanges.append(Exchange(SUBMIT, dict(call.arguments), None, {"accepted": True}))
        return ToolResult(text="accepted", data={"accepted": True})

    def _refuse(self, call: ToolCall, kind: ToolErrorKind, why: str) -> ToolResult:
        self.exchanges.append(Exchange(call.name, dict(call.arguments), kind, why))
        return ToolResult(text=f"{kind}: {why}", error=kind)

    def collect(self, into: Path) -> tuple[str, ...]:
        (into / JOURNAL).write_bytes(msgspec.json.Encoder().encode_lines(self.exchanges))
        if self.response is not None:
            (into / _ANSWER).write_bytes(msgspec.json.encode({"response": self.response}))
        return ()


def _object(data: bytes) -> dict[str, Any]:
    answer = msgspec.json.decode(data)
    if not isinstance(answer, dict):
        raise Invalid("an observation is one JSON object")
    return answer


def _released(configuration: Configuration) -> str:
    return configuration.world_model_system_prompt


def _mended(configuration: Configuration) -> str:
    text, _, _ = configuration.world_model_system_prompt.partition("{{initial_state}}:")
    parts = {
        "The initial state": configuration.task_initial_state,
        "What its parts mean": configuration.state_description,
        "The actions": configuration.action_set_definitions,
    }
    return "\n\n".join([text.strip(), *(f"{title}:\n{pretty(part)}" for title, part in parts.items())])


def _encode(value: object) -> str:
    return msgspec.json.encode(value).decode()
