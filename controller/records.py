"""What lies in a trial's folder besides its result: steps, frames by reference, the instance as it was seen.

`docs/records.md` describes the files; these types are the only readers and writers of their lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from practicum.agents.agent import Reply, Usage
from practicum.infra.environment import Tool, ToolCall, ToolErrorKind

FORMAT = "practicum/1"


@dataclass(frozen=True, slots=True)
class FrameRef:
    """A frame by the SHA-256 of its PNG, which lies at `frames/<sha256>.png` of the attempt."""

    sha256: str
    width: int
    height: int
    settled: bool
    waited: float


class ModelRecord(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="model"):
    """One `ask`. `cost` in nano-dollars, `None` when unknown."""

    n: int
    at: str
    model: str
    purpose: str
    reply: Reply
    usage: Usage
    cost: int | None
    seconds: float
    prompt_messages: int


class ToolRecord(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="tool"):
    """One `call` and its answer, its frames by reference."""

    n: int
    at: str
    call: ToolCall
    text: str
    frames: tuple[FrameRef, ...]
    error: ToolErrorKind | None
    data: dict[str, Any] | None
    seconds: float


class NoteRecord(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="note"):
    """What an agent said of its own state."""

    n: int
    at: str
    layer: str
    text: str


StepRecord = ModelRecord | ToolRecord | NoteRecord


class InstanceRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The question as it was asked."""

    format: str
    task: str
    task_digest: str
    verifier: str
    seed: int
    title: str
    instruction: str
    params: dict[str, Any]
    tools: tuple[Tool, ...]
