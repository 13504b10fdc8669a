"""Reading what a call used out of each provider's payload, into disjoint buckets; unknown is `None`.

Shapes: OpenAI chat completions and responses, Anthropic messages, vLLM, llama.cpp, OpenRouter, DeepSeek.
All but Anthropic count cached tokens inside their input tokens; Anthropic counts them beside.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from practicum.agents.agent import Usage

UNKNOWN = Usage(None, None, None, None, None)


def read_usage(payload: Mapping[str, Any]) -> Usage:
    """The usage of one answer. Never raises; what contradicts itself is unknown."""
    usage = payload.get("usage")
    if not isinstance(usage, Mapping):
        return UNKNOWN
    if "prompt_tokens" in usage:
        return _chat(usage, payload)
    if "input_tokens" in usage and payload.get("type") == "message":
        return _anthropic(usage)
    if "input_tokens" in usage:
        return _responses(usage)
    return UNKNOWN


def _chat(usage: Mapping[str, Any], payload: Mapping[str, Any]) -> Usage:
    details = _mapping(usage, "prompt_tokens_details")
    read = _first(
        _count(details, "cached_tokens"),
        _count(usage, "prompt_cache_hit_tokens"),
        _count(_mapping(payload, "timings"), "cache_n"),
    )
    return _inclusive(
        _count(usage, "prompt_tokens"),
        read,
        _first(_count(details, "cache_write_tokens"), 0),
        _count(usage, "completion_tokens"),
        _count(_mapping(usage, "completion_tokens_details"), "reasoning_tokens"),
    )


def _responses(usage: Mapping[str, Any]) -> Usage:
    details = _mapping(usage, "input_tokens_details")
    return _inclusive(
        _count(usage, "input_tokens"),
        _count(details, "cached_tokens"),
        _first(_count(details, "cache_write_tokens"), 0),
        _count(usage, "output_tokens"),
        _count(_mapping(usage, "output_tokens_details"), "reasoning_tokens"),
    )


def _anthropic(usage: Mapping[str, Any]) -> Usage:
    written = _first(_count(usage, "cache_creation_input_tokens"), 0)
    long = _first(_count(_mapping(usage, "cache_creation"), "ephemeral_1h_input_tokens"), 0)
    return Usage(
        input=_count(usage, "input_tokens"),
        output=_count(usage, "output_tokens"),
        cache_read=_first(_count(usage, "cache_read_input_tokens"), 0),
        cache_write=written - long if written is not None and long is not None and long <= written else None,
        cache_write_long=long,
    )


def _inclusive(
    prompt: int | None, read: int | None, written: int | None, output: int | None, reasoning: int | None
) -> Usage:
    """Buckets where cached tokens are counted inside the prompt tokens; cache fields may be absent."""
    read, written = read or 0, written or 0
    fresh = None if prompt is None or read + written > prompt else prompt - read - written
    if reasoning is not None and (output is None or reasoning > output):
        reasoning = None
    return Usage(input=fresh, output=output, cache_read=read, cache_write=written, reasoning=reasoning)


def _count(mapping: Mapping[str, Any], key: str) -> int | None:
    value = mapping.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _mapping(mapping: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = mapping.get(key)
    return value if isinstance(value, Mapping) else {}


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)
