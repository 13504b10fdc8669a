"""The five layers as Protocols, and the few values that pass between them.

    Body asks Brain (what next?), lets Hands read the answer, lets Feet carry it out, lets Eyes look.

A Brain is any `agents.agent.Model`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from practicum.agents.agent import Exam, Image, Model, Reply, Text
from practicum.agents.generalist.limits import Limits
from practicum.agents.generalist.view import View
from practicum.infra.desk.desk import Frame
from practicum.infra.environment import Tool, ToolCall, ToolResult

Part = Text | Image
Touch = Callable[[ToolCall], ToolResult]
"""A way to call a tool, recorded and counted as every call is."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What the model is shown of one frame, and the transform that belongs to it."""

    parts: tuple[Part, ...]
    view: View


class Eyes(Protocol):
    """`keep` is how many of the newest pictures stay in the conversation."""

    @property
    def keep(self) -> int: ...

    def guide(self, view: View) -> str:
        """How to read the pictures and name places in them, for the system message."""
        ...

    def see(self, frame: Frame, touch: Touch) -> Sight: ...


@dataclass(frozen=True, slots=True)
class Act:
    """A canonical call, in desk pixels."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class Mistake:
    """Something that is no action: the offending text and why, for the model to read."""

    span: str
    reason: str


@dataclass(frozen=True, slots=True)
class Finish:
    """The model says it is done, or that it cannot be done."""

    success: bool
    message: str


Intent = Act | Mistake | Finish


@dataclass(frozen=True, slots=True)
class Wish:
    """What the model wants by one utterance. `answers` is the tool call that waits for the result; `None`
    where it spoke in text."""

    answers: str | None
    intents: tuple[Intent, ...]


class Hands(Protocol):
    """One dialect. Reading never raises and never executes anything."""

    def offer(self, tools: Sequence[Tool], view: View | None) -> tuple[Tool, ...]:
        """The tools to declare to the model, in its dialect."""
        ...

    def guide(self, tools: Sequence[Tool]) -> str:
        """How to speak, for the system message; empty where declared tools say it all."""
        ...

    def read(self, reply: Reply, view: View | None) -> tuple[Wish, ...]:
        """Places are meant in the picture of `view`, the newest one shown."""
        ...

    def render(self, call: ToolCall, view: View | None) -> Reply:
        """What a model of this family says to get this call; `read` gives the call back.

        Raises `Inexpressible` for a call this dialect has no words for.
        """
        ...


class Inexpressible(ValueError):
    """A dialect has no words for a call."""


class Feet(Protocol):
    """Which of the environment's tools this agent stands on."""

    def tools(self, offered: Sequence[Tool]) -> tuple[Tool, ...]: ...


@dataclass(frozen=True, slots=True)
class Layers:
    """One agent, put together for one exam."""

    brain: Model
    eyes: Eyes
    hands: Hands
    feet: Feet
    limits: Limits


class Body(Protocol):
    def work(self, exam: Exam, layers: Layers) -> None:
        """Work until done; returning means done."""
        ...
