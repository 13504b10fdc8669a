"""Models lent to worlds: who plays a workplace or judges a transcript is paid for under its own purpose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from practicum.agents.agent import (
    AssistantMessage,
    Bill,
    Message,
    Meter,
    ModelFault,
    Prompt,
    SystemMessage,
    Text,
    Usage,
    UserMessage,
)
from practicum.agents.generalist.brain.chat import ChatBrain, connect
from practicum.agents.generalist.limits import limits_of
from practicum.infra.environment import JSON
from practicum.infra.errors import WorldFault
from practicum.infra.world.backends.chat import Role, Said

WORLD = "world"
JUDGE = "judge"
_UNKNOWN = Usage(input=None, output=None, cache_read=None, cache_write=None, cache_write_long=None)


@dataclass(frozen=True, slots=True)
class Lent:
    """A `Chat` for worlds over a model. `constrained` asks the endpoint to keep to the JSON schema."""

    model: ChatBrain
    meter: Meter
    purpose: str = WORLD
    constrained: bool = True
    max_output: int = 4096
    timeout: float = 300.0

    def __call__(self, messages: Sequence[Said], schema: JSON) -> str:
        """Raises `WorldFault` when the endpoint fails, `ExamOver` when a cap leaves no money for it."""
        prompt = Prompt(tuple(map(_message, messages)), max_output=self.max_output)
        model = replace(self.model, extra={**self.model.extra, **self._format(schema)})
        bill = self.meter.reserve(model.name, model.worst_case(prompt), self.purpose)
        try:
            raw = model.complete(prompt, timeout=self.timeout)
        except ModelFault as fault:
            if fault.maybe_billed:
                bill.charge(_UNKNOWN)
            else:
                bill.release()
            raise WorldFault(f"the model that plays the {self.purpose} failed: {fault}") from fault
        bill.charge(raw.usage)
        return model.parse(raw).text

    def _format(self, schema: JSON) -> Mapping[str, Any]:
        if not self.constrained:
            return {}
        named = {"name": "reply", "schema": schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": named}}


def _message(said: Said) -> Message:
    match said.role:
        case Role.SYSTEM:
            return SystemMessage(said.text)
        case Role.ASSISTANT:
            return AssistantMessage(said.text)
        case Role.USER:
            return UserMessage((Text(said.text),))


def endpoint(name: str, base_url: str | None, api_key: str, **extra: Any) -> ChatBrain:
    """Any OpenAI-compatible endpoint as a model; `extra` goes into every request."""
    return ChatBrain(name=name, client=connect(base_url, api_key), limits=limits_of(name), extra=extra)


@dataclass(slots=True)
class Count(Meter):
    """A meter without a cap, for work outside a run: it only counts. Tokens turn `None` once unknown."""

    calls: dict[str, int] = field(default_factory=dict)
    tokens: int | None = 0

    def reserve(self, model: str, worst: Usage, purpose: str) -> Bill:
        del model, worst
        self.calls[purpose] = self.calls.get(purpose, 0) + 1
        return _Tab(self)


@dataclass(slots=True)
class _Tab(Bill):
    count: Count

    def charge(self, usage: Usage) -> int | None:
        total = usage.total
        known = self.count.tokens
        self.count.tokens = None if total is None or known is None else known + total
        return None

    def release(self) -> None:
        """Nothing was used, and nothing was counted."""
