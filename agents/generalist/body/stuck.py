"""Noticing that nothing moves: the same actions over and over, and a screen that stays as it was."""

from __future__ import annotations

import io
from collections import deque
from dataclasses import dataclass, field

import msgspec
import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pictures

from practicum.infra.desk.desk import Frame
from practicum.infra.environment import ToolCall, ToolResult

_GRID = (64, 40)
_CARET = 12
"""Grey levels a cell may differ by: a blinking caret in a cell of 20 × 20 pixels changes it by about 11."""
_COARSE = 8
"""Pixels within which two places count as the same."""

Thumbnail = NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class Trace:
    """One action and what was seen after it."""

    signature: str
    seen: Thumbnail | str

    def same(self, other: Trace) -> bool:
        return self.signature == other.signature and _alike(self.seen, other.seen)


@dataclass(slots=True)
class Watch:
    """Says how long a cycle the last actions repeat, if they repeated it `times` times with equal sights."""

    times: int = 3
    longest_cycle: int = 3
    _traces: deque[Trace] = field(default_factory=deque)

    def observe(self, call: ToolCall, result: ToolResult) -> None:
        self._traces.append(Trace(_signature(call), _seen(result)))
        while len(self._traces) > self.times * self.longest_cycle:
            self._traces.popleft()

    def cycle(self) -> int | None:
        """The length of the shortest cycle; `None` while things move."""
        traces = list(self._traces)
        for length in range(1, self.longest_cycle + 1):
            recent = traces[-length * self.times :]
            repeats = all(a.same(b) for a, b in zip(recent, recent[length:], strict=False))
            if len(recent) == length * self.times and repeats:
                return length
        return None

    def reset(self) -> None:
        self._traces.clear()


def _signature(call: ToolCall) -> str:
    rounded = {name: _round(value) for name, value in call.arguments.items()}
    return f"{call.name} {msgspec.json.encode(rounded, order='sorted').decode()}"


def _round(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        return value // _COARSE if abs(value) > 3 * _COARSE else value
    if isinstance(value, list):
        return [_round(each) for each in value]
    return value


def _seen(result: ToolResult) -> Thumbnail | str:
    if result.frames and result.error is None:
        return thumbnail(result.frames[-1])
    return f"{result.error} {result.text}"


def thumbnail(frame: Frame) -> Thumbnail:
    """The frame in 64 × 40 cells of grey, 0 to 255."""
    with Pictures.open(io.BytesIO(frame.png), formats=["PNG"]) as picture:
        small = picture.convert("L").resize(_GRID, Pictures.Resampling.BOX)
    return np.asarray(small, dtype=np.int16)


def _alike(one: Thumbnail | str, other: Thumbnail | str) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str) and one == other
    return bool(np.max(np.abs(one - other)) <= _CARET)
