"""A brain that answers by rule instead of by model: for demonstrations, tests and servers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from practicum.agents.agent import MalformedCall, ModelFault, Prompt, RawReply, Reply, Usage
from practicum.agents.generalist.brain import wire
from practicum.agents.generalist.brain.faults import FaultKind
from practicum.agents.generalist.brain.usage import read_usage
from practicum.agents.strict import BadFile
from practicum.infra.environment import ToolCall

Policy = Callable[[Prompt], Reply]
"""What a scripted brain thinks with; the chat server takes the same."""

FREE = Usage(input=0, output=0)


@dataclass(frozen=True, slots=True)
class ScriptedBrain:
    """Answers by its policy, at no cost."""

    policy: Policy
    name: str = "scripted"

    def worst_case(self, prompt: Prompt) -> Usage:
        return FREE

    def complete(self, prompt: Prompt, *, timeout: float) -> RawReply:
        payload = wire.completion(self.policy(prompt), FREE, self.name)
        return RawReply(read_usage(payload), payload)

    def parse(self, raw: RawReply) -> Reply:
        return wire.reply(raw.payload)


class Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One answer of a script file. `arguments` of a call may be a string, to say something malformed."""

    text: str = ""
    calls: list[LineCall] = []
    refused: bool = False
    cut: bool = False
    thought: str = ""


class LineCall(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    arguments: dict[str, Any] | str = {}


@dataclass(slots=True)
class Sequence:
    """A policy that gives its answers in order. Asked once more it raises `ModelFault`."""

    answers: tuple[Reply, ...]
    given: int = field(default=0, init=False)

    def __call__(self, prompt: Prompt) -> Reply:
        if self.given == len(self.answers):
            raise ModelFault(FaultKind.SCRIPT_OVER, f"the script has only {self.given} answers")
        self.given += 1
        return self.answers[self.given - 1]


def load_script(path: Path) -> Sequence:
    """A policy from a file of one JSON answer a line. Raises `BadFile` naming the line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(path, str(error)) from error
    return Sequence(tuple(_read_lines(path, lines)))


def _read_lines(path: Path, lines: Iterable[str]) -> Iterable[Reply]:
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            line = msgspec.json.decode(text, type=Line)
        except msgspec.DecodeError as error:
            raise BadFile(path, f"line {number}: {error}") from error
        yield _reply(line, number)


def _reply(line: Line, number: int) -> Reply:
    calls = [(f"call-{number}-{index}", call) for index, call in enumerate(line.calls, 1)]
    return Reply(
        text=line.text,
        calls=tuple(
            ToolCall(call_id, call.name, call.arguments)
            for call_id, call in calls
            if isinstance(call.arguments, Mapping)
        ),
        malformed=tuple(
            MalformedCall(call_id, call.name, call.arguments, "as scripted")
            for call_id, call in calls
            if isinstance(call.arguments, str)
        ),
        refused=line.refused,
        cut=line.cut,
        thought=line.thought,
    )
