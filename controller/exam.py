"""The exam an agent sits: the one place where models are asked, tools are called, and limits are kept.

reserve → complete → charge → parse. What was billed is on the record before anybody tries to read the reply.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from practicum.agents.agent import (
    Agent,
    Bill,
    Cancelled,
    Ending,
    ExamOver,
    Meter,
    Model,
    ModelFault,
    ModelStep,
    NoteStep,
    Prompt,
    RawReply,
    Recorder,
    Reply,
    ToolStep,
    Usage,
)
from practicum.controller.outcome import Spent
from practicum.infra.environment import Environment, Tool, ToolCall, ToolResult
from practicum.infra.errors import InfraError
from practicum.tasks.spec import Instance, Limits

UNKNOWN = Usage(input=None, output=None, cache_read=None, cache_write=None, cache_write_long=None)
MODEL_TIMEOUT = 600.0
Clock = Callable[[], float]


@dataclass(slots=True)
class Tally:
    """What has been used so far; tokens and money turn `None` for good once one call does not say."""

    model_seconds: float = 0.0
    tool_seconds: float = 0.0
    model_calls: int = 0
    tools: Counter[str] = field(default_factory=Counter)
    tokens: int | None = 0
    nano_dollars: int | None = 0

    @property
    def steps(self) -> int:
        return max(self.model_calls, self.tools.total())

    def spent(self, seconds: float) -> Spent:
        return Spent(
            seconds=seconds,
            model_seconds=self.model_seconds,
            tool_seconds=self.tool_seconds,
            steps=self.steps,
            tokens=self.tokens,
            nano_dollars=self.nano_dollars,
            tools=dict(self.tools),
        )


@dataclass(slots=True)
class Sitting:
    """The `Exam` of one attempt. `stopped` tells that the controller was told to stop now.

    `over` is the ending once the exam is over: an agent that swallows `ExamOver` does not change it.
    """

    instruction: str
    tools: Sequence[Tool]
    seed: int
    environment: Environment
    limits: Limits
    meter: Meter
    recorder: Recorder
    stopped: Callable[[], bool] = lambda: False
    clock: Clock = time.monotonic
    tally: Tally = field(default_factory=Tally)
    over: Ending | None = None
    started: float = field(init=False)

    @classmethod
    def of(
        cls, instance: Instance, environment: Environment, limits: Limits, meter: Meter, recorder: Recorder
    ) -> Sitting:
        return cls(
            instruction=instance.instruction,
            tools=environment.tools(),
            seed=instance.seed,
            environment=environment,
            limits=limits,
            meter=meter,
            recorder=recorder,
        )

    def __post_init__(self) -> None:
        self.started = self.clock()

    def seat(self, agent: Agent) -> Ending:
        """Let the agent work until it is done or the exam is over."""
        try:
            agent.sit(self)
        except ExamOver as over:
            return self.over or over.ending
        return self.over or Ending.DONE

    def ask(self, model: Model, prompt: Prompt, *, purpose: str = "agent") -> Reply:
        """Raises `ExamOver`, `Cancelled`, `ModelFault`, and `OSError` where the record cannot be written."""
        self._admit(self.tally.model_calls)
        bill = self._reserve(model, prompt, purpose)
        begun = self.clock()
        raw = self._complete(model, prompt, bill)
        cost = bill.charge(raw.usage)
        seconds = self.clock() - begun
        self._count_model(raw.usage, cost, seconds)
        reply = model.parse(raw)
        self.recorder.step(
            ModelStep(
                model=model.name,
                reply=reply,
                usage=raw.usage,
                cost=cost,
                seconds=seconds,
                prompt_messages=len(prompt.messages),
                purpose=purpose,
            )
        )
        return reply

    def call(self, call: ToolCall) -> ToolResult:
        """Raises `ExamOver`, `Cancelled`, `InfraError`, and `OSError` where the record cannot be written."""
        self._admit(self.tally.tools.total())
        begun = self.clock()
        try:
            result = self.environment.call(call)
        except InfraError as error:
            self.note("exam", f"the environment failed in {call.name} {dict(call.arguments)}: {error}")
            raise
        seconds = self.clock() - begun
        self.tally.tools[call.name] += 1
        self.tally.tool_seconds += seconds
        self.recorder.step(ToolStep(call, result, seconds))
        return result

    def note(self, layer: str, text: str) -> None:
        self.recorder.step(NoteStep(layer, text))

    def give_up(self, reason: str) -> None:
        self._end(ExamOver(Ending.GAVE_UP, reason))

    def spent(self) -> Spent:
        return self.tally.spent(self.elapsed())

    def elapsed(self) -> float:
        return self.clock() - self.started

    def _reserve(self, model: Model, prompt: Prompt, purpose: str) -> Bill:
        try:
            return self.meter.reserve(model.name, model.worst_case(prompt), purpose)
        except ExamOver as over:
            self._end(over)

    def _end(self, over: ExamOver) -> NoReturn:
        self.over = self.over or over.ending
        self.recorder.step(NoteStep("exam", str(over)))
        raise over

    def _complete(self, model: Model, prompt: Prompt, bill: Bill) -> RawReply:
        try:
            return model.complete(prompt, timeout=self._remaining(MODEL_TIMEOUT))
        except ModelFault as fault:
            if fault.maybe_billed:
                self._count_model(UNKNOWN, bill.charge(UNKNOWN), 0.0)
            else:
                bill.release()
            raise

    def _admit(self, used: int) -> None:
        if self.stopped():
            raise Cancelled
        if self.over is not None:
            raise ExamOver(self.over)
        if self.limits.seconds is not None and self.elapsed() >= self.limits.seconds:
            self._end(ExamOver(Ending.TIME, f"{self.limits.seconds:g} s are over"))
        if self.limits.steps is not None and used >= self.limits.steps:
            self._end(ExamOver(Ending.STEPS, f"{self.limits.steps} steps are used"))

    def _remaining(self, most: float) -> float:
        if self.limits.seconds is None:
            return most
        return max(0.001, min(most, self.limits.seconds - self.elapsed()))

    def _count_model(self, usage: Usage, cost: int | None, seconds: float) -> None:
        self.tally.model_calls += 1
        self.tally.model_seconds += seconds
        self.tally.tokens = _plus(self.tally.tokens, usage.total)
        self.tally.nano_dollars = _plus(self.tally.nano_dollars, cost)


def _plus(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second
