"""What an attempt had used, counted again from its steps, where its worker died before it could say."""

from __future__ import annotations

from collections import Counter

import msgspec

from practicum.controller.outcome import Spent
from practicum.controller.records import ModelRecord, StepRecord, ToolRecord
from practicum.controller.store import Attempt


def spent_so_far(attempt: Attempt) -> Spent:
    """Seconds are those of the steps alone. A step the crash tore is not counted."""
    steps = list(_readable(attempt))
    asks = [step for step in steps if isinstance(step, ModelRecord)]
    calls = [step for step in steps if isinstance(step, ToolRecord)]
    tools = Counter(step.call.name for step in calls)
    model_seconds, tool_seconds = sum(step.seconds for step in asks), sum(step.seconds for step in calls)
    return Spent(
        seconds=model_seconds + tool_seconds,
        model_seconds=model_seconds,
        tool_seconds=tool_seconds,
        steps=max(len(asks), len(calls)),
        tokens=_sum([step.usage.total for step in asks]),
        nano_dollars=_sum([step.cost for step in asks]),
        tools=dict(tools),
    )


def _sum(parts: list[int | None]) -> int | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _readable(attempt: Attempt) -> list[StepRecord]:
    steps: list[StepRecord] = []
    try:
        steps.extend(attempt.steps())
    except msgspec.MsgspecError:  # the crash spoiled a line: what stands before it counts
        return steps
    return steps
