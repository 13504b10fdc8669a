"""A trial as a person reads it: moments, each with the picture it was decided on and the one it led to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from practicum.controller.records import FrameRef, ModelRecord, NoteRecord, StepRecord, ToolRecord
from practicum.controller.viewer.safe import clip, visible
from practicum.infra.faults.inject import Meeting


class Shape(msgspec.Struct, frozen=True, tag_field="shape", tag="none"):
    """What an action draws on the frame it was decided on, in that frame's pixels."""


class Ring(Shape, frozen=True, tag="ring"):
    x: int
    y: int
    count: int
    button: str


class Path(Shape, frozen=True, tag="path"):
    points: tuple[tuple[int, int], ...]


class Arrow(Shape, frozen=True, tag="arrow"):
    x: int
    y: int
    dx: int
    dy: int


class Caption(Shape, frozen=True, tag="caption"):
    """Something without a place: typed text, a chord, a wait."""

    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """What the model said before the action, and what saying it cost (nano-dollars, `None` unknown)."""

    text: str
    thought: str
    model: str
    purpose: str
    tokens: int | None
    cost: int | None
    seconds: float
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Moment:
    """One tool call (the last moment may have none) with what led to it.

    `before` and `after` are indices into `Film.frames`; `cost` is the bill so far.
    """

    n: int
    at: str
    title: str
    tool: str = ""
    arguments: str = ""
    text: str = ""
    error: str = ""
    seconds: float = 0.0
    waited: float = 0.0
    settled: bool = True
    before: int | None = None
    after: int | None = None
    shape: Shape = field(default_factory=Shape)
    thoughts: tuple[Thought, ...] = ()
    notes: tuple[str, ...] = ()
    fault: str = ""
    cost: int | None = 0


@dataclass(frozen=True, slots=True)
class Film:
    """All moments of one attempt, and the distinct frames in the order of their first showing."""

    frames: tuple[FrameRef, ...]
    moments: tuple[Moment, ...]


def film(steps: Iterable[StepRecord], meetings: Sequence[Meeting] = ()) -> Film:
    """Pure. `cost` of a moment is the sum up to and with it; it stays `None` after an unknown bill.

    `meetings` is the fault log of the attempt, one entry a tool call.
    """
    reel = _Reel(meetings)
    return Film(moments=tuple(reel.moments(steps)), frames=tuple(reel.frames))


class _Reel:
    def __init__(self, meetings: Sequence[Meeting]) -> None:
        self._meetings = iter(meetings)
        self.frames: list[FrameRef] = []
        self._places: dict[str, int] = {}
        self._seen: int | None = None
        self._thoughts: list[Thought] = []
        self._notes: list[str] = []
        self._cost: int | None = 0

    def moments(self, steps: Iterable[StepRecord]) -> Iterator[Moment]:
        last: StepRecord | None = None
        for last in steps:
            match last:
                case ModelRecord():
                    self._think(last)
                case NoteRecord():
                    self._notes.append(visible(f"{last.layer}: {last.text}"))
                case ToolRecord():
                    yield self._act(last)
        if last is not None and (self._thoughts or self._notes):
            yield self._closing(last)

    def _think(self, step: ModelRecord) -> None:
        reply = step.reply
        problems = tuple(visible(f"{bad.name}: {bad.reason}: {bad.span}") for bad in reply.malformed)
        flags = (("refused",) if reply.refused else ()) + (("cut off",) if reply.cut else ())
        self._cost = None if self._cost is None or step.cost is None else self._cost + step.cost
        self._thoughts.append(
            Thought(
                text=clip(visible(reply.text)),
                thought=clip(visible(reply.thought)),
                model=step.model,
                purpose=step.purpose,
                tokens=step.usage.total,
                cost=step.cost,
                seconds=step.seconds,
                problems=problems + flags,
            )
        )

    def _act(self, step: ToolRecord) -> Moment:
        before = self._seen
        for frame in step.frames:
            self._seen = self._place(frame)
        shown = step.frames[-1] if step.frames else None
        return Moment(
            n=step.n,
            at=step.at,
            title=_title(step),
            tool=step.call.name,
            arguments=clip(visible(_arguments(step))),
            text=clip(visible(step.text)),
            error=step.error or "",
            seconds=step.seconds,
            waited=shown.waited if shown else 0.0,
            settled=shown.settled if shown else True,
            before=before,
            after=self._seen,
            shape=shape(step.call.name, step.call.arguments),
            thoughts=self._take(self._thoughts),
            notes=self._take(self._notes),
            fault=_fault(next(self._meetings, None)),
            cost=self._cost,
        )

    def _closing(self, step: StepRecord) -> Moment:
        return Moment(
            n=step.n,
            at=step.at,
            title="end",
            before=self._seen,
            after=self._seen,
            thoughts=self._take(self._thoughts),
            notes=self._take(self._notes),
            cost=self._cost,
        )

    def _place(self, frame: FrameRef) -> int:
        if frame.sha256 not in self._places:
            self._places[frame.sha256] = len(self.frames)
            self.frames.append(frame)
        return self._places[frame.sha256]

    @staticmethod
    def _take(pending: list[Any]) -> tuple[Any, ...]:
        taken = tuple(pending)
        pending.clear()
        return taken


def shape(tool: str, arguments: Any) -> Shape:
    """Recorded arguments are whatever a model wrote; what does not fit draws nothing."""
    if tool != "computer" or not isinstance(arguments, dict):
        return Shape()
    match arguments:
        case {"action": "click" | "move", "x": int(x), "y": int(y)}:
            moved = arguments["action"] == "move"
            count = arguments.get("count", 1)
            button = "none" if moved else str(arguments.get("button", "left"))[:8]
            return Ring(x, y, count if isinstance(count, int) else 1, button)
        case {"action": "drag", "path": [[int(), int()], [int(), int()], *_] as points}:
            return Path(tuple((p[0], p[1]) for p in points if _is_point(p)))
        case {"action": "scroll", "x": int(x), "y": int(y)}:
            return Arrow(x, y, _number(arguments.get("dx")), _number(arguments.get("dy")))
        case {"action": "type", "text": str(text)}:
            return Caption(visible(text[:200]))
        case {"action": "key", "keys": str(keys)}:
            return Caption(visible(keys[:80]))
        case _:
            return Shape()


def _is_point(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(item, int) for item in value)


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _arguments(step: ToolRecord) -> str:
    return msgspec.json.format(msgspec.json.encode(step.call.arguments), indent=1).decode()


def _title(step: ToolRecord) -> str:
    arguments = step.call.arguments
    words = (
        [str(arguments.get("action", step.call.name))] if step.call.name == "computer" else [step.call.name]
    )
    for key in ("x", "y", "text", "keys", "command", "path", "seconds"):
        if key in arguments:
            words.append(str(arguments[key]).replace("\n", "⏎"))
    if step.call.name not in ("computer", "bash", "read_file", "write_file"):
        words += [f"{key}={value}" for key, value in arguments.items() if str(value) not in words]
    return visible(" ".join(words))[:160]


def _fault(meeting: Meeting | None) -> str:
    if meeting is None or meeting.strike is None:
        return ""
    clean = "the call never arrived" if meeting.clean is None else f"the clean answer was: {meeting.clean}"
    return clip(visible(f"{meeting.strike} (to be noticed by {meeting.witness}); {clean}"), 2000)
