"""Kind I: each provider's usage lands in disjoint buckets, and what is not said is unknown."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from practicum.agents.agent import Reply, Usage
from practicum.agents.generalist.brain import wire
from practicum.agents.generalist.brain.usage import UNKNOWN, read_usage

PAYLOADS: dict[str, tuple[dict[str, Any], Usage]] = {
    "openai chat": (
        {
            "object": "chat.completion",
            "usage": {
                "prompt_tokens": 2006,
                "completion_tokens": 300,
                "total_tokens": 2306,
                "prompt_tokens_details": {"cached_tokens": 1920, "audio_tokens": 0},
                "completion_tokens_details": {
                    "reasoning_tokens": 128,
                    "audio_tokens": 0,
                    "accepted_prediction_tokens": 0,
                    "rejected_prediction_tokens": 0,
                },
            },
        },
        Usage(input=86, output=300, cache_read=1920, reasoning=128),
    ),
    "openai responses": (
        {
            "object": "response",
            "usage": {
                "input_tokens": 328,
                "input_tokens_details": {"cached_tokens": 100},
                "output_tokens": 52,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 380,
            },
        },
        Usage(input=228, output=52, cache_read=100, reasoning=0),
    ),
    "anthropic messages": (
        {
            "type": "message",
            "usage": {
                "input_tokens": 2048,
                "cache_creation_input_tokens": 248,
                "cache_read_input_tokens": 1800,
                "output_tokens": 503,
                "cache_creation": {"ephemeral_5m_input_tokens": 148, "ephemeral_1h_input_tokens": 100},
            },
        },
        Usage(input=2048, output=503, cache_read=1800, cache_write=148, cache_write_long=100),
    ),
    "anthropic without a cache": (
        {"type": "message", "usage": {"input_tokens": 10, "output_tokens": 5}},
        Usage(input=10, output=5),
    ),
    "vllm": (
        {
            "object": "chat.completion",
            "usage": {
                "prompt_tokens": 31,
                "total_tokens": 57,
                "completion_tokens": 26,
                "prompt_tokens_details": None,
            },
        },
        Usage(input=31, output=26),
    ),
    "llama.cpp": (
        {
            "usage": {"completion_tokens": 48, "prompt_tokens": 1130, "total_tokens": 1178},
            "timings": {"cache_n": 1100, "prompt_n": 30, "predicted_n": 48, "prompt_ms": 26.1},
        },
        Usage(input=30, output=48, cache_read=1100),
    ),
    "openrouter": (
        {
            "object": "chat.completion",
            "provider": "Anthropic",
            "usage": {
                "prompt_tokens": 10339,
                "completion_tokens": 60,
                "total_tokens": 10399,
                "cost": 0.0123,
                "is_byok": False,
                "prompt_tokens_details": {
                    "cached_tokens": 10000,
                    "cache_write_tokens": 318,
                    "audio_tokens": 0,
                },
                "completion_tokens_details": {"reasoning_tokens": 0},
            },
        },
        Usage(input=21, output=60, cache_read=10000, cache_write=318, reasoning=0),
    ),
    "deepseek": (
        {
            "usage": {
                "prompt_tokens": 500,
                "completion_tokens": 9,
                "prompt_cache_hit_tokens": 448,
                "prompt_cache_miss_tokens": 52,
            }
        },
        Usage(input=52, output=9, cache_read=448),
    ),
}


@pytest.mark.parametrize("name", PAYLOADS)
def test_a_provider_s_shape_is_read_into_disjoint_buckets(name: str) -> None:
    payload, expected = PAYLOADS[name]
    assert read_usage(payload) == expected


@pytest.mark.parametrize(
    "payload",
    [{}, {"usage": None}, {"usage": []}, {"usage": {}}, {"usage": {"tokens": 3}}, {"usage": "12"}],
)
def test_no_usage_is_unknown_and_not_zero(payload: dict[str, Any]) -> None:
    assert read_usage(payload) == UNKNOWN
    assert read_usage(payload).total is None


def test_more_cached_than_prompted_contradicts_itself_and_is_unknown() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 11}}
    assert read_usage({"usage": usage}).input is None


scalars = st.one_of(st.none(), st.booleans(), st.integers(-5, 5000), st.floats(), st.text(max_size=5))
names = st.sampled_from(
    [
        *("prompt_tokens", "completion_tokens", "input_tokens", "output_tokens", "cached_tokens"),
        *("cache_creation_input_tokens", "cache_read_input_tokens", "prompt_tokens_details"),
        *("completion_tokens_details", "input_tokens_details", "cache_creation", "ephemeral_1h_input_tokens"),
    ]
)
usages = st.dictionaries(names, scalars | st.dictionaries(names, scalars, max_size=3), max_size=8)


@given(usages, st.sampled_from(["message", "response", None]))
def test_no_payload_makes_it_raise_or_count_below_zero(usage: dict[str, Any], kind: str | None) -> None:
    read = read_usage({"type": kind, "usage": usage})
    for bucket in (read.input, read.output, read.cache_read, read.cache_write, read.cache_write_long):
        assert bucket is None or bucket >= 0
    assert read.reasoning is None or (read.output is not None and read.reasoning <= read.output)


tokens = st.integers(0, 10**6)


@given(st.builds(Usage, input=tokens, output=tokens, cache_read=tokens, cache_write=tokens))
def test_what_the_server_reports_is_read_back(usage: Usage) -> None:
    assert read_usage(wire.completion(Reply("x"), usage, "m")) == usage
