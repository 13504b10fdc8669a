"""A model behind an OpenAI-compatible chat endpoint."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import openai

from practicum.agents.agent import ModelFault, Prompt, RawReply, Reply, Usage
from practicum.agents.generalist.brain import estimate, wire
from practicum.agents.generalist.brain.faults import Backoff, FaultKind, Retryable, typed_faults
from practicum.agents.generalist.brain.usage import read_usage
from practicum.agents.generalist.limits import Limits

MAX_REPLY_BYTES = 32 << 20


@dataclass(frozen=True, slots=True)
class ChatBrain:
    """`extra` goes into every request body (temperature, reasoning effort, …).

    The client must make no retries of its own: each attempt here is one request, and only attempts that the
    provider cannot have billed are repeated.
    """

    name: str
    client: openai.OpenAI = field(repr=False)
    limits: Limits
    extra: Mapping[str, Any] = field(default_factory=dict)
    max_tokens_key: str = "max_completion_tokens"
    backoff: Backoff = field(default_factory=Backoff)
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    jitter: Random = field(default_factory=Random, repr=False)

    def worst_case(self, prompt: Prompt) -> Usage:
        return estimate.worst_case(prompt, self.limits)

    def complete(self, prompt: Prompt, *, timeout: float) -> RawReply:
        """One answer within `timeout` seconds, retries included. Raises `ModelFault`."""
        deadline = self.clock() + timeout
        body = self._body(prompt)
        for attempt in range(1, self.backoff.attempts + 1):
            try:
                return self._attempt(body, deadline)
            except Retryable as failed:
                delay = self.backoff.delay(attempt, failed.after, self.jitter.random())
                if attempt == self.backoff.attempts or self.clock() + delay >= deadline:
                    raise failed.fault from failed
                self.sleep(delay)
        raise ModelFault(FaultKind.SERVER, "no attempt was allowed")

    def parse(self, raw: RawReply) -> Reply:
        return wire.reply(raw.payload)

    def _body(self, prompt: Prompt) -> dict[str, Any]:
        body = wire.request(self.name, prompt)
        body[self.max_tokens_key] = body.pop("max_completion_tokens")
        return body | dict(self.extra)

    def _attempt(self, body: Mapping[str, Any], deadline: float) -> RawReply:
        left = max(deadline - self.clock(), 0.001)
        create: Any = self.client.with_options(
            timeout=left, max_retries=0
        ).chat.completions.with_streaming_response.create
        with typed_faults(), create(**_known(body)) as response:
            content = self._read(response, deadline)
        payload = _decode(content)
        problem = wire.envelope_error(payload)
        if problem is not None:
            raise ModelFault(FaultKind.BAD_REPLY, problem, maybe_billed=True)
        return RawReply(read_usage(payload), payload)

    def _read(self, response: Any, deadline: float) -> bytes:
        """The whole body, as it trickles in, within the deadline."""
        content = bytearray()
        for chunk in response.iter_bytes():
            content += chunk
            if self.clock() > deadline:
                raise ModelFault(FaultKind.TIMEOUT, "the answer did not end in time", maybe_billed=True)
            if len(content) > MAX_REPLY_BYTES:
                raise ModelFault(FaultKind.BAD_REPLY, "the answer is too long", maybe_billed=True)
        return bytes(content)


def _known(body: Mapping[str, Any]) -> dict[str, Any]:
    """The client checks the names of its own parameters; everything else goes through as it is."""
    named = {key: body[key] for key in ("model", "messages", "tools") if key in body}
    return named | {"extra_body": {key: value for key, value in body.items() if key not in named}}


def _decode(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ModelFault(
            FaultKind.BAD_REPLY, f"the answer is not JSON: {error}", maybe_billed=True
        ) from error


def connect(base_url: str | None, api_key: str) -> openai.OpenAI:
    """A client for the brain: one request an attempt."""
    return openai.OpenAI(api_key=api_key, base_url=base_url, max_retries=0)
