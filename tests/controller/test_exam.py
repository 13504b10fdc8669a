"""The exam: order of billing and reading, and limits that hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from practicum.agents.agent import (
    Cancelled,
    Ending,
    ExamOver,
    ModelFault,
    Prompt,
    RawReply,
    Reply,
    Step,
    Usage,
)
from practicum.controller.exam import Sitting
from practicum.infra.environment import Tool, ToolCall, ToolResult
from practicum.tasks.spec import Limits


@dataclass
class Diary:
    """Model, meter, recorder, environment and clock in one, noting the order of what happens."""

    usage: Usage = field(default_factory=lambda: Usage(input=10, output=1))
    fault: ModelFault | None = None
    seconds_a_call: float = 1.0
    entries: list[str] = field(default_factory=list)
    time: float = 0.0
    timeouts: list[float] = field(default_factory=list)
    name: str = "diary"

    def worst_case(self, prompt: Prompt) -> Usage:
        return Usage(input=100, output=prompt.max_output)

    def complete(self, prompt: Prompt, *, timeout: float) -> RawReply:
        self.entries.append("complete")
        self.timeouts.append(timeout)
        self.time += self.seconds_a_call
        if self.fault:
            raise self.fault
        return RawReply(self.usage, {})

    def parse(self, raw: RawReply) -> Reply:
        self.entries.append("parse")
        return Reply("")

    def reserve(self, model: str, worst: Usage, purpose: str) -> Diary:
        self.entries.append("reserve")
        return self

    def charge(self, usage: Usage) -> int | None:
        self.entries.append(f"charge {usage.input}")
        return None if usage.input is None else usage.input

    def release(self) -> None:
        self.entries.append("release")

    def step(self, step: Step) -> None:
        self.entries.append("record")

    def tools(self) -> tuple[Tool, ...]:
        return ()

    def call(self, call: ToolCall) -> ToolResult:
        self.time += self.seconds_a_call
        return ToolResult("ok")

    def collect(self, into: Path) -> tuple[str, ...]:
        return ()

    def clock(self) -> float:
        return self.time


def exam(diary: Diary, limits: Limits = Limits()) -> Sitting:  # noqa: B008 - frozen
    return Sitting("do it", (), 0, diary, limits, diary, diary, clock=diary.clock)


CALL = ToolCall("1", "bash", {})


def test_what_was_billed_is_booked_before_anybody_reads_the_reply():
    diary = Diary()
    exam(diary).ask(diary, Prompt(()))
    assert diary.entries == ["reserve", "complete", "charge 10", "parse", "record"]


@pytest.mark.parametrize(("maybe", "booked"), [(True, "charge None"), (False, "release")])
def test_a_call_that_failed_is_released_unless_it_may_have_been_billed(maybe, booked):
    diary = Diary(fault=ModelFault("x", "y", maybe_billed=maybe))
    with pytest.raises(ModelFault):
        exam(diary).ask(diary, Prompt(()))
    assert diary.entries == ["reserve", "complete", booked]


def test_unknown_usage_stays_unknown_and_is_never_zero():
    diary = Diary(usage=Usage(input=None, output=None))
    sitting = exam(diary)
    sitting.ask(diary, Prompt(()))
    diary.usage = Usage(input=5, output=5)
    sitting.ask(diary, Prompt(()))
    spent = sitting.spent()
    assert (spent.tokens, spent.nano_dollars, spent.steps) == (None, None, 2)


@given(steps=st.integers(0, 12), asks=st.integers(0, 15), calls=st.integers(0, 15))
def test_no_more_steps_are_taken_than_the_limit_says(steps, asks, calls):
    diary = Diary()
    sitting = exam(diary, Limits(steps=steps, seconds=None))
    ended = None
    try:
        for _ in range(asks):
            sitting.ask(diary, Prompt(()))
        for _ in range(calls):
            sitting.call(CALL)
    except ExamOver as over:
        ended = over.ending
    assert sitting.tally.model_calls == min(asks, steps)
    assert sitting.spent().steps <= steps
    assert (ended is Ending.STEPS) == (max(asks, calls) > steps)


def test_a_model_is_given_no_more_time_than_is_left():
    diary = Diary(seconds_a_call=4.0)
    sitting = exam(diary, Limits(steps=None, seconds=10.0))
    for _ in range(3):
        sitting.ask(diary, Prompt(()))
    with pytest.raises(ExamOver) as over:
        sitting.ask(diary, Prompt(()))
    assert over.value.ending is Ending.TIME
    assert diary.timeouts == [10.0, 6.0, 2.0]


def test_an_agent_that_does_not_listen_cannot_go_on():
    diary = Diary()
    sitting = exam(diary, Limits(steps=1, seconds=None))
    sitting.call(CALL)
    for _ in range(3):
        with pytest.raises(ExamOver):
            sitting.call(CALL)
    with pytest.raises(ExamOver) as over:
        sitting.ask(diary, Prompt(()))
    assert over.value.ending is Ending.STEPS
    assert sitting.spent().steps == 1


def test_being_stopped_comes_before_any_further_step():
    diary = Diary()
    sitting = exam(diary)
    sitting.stopped = lambda: True
    with pytest.raises(Cancelled):
        sitting.ask(diary, Prompt(()))
    with pytest.raises(Cancelled):
        sitting.call(CALL)
    assert diary.entries == []
