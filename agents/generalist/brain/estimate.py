"""How large a prompt is: a certain upper bound for money, a close one for fitting a context."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from practicum.agents.agent import (
    AssistantMessage,
    Image,
    Message,
    Prompt,
    SystemMessage,
    Text,
    ToolMessage,
    Usage,
    UserMessage,
)
from practicum.agents.generalist.limits import Limits, image_tokens
from practicum.infra.environment import Tool

MESSAGE_TOKENS = 16
"""Role markers and separators around one message, more than any published chat template needs."""
MESSAGE_BYTES = 512
"""JSON around one message, part or call in a request body."""


@dataclass(frozen=True, slots=True)
class Load:
    """What one request weighs: UTF-8 bytes of text, messages, pictures and their tokens, bytes of JSON."""

    text: int
    messages: int
    images: int
    image_tokens: int
    body: int

    def tokens(self, bytes_per_token: float) -> int:
        return math.ceil(self.text / bytes_per_token) + self.messages * MESSAGE_TOKENS + self.image_tokens


def load(prompt: Prompt, limits: Limits) -> Load:
    """What the prompt weighs by the rules of a model."""
    texts = [*_texts(prompt.messages), *map(_declaration, prompt.tools)]
    images = [part for part in _parts(prompt.messages) if isinstance(part, Image)]
    pieces = len(texts) + len(images) + len(prompt.messages)
    return Load(
        text=sum(len(text.encode("utf-8", "surrogatepass")) for text in texts),
        messages=len(prompt.messages) + len(prompt.tools),
        images=len(images),
        image_tokens=sum(image_tokens(limits.image_rule, image.width, image.height) for image in images),
        body=sum(len(json.dumps(text)) for text in texts)
        + sum(4 * math.ceil(len(image.png) / 3) for image in images)
        + pieces * MESSAGE_BYTES,
    )


def worst_case(prompt: Prompt, limits: Limits) -> Usage:
    """No tokenizer makes more than one token of a byte, so this cannot be overshot by the text."""
    return Usage(input=load(prompt, limits).tokens(1.0), output=prompt.max_output)


def fits(prompt: Prompt, limits: Limits) -> bool:
    """Under every limit of the model, its answer included."""
    weight = load(prompt, limits)
    return (
        weight.images <= limits.images
        and weight.body <= limits.request_bytes
        and weight.tokens(limits.bytes_per_token) + prompt.max_output <= limits.context
    )


def _parts(messages: Sequence[Message]) -> Iterable[Text | Image]:
    for message in messages:
        if isinstance(message, UserMessage | ToolMessage):
            yield from message.parts


def _texts(messages: Sequence[Message]) -> Iterable[str]:
    for message in messages:
        match message:
            case SystemMessage(text):
                yield text
            case AssistantMessage(text, calls):
                yield text
                for call in calls:
                    yield f"{call.id}{call.name}{msgspec.json.encode(call.arguments).decode()}"
            case UserMessage(parts) | ToolMessage(_, parts):
                yield from (part.text for part in parts if isinstance(part, Text))


def _declaration(tool: Tool) -> str:
    return f"{tool.name}{tool.description}{msgspec.json.encode(tool.parameters).decode()}"
