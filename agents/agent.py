"""The contract of an agent, and the exam it sits: ask a model, call a tool; there is no third way to act.

Money, limits, recording and replay are written once, around these two calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from practicum.infra.environment import Tool, ToolCall, ToolResult
from practicum.tasks.spec import Instance, Task


class Ending(StrEnum):
    """Why an agent stopped. What it left is graded whatever the ending."""

    DONE = "done"
    GAVE_UP = "gave_up"
    STEPS = "steps"
    TIME = "time"
    TOKENS = "tokens"
    MONEY = "money"
    REFUSED = "refused"


class ExamOver(Exception):
    """Raised by the exam into the agent, which lets it pass. Carries the ending."""

    def __init__(self, ending: Ending, detail: str = "") -> None:
        super().__init__(f"{ending}: {detail}" if detail else str(ending))
        self.ending = ending
        self.detail = detail


class Cancelled(Exception):
    """The controller was told to stop. Agents let it pass too."""


class ModelFault(Exception):
    """The model endpoint failed (network, 5xx, bad credentials): ours, never the agent's.

    `maybe_billed`: the request was sent and its answer was lost or unreadable, so the provider may have
    charged for it; the bill is then charged with unknown usage and not released.
    """

    def __init__(self, kind: str, message: str, *, maybe_billed: bool = False) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.maybe_billed = maybe_billed


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call in disjoint buckets; `None` is unknown, never 0.

    `cache_write` are tokens written to a cache for the provider's default time, `cache_write_long` those
    written for its longer one (an hour). `reasoning` is the part of `output` that was not shown.
    """

    input: int | None
    output: int | None
    cache_read: int | None = 0
    cache_write: int | None = 0
    cache_write_long: int | None = 0
    reasoning: int | None = None

    @property
    def total(self) -> int | None:
        parts = (self.input, self.output, self.cache_read, self.cache_write, self.cache_write_long)
        if any(part is None for part in parts):
            return None
        return sum(part for part in parts if part is not None)


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """A picture as sent to a model: PNG bytes and their size in pixels."""

    png: bytes = field(repr=False)
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class SystemMessage:
    text: str


@dataclass(frozen=True, slots=True)
class UserMessage:
    parts: tuple[Text | Image, ...]


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    text: str
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolMessage:
    call_id: str
    parts: tuple[Text | Image, ...]


Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request to a model."""

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    max_output: int = 4096


@dataclass(frozen=True, slots=True)
class MalformedCall:
    """A tool call that could not be read: the model's own mistake, with the offending text."""

    id: str
    name: str
    span: str
    reason: str


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer, parsed. `refused` when the model declined in the way its API reports refusals;
    `cut` when it ran into `max_output`."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    malformed: tuple[MalformedCall, ...] = ()
    refused: bool = False
    cut: bool = False
    thought: str = ""


@dataclass(frozen=True, slots=True)
class RawReply:
    """What came over the wire, billed before anybody tries to read it."""

    usage: Usage
    payload: Mapping[str, Any] = field(hash=False)


class Model(Protocol):
    """One model behind one endpoint. `name` is the key into the price table."""

    @property
    def name(self) -> str: ...

    def worst_case(self, prompt: Prompt) -> Usage:
        """An upper bound of what completing this prompt can use."""
        ...

    def complete(self, prompt: Prompt, *, timeout: float) -> RawReply:
        """Raises `ModelFault`."""
        ...

    def parse(self, raw: RawReply) -> Reply:
        """Never raises for anything a model can write."""
        ...


class Bill(Protocol):
    """A reservation for one model call, made by the meter."""

    def charge(self, usage: Usage) -> int | None:
        """Book what was used and release the rest; returns nano-dollars, `None` when unknown."""
        ...

    def release(self) -> None:
        """Nothing was used."""
        ...


class Meter(Protocol):
    """Money. Raises `ExamOver(MONEY)` when the worst case does not fit under a cap."""

    def reserve(self, model: str, worst: Usage, purpose: str) -> Bill: ...


@dataclass(frozen=True, slots=True)
class ModelStep:
    """One `ask`: seconds of wall time, cost in nano-dollars (`None` when unknown)."""

    model: str
    reply: Reply
    usage: Usage
    cost: int | None
    seconds: float
    prompt_messages: int
    purpose: str = "agent"


@dataclass(frozen=True, slots=True)
class ToolStep:
    call: ToolCall
    result: ToolResult
    seconds: float


@dataclass(frozen=True, slots=True)
class NoteStep:
    """Something an agent says of its own state (plan, stuck, compacted), for the person who debugs it."""

    layer: str
    text: str


Step = ModelStep | ToolStep | NoteStep


class Recorder(Protocol):
    """Where steps go; durable when `step` returns."""

    def step(self, step: Step) -> None: ...


class Exam(Protocol):
    """What an agent gets. Every method may raise `ExamOver` or `Cancelled`."""

    @property
    def instruction(self) -> str: ...

    @property
    def tools(self) -> Sequence[Tool]: ...

    @property
    def seed(self) -> int: ...

    def ask(self, model: Model, prompt: Prompt, *, purpose: str = "agent") -> Reply: ...

    def call(self, call: ToolCall) -> ToolResult: ...

    def note(self, layer: str, text: str) -> None: ...

    def give_up(self, reason: str) -> None:
        """End with `gave_up`; does not return."""
        ...


class Agent(Protocol):
    """`digest` identifies everything that decides its behaviour, part of the trial id."""

    @property
    def name(self) -> str: ...

    @property
    def digest(self) -> str: ...

    def sit(self, exam: Exam) -> None:
        """Work until done. Returning means `done`."""
        ...


@runtime_checkable
class Privileged(Protocol):
    """Someone of the house, not a candidate: is shown the task behind the exam before it sits."""

    @property
    def name(self) -> str: ...

    @property
    def digest(self) -> str: ...

    def brief(self, task: Task, instance: Instance) -> Agent:
        """The agent that sits this one instance."""
        ...


Sitter = Agent | Privileged
"""What the registry resolves a name to."""


def seat(sitter: Sitter, task: Task, instance: Instance) -> Agent:
    """The agent to sit one exam: a privileged one is briefed, all others learn nothing."""
    return sitter.brief(task, instance) if isinstance(sitter, Privileged) else sitter
