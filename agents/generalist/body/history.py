"""A conversation that stays under a model's limits: what is left out, and in which order.

Kept always: system message, instruction, the newest picture, the last turn, and for every tool call its
result. Left out, until it fits: older pictures, then long old texts, then whole old turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from practicum.agents.agent import (
    AssistantMessage,
    Image,
    Message,
    Prompt,
    SystemMessage,
    Text,
    ToolMessage,
    UserMessage,
)
from practicum.agents.generalist.brain.estimate import fits
from practicum.agents.generalist.layers import Part
from practicum.agents.generalist.limits import Limits
from practicum.infra.environment import Tool

LEFT_OUT = Text("[an earlier screenshot was left out]")
_CLIPS = (8_000, 2_000, 500, 100)
"""Characters a text of a turn may keep, tried in this order."""


class ContextFull(Exception):
    """The instruction, the tools and the last turn alone are more than the model takes."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of the model, the results of its calls in order, and what was said to it besides."""

    said: AssistantMessage
    results: tuple[ToolMessage, ...] = ()
    besides: tuple[Part, ...] = ()

    def __post_init__(self) -> None:
        asked, answered = [call.id for call in self.said.calls], [each.call_id for each in self.results]
        if asked != answered:
            raise ValueError(f"calls {asked} have results {answered}")


@dataclass(slots=True)
class History:
    """`opening` is the instruction and the first sight; `summary` stands for the first `summarised` turns."""

    system: str
    opening: tuple[Part, ...]
    turns: list[Turn] = field(default_factory=list)
    summary: str = ""
    summarised: int = 0

    def summarise(self, count: int, text: str) -> None:
        """Let `text` stand for all of the first `count` turns."""
        self.summary = text
        self.summarised = count

    def prompt(
        self,
        tools: Sequence[Tool],
        limits: Limits,
        keep: int,
        max_output: int,
        *,
        request: UserMessage | None = None,
    ) -> Prompt:
        """The longest version that fits, with at most `keep` pictures; `request` comes last and is not kept.

        Raises `ContextFull`.
        """
        last = () if request is None else (request,)
        for attempt in self._attempts(min(keep, limits.images)):
            candidate = Prompt((*attempt, *last), tuple(tools), max_output)
            if fits(candidate, limits):
                return candidate
        raise ContextFull("the instruction and the last turn do not fit the model's context")

    def overlong(self, tools: Sequence[Tool], limits: Limits, keep: int, max_output: int) -> bool:
        """Whole turns would have to be left out."""
        attempt = self._messages(self.summarised, min(keep, limits.images), _CLIPS[1])
        return not fits(Prompt(tuple(attempt), tuple(tools), max_output), limits)

    def _attempts(self, keep: int) -> Iterable[list[Message]]:
        start, one = self.summarised, min(keep, 1)
        for pictures in range(keep, one - 1, -1):
            yield self._messages(start, pictures, None)
        for clip in _CLIPS[:2]:
            yield self._messages(start, one, clip)
        for dropped in range(start + 1, len(self.turns)):
            yield self._messages(dropped, one, _CLIPS[1])
        for clip in _CLIPS[2:]:
            yield self._messages(max(len(self.turns) - 1, 0), one, clip)

    def _messages(self, start: int, pictures: int, clip: int | None) -> list[Message]:
        """The conversation from turn `start` on, with the newest `pictures` pictures; texts of turns are cut
        to `clip` characters."""
        opening, turns = self.opening, [_clipped(turn, clip) for turn in self.turns[start:]]
        newest = _newest(self)
        if newest is not None and not any(_pictures(_parts(turns))):
            opening = (*_without_pictures(opening), newest)
        messages: list[Message] = [
            SystemMessage(self.system),
            UserMessage((*opening, *self._passed_over(start))),
        ]
        for turn in turns:
            messages.extend((turn.said, *turn.results))
            if turn.besides:
                messages.append(UserMessage(turn.besides))
        return _retain(messages, pictures)

    def _passed_over(self, start: int) -> Iterable[Text]:
        if self.summary:
            yield Text(f"Summary of your first {self.summarised} steps:\n{self.summary}")
        if start > self.summarised:
            yield Text(f"[{start - self.summarised} further steps of yours were left out here]")


def _newest(history: History) -> Image | None:
    """The newest picture, wherever it is."""
    images = [part for part in (*history.opening, *_parts(history.turns)) if isinstance(part, Image)]
    return images[-1] if images else None


def _parts(turns: Iterable[Turn]) -> Iterable[Part]:
    for turn in turns:
        for result in turn.results:
            yield from result.parts
        yield from turn.besides


def _pictures(parts: Iterable[Part]) -> Iterable[Image]:
    return (part for part in parts if isinstance(part, Image))


def _without_pictures(parts: Sequence[Part]) -> tuple[Part, ...]:
    return tuple(part for part in parts if isinstance(part, Text))


def _retain(messages: Sequence[Message], keep: int) -> list[Message]:
    """The newest `keep` pictures stay; each earlier one becomes a word."""
    left = keep

    def newest_first(parts: tuple[Part, ...]) -> tuple[Part, ...]:
        nonlocal left
        kept: list[Part] = []
        for part in reversed(parts):
            if isinstance(part, Image):
                kept.append(part if left > 0 else LEFT_OUT)
                left -= 1
            else:
                kept.append(part)
        return tuple(reversed(kept))

    retained = [_map_parts(message, newest_first) for message in reversed(messages)]
    return retained[::-1]


def _map_parts(message: Message, change: Callable[[tuple[Part, ...]], tuple[Part, ...]]) -> Message:
    if isinstance(message, UserMessage | ToolMessage):
        return replace(message, parts=change(message.parts))
    return message


def _clipped(turn: Turn, clip: int | None) -> Turn:
    if clip is None:
        return turn
    results = tuple(replace(each, parts=_clip_parts(each.parts, clip)) for each in turn.results)
    calls = tuple(replace(call, arguments=_clip_value(call.arguments, clip)) for call in turn.said.calls)
    said = AssistantMessage(_clip(turn.said.text, clip), calls)
    return Turn(said, results, _clip_parts(turn.besides, clip))


def _clip_parts(parts: Sequence[Part], clip: int) -> tuple[Part, ...]:
    return tuple(Text(_clip(part.text, clip)) if isinstance(part, Text) else part for part in parts)


def _clip_value(value: Any, clip: int) -> Any:
    match value:
        case str():
            return _clip(value, clip)
        case Mapping():
            return {key: _clip_value(inner, clip) for key, inner in value.items()}
        case list():
            return [_clip_value(inner, clip) for inner in value]
        case _:
            return value


def _clip(text: str, clip: int) -> str:
    if len(text) <= clip:
        return text
    half = clip // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"
