"""The OpenAI chat completions format, both ways: prompts out, answers in. Nothing here raises for what a
model wrote."""

from __future__ import annotations

import base64
import binascii
import io
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from PIL import Image as Pictures
from PIL import UnidentifiedImageError

from practicum.agents.agent import (
    AssistantMessage,
    Image,
    MalformedCall,
    Message,
    Prompt,
    Reply,
    SystemMessage,
    Text,
    ToolMessage,
    Usage,
    UserMessage,
)
from practicum.infra.environment import Tool, ToolCall

JSONObject = dict[str, Any]
Part = Text | Image
_DATA_URL = "data:image/png;base64,"


class BadRequest(ValueError):
    """A request body that is no chat completion request."""


def request(model: str, prompt: Prompt) -> JSONObject:
    """The request body for a prompt."""
    body: JSONObject = {
        "model": model,
        "messages": list(_messages(prompt.messages)),
        "max_completion_tokens": prompt.max_output,
    }
    if prompt.tools:
        body["tools"] = [_declare(tool) for tool in prompt.tools]
    return body


def read_request(body: Any) -> Prompt:
    """The prompt in a request body: the other end's view. Raises `BadRequest`."""
    try:
        messages = tuple(_read_message(each) for each in body["messages"])
        tools = tuple(
            Tool(
                each["function"]["name"],
                each["function"].get("description", ""),
                each["function"].get("parameters", {}),
            )
            for each in body.get("tools") or ()
        )
        max_output = int(body.get("max_completion_tokens") or body.get("max_tokens") or 4096)
    except (KeyError, TypeError, AttributeError, ValueError, binascii.Error, UnidentifiedImageError) as error:
        raise BadRequest(f"not a chat completion request: {type(error).__name__} {error}") from error
    return Prompt(messages, tools, max_output)


def reply(payload: Mapping[str, Any]) -> Reply:
    """A model's answer out of a payload whose envelope `envelope_error` found sound."""
    choice = payload["choices"][0]
    message = choice["message"]
    calls, malformed = _read_calls(message)
    refusal = message.get("refusal")
    finish = choice.get("finish_reason")
    return Reply(
        text=clean(_text(message.get("content")) or (refusal if isinstance(refusal, str) else "")),
        calls=calls,
        malformed=malformed,
        refused=bool(refusal) or finish == "content_filter",
        cut=finish == "length",
        thought=clean(_text(message.get("reasoning_content") or message.get("reasoning"))),
    )


def envelope_error(payload: Any) -> str | None:
    """Why this is no chat completion, by the endpoint's doing and not by the model's; `None` if it is one."""
    if not isinstance(payload, Mapping):
        return "the answer is not a JSON object"
    if payload.get("error"):
        return f"the endpoint answered with an error: {json.dumps(payload['error'])[:500]}"
    choices = payload.get("choices")
    if not isinstance(choices, Sequence) or isinstance(choices, str) or not choices:
        return "the answer has no choices"
    if not isinstance(choices[0], Mapping) or not isinstance(choices[0].get("message"), Mapping):
        return "the first choice has no message"
    return None


def completion(answer: Reply, usage: Usage, model: str) -> JSONObject:
    """The payload a server sends for an answer; `reply` reads it back."""
    message: JSONObject = {"role": "assistant", "content": None if answer.refused else answer.text}
    if answer.refused:
        message["refusal"] = answer.text or "refused"
    if answer.thought:
        message["reasoning_content"] = answer.thought
    if answer.calls or answer.malformed:
        message["tool_calls"] = [
            *(_call(call.id, call.name, _dump(call.arguments)) for call in answer.calls),
            *(_call(call.id, call.name, call.span) for call in answer.malformed),
        ]
    finish = "length" if answer.cut else "tool_calls" if "tool_calls" in message else "stop"
    return {
        "id": "chatcmpl-local",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": _usage(usage),
    }


def _usage(usage: Usage) -> JSONObject | None:
    if usage.total is None:
        return None
    cached = (usage.cache_read or 0) + (usage.cache_write or 0) + (usage.cache_write_long or 0)
    return {
        "prompt_tokens": (usage.input or 0) + cached,
        "completion_tokens": usage.output,
        "total_tokens": usage.total,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": (usage.cache_write or 0) + (usage.cache_write_long or 0),
        },
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def clean(text: str) -> str:
    """Lone surrogates, which JSON can carry and UTF-8 cannot, become replacement characters."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _messages(messages: Sequence[Message]) -> Iterable[JSONObject]:
    """Tool messages carry text only in this format: their pictures follow in one user message."""
    pictures: list[Part] = []
    for message in messages:
        if pictures and not isinstance(message, ToolMessage):
            yield {"role": "user", "content": [_part(part) for part in pictures]}
            pictures = []
        match message:
            case SystemMessage(text):
                yield {"role": "system", "content": text}
            case UserMessage(parts):
                yield {"role": "user", "content": [_part(part) for part in parts]}
            case AssistantMessage():
                yield _assistant(message)
            case ToolMessage(call_id, parts):
                text = "\n".join(part.text for part in parts if isinstance(part, Text))
                pictures.extend(part for part in parts if isinstance(part, Image))
                yield {"role": "tool", "tool_call_id": call_id, "content": text or "Done."}
    if pictures:
        yield {"role": "user", "content": [_part(part) for part in pictures]}


def _assistant(message: AssistantMessage) -> JSONObject:
    body: JSONObject = {"role": "assistant", "content": message.text}
    if message.calls:
        body["tool_calls"] = [_call(call.id, call.name, _dump(call.arguments)) for call in message.calls]
    return body


def _part(part: Part) -> JSONObject:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    url = _DATA_URL + base64.b64encode(part.png).decode("ascii")
    return {"type": "image_url", "image_url": {"url": url, "detail": "high"}}


def _call(call_id: str, name: str, arguments: str) -> JSONObject:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _dump(arguments: Mapping[str, Any]) -> str:
    return msgspec.json.encode(arguments).decode()


def _declare(tool: Tool) -> JSONObject:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.parameters),
        },
    }


def _read_calls(message: Mapping[str, Any]) -> tuple[tuple[ToolCall, ...], tuple[MalformedCall, ...]]:
    listed = message.get("tool_calls")
    entries = listed if isinstance(listed, list) else []
    read = [_read_call(entry, index) for index, entry in enumerate(entries, 1)]
    return (
        tuple(call for call in read if isinstance(call, ToolCall)),
        tuple(call for call in read if isinstance(call, MalformedCall)),
    )


def _read_call(entry: Any, index: int) -> ToolCall | MalformedCall:
    function = entry.get("function") if isinstance(entry, Mapping) else None
    if not isinstance(function, Mapping):
        return MalformedCall(f"call_{index}", "", clean(str(entry))[:500], "the call names no function")
    given = entry.get("id")
    call_id = clean(given) if isinstance(given, str) and given else f"call_{index}"
    name = clean(str(function.get("name") or ""))
    arguments = function.get("arguments")
    if isinstance(arguments, Mapping):
        arguments = json.dumps(arguments)
    span = clean(arguments if isinstance(arguments, str) else "" if arguments is None else str(arguments))
    try:
        read = json.loads(span) if span.strip() else {}
    except (ValueError, RecursionError) as error:
        return MalformedCall(call_id, name, span, f"the arguments are not JSON: {error}")
    if not isinstance(read, dict):
        return MalformedCall(call_id, name, span, "the arguments are not a JSON object")
    if not _plain(read):
        return MalformedCall(call_id, name, span, "the arguments hold a number that JSON has no place for")
    return ToolCall(call_id, name, read)


def _plain(value: Any) -> bool:
    """Can be written as standard JSON in UTF-8 again, which NaN, infinities and lone surrogates cannot."""
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return False
    return True


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        pieces = (part.get("text") for part in content if isinstance(part, Mapping))
        return "\n".join(piece for piece in pieces if isinstance(piece, str))
    return ""


def _read_message(message: Mapping[str, Any]) -> Message:
    role, content = message["role"], message.get("content")
    match role:
        case "system" | "developer":
            return SystemMessage(_text(content))
        case "assistant":
            calls, _ = _read_calls(message)
            return AssistantMessage(_text(content), calls)
        case "tool":
            return ToolMessage(message["tool_call_id"], (Text(_text(content)),))
        case "user":
            return UserMessage(tuple(_read_parts(content)))
        case _:
            raise ValueError(f"no role {role!r}")


def _read_parts(content: Any) -> Iterable[Part]:
    if isinstance(content, str):
        yield Text(content)
        return
    for part in content:
        if part["type"] == "text":
            yield Text(part["text"])
        else:
            png = base64.b64decode(part["image_url"]["url"].removeprefix(_DATA_URL), validate=True)
            with Pictures.open(io.BytesIO(png)) as picture:
                yield Image(png, *picture.size)
