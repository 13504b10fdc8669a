"""Recording what a model answered, and answering from the record: the same exam again without the model.

A record is JSON Lines, one answer a line. Pictures are never stored, only their place in the prompt's key.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from practicum.agents.agent import (
    Image,
    Message,
    Model,
    ModelFault,
    Prompt,
    RawReply,
    Reply,
    Text,
    ToolMessage,
    Usage,
    UserMessage,
)
from practicum.agents.generalist.brain import wire
from practicum.agents.generalist.brain.faults import FaultKind
from practicum.agents.strict import BadFile


class Match(StrEnum):
    """How a prompt finds its recorded answer."""

    PROMPT = "prompt"
    """By everything in it, pictures to the pixel; equal prompts get their answers in the order recorded."""
    ORDER = "order"
    """By its turn among the prompts of the same conversation (same instruction)."""


class Recorded(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line. `conversation` is the digest of the instruction, `prompt` that of the whole prompt."""

    model: str
    conversation: str
    prompt: str
    usage: Usage
    payload: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Recording:
    """Another brain, whose answers are also appended to a file, durable before they are returned."""

    inner: Model
    path: Path

    @property
    def name(self) -> str:
        return self.inner.name

    def worst_case(self, prompt: Prompt) -> Usage:
        return self.inner.worst_case(prompt)

    def complete(self, prompt: Prompt, *, timeout: float) -> RawReply:
        raw = self.inner.complete(prompt, timeout=timeout)
        line = Recorded(
            model=self.inner.name,
            conversation=conversation_key(prompt),
            prompt=prompt_key(prompt),
            usage=raw.usage,
            payload=dict(raw.payload),
        )
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab+") as file:
            _drop_cut_line(file)
            file.write(msgspec.json.encode(line) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        return raw

    def parse(self, raw: RawReply) -> Reply:
        return self.inner.parse(raw)


@dataclass(slots=True)
class RecordedBrain:
    """Answers from a record, with the usage it had then. A prompt the record does not know is a
    `ModelFault`, never a guess."""

    path: Path
    name: str
    match: Match
    _waiting: Mapping[str, deque[Recorded]] = field(repr=False)

    @classmethod
    def load(cls, path: Path, match: Match) -> RecordedBrain:
        """Raises `BadFile`; a last line cut short by a crash is left out."""
        lines = _read(path)
        waiting: dict[str, deque[Recorded]] = defaultdict(deque)
        for line in lines:
            waiting[line.prompt if match is Match.PROMPT else line.conversation].append(line)
        return cls(path, lines[0].model if lines else "recorded", match, waiting)

    def worst_case(self, prompt: Prompt) -> Usage:
        waiting = self._waiting.get(self._key(prompt))
        return waiting[0].usage if waiting else Usage(0, 0)

    def complete(self, prompt: Prompt, *, timeout: float) -> RawReply:
        waiting = self._waiting.get(self._key(prompt))
        if not waiting:
            raise ModelFault(FaultKind.NOT_RECORDED, f"{self.path} has no answer for this prompt")
        line = waiting.popleft()
        return RawReply(line.usage, line.payload)

    def parse(self, raw: RawReply) -> Reply:
        return wire.reply(raw.payload)

    def _key(self, prompt: Prompt) -> str:
        return prompt_key(prompt) if self.match is Match.PROMPT else conversation_key(prompt)


def prompt_key(prompt: Prompt) -> str:
    """SHA-256 over messages, pictures by their bytes, tools and the answer's bound."""
    facts = {
        "messages": [_fact(message) for message in prompt.messages],
        "tools": prompt.tools,
        "max_output": prompt.max_output,
    }
    return hashlib.sha256(msgspec.json.encode(facts, order="deterministic")).hexdigest()


def conversation_key(prompt: Prompt) -> str:
    """SHA-256 over the first words of the first user message: the instruction."""
    first = next(
        (message for message in prompt.messages if isinstance(message, UserMessage)), UserMessage(())
    )
    text = next((part.text for part in first.parts if isinstance(part, Text)), "")
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _fact(message: Message) -> Any:
    if isinstance(message, UserMessage | ToolMessage):
        parts = [
            hashlib.sha256(part.png).hexdigest() if isinstance(part, Image) else part.text
            for part in message.parts
        ]
        return [type(message).__name__, getattr(message, "call_id", ""), parts]
    return [type(message).__name__, message]


def _drop_cut_line(file: BinaryIO) -> None:
    """A crash may have left half a line at the end; the next one must not be glued to it."""
    file.seek(0)
    whole = file.read().rfind(b"\n") + 1
    file.truncate(whole)


def _read(path: Path) -> list[Recorded]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadFile(path, str(error)) from error
    whole_lines = content.split(b"\n")[:-1]
    return [_read_line(path, number, line) for number, line in enumerate(whole_lines, 1)]


def _read_line(path: Path, number: int, line: bytes) -> Recorded:
    try:
        record = msgspec.json.decode(line, type=Recorded)
    except msgspec.DecodeError as error:
        raise BadFile(path, f"line {number}: {error}") from error
    problem = wire.envelope_error(record.payload)
    if problem is not None:
        raise BadFile(path, f"line {number}: {problem}")
    return record
