"""The chat format: nothing a model writes makes reading it raise; pictures survive the way there and back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pictures

from practicum.agents.agent import (
    AssistantMessage,
    Image,
    Prompt,
    Reply,
    SystemMessage,
    Text,
    ToolMessage,
    Usage,
    UserMessage,
)
from practicum.agents.generalist.brain import wire
from practicum.agents.generalist.eyes.picture import encode
from practicum.infra.environment import Tool, ToolCall

PNG = encode(Pictures.new("RGB", (6, 4), "red"))


def payload(message: dict[str, Any], finish: str = "stop") -> dict[str, Any]:
    return {"choices": [{"message": message, "finish_reason": finish}]}


def called(arguments: Any, name: str = "computer") -> dict[str, Any]:
    return payload({"tool_calls": [{"id": "c", "function": {"name": name, "arguments": arguments}}]})


def test_pictures_of_tools_follow_in_a_user_message_after_all_results() -> None:
    """The format has no pictures in tool messages, and no message between calls and their results."""
    prompt = Prompt(
        (
            SystemMessage("s"),
            UserMessage((Text("do"), Image(PNG, 6, 4))),
            AssistantMessage("", (ToolCall("a", "t", {}), ToolCall("b", "t", {}))),
            ToolMessage("a", (Text("one"), Image(PNG, 6, 4))),
            ToolMessage("b", (Text("two"),)),
            UserMessage((Text("next"),)),
        ),
        (Tool("t", "d", {"type": "object"}),),
        99,
    )
    body = wire.request("m", prompt)
    assert [each["role"] for each in body["messages"]] == [
        *("system", "user", "assistant", "tool", "tool", "user", "user")
    ]
    back = wire.read_request(json.loads(json.dumps(body)))
    assert back.tools == prompt.tools
    assert back.max_output == 99
    assert back.messages[:3] == prompt.messages[:3]
    assert back.messages[5] == UserMessage((Image(PNG, 6, 4),))


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=10)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
keys = st.sampled_from(["content", "tool_calls", "refusal", "reasoning", "reasoning_content", "role", "id"])


@given(st.dictionaries(keys, json_values), json_values)
def test_no_message_makes_reading_raise(message: dict[str, Any], finish: Any) -> None:
    read = wire.reply({"choices": [{"message": message, "finish_reason": finish}]})
    json.dumps(read.text).encode()


@given(st.text())
def test_any_arguments_are_a_call_or_a_malformed_one_with_its_span(arguments: str) -> None:
    read = wire.reply(called(arguments))
    assert len(read.calls) + len(read.malformed) == 1
    for bad in read.malformed:
        assert bad.span == wire.clean(arguments)
        assert bad.reason


@pytest.mark.parametrize(
    "arguments", ["[1]", "3", "{", '{"x": NaN}', r'{"x": "\ud800"}', "{" * 100_000, '{"x": 1e999}']
)
def test_arguments_that_are_no_plain_object_are_malformed(arguments: str) -> None:
    read = wire.reply(called(arguments))
    assert not read.calls
    assert read.malformed


def test_arguments_that_some_servers_send_as_an_object_are_read() -> None:
    assert wire.reply(called({"x": 0})).calls[0].arguments == {"x": 0}


def test_refusals_and_cuts_are_told_apart() -> None:
    assert wire.reply(payload({"content": None, "refusal": "I cannot"})) == Reply("I cannot", refused=True)
    assert wire.reply(payload({"content": ""}, "content_filter")).refused
    cut = wire.reply(payload({"content": "I wi"}, "length"))
    assert cut.cut
    assert not cut.refused


calls = st.builds(
    ToolCall,
    st.text(min_size=1, max_size=5),
    st.sampled_from(["computer", "bash"]),
    st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=9), max_size=3),
)


@given(st.builds(Reply, st.text(), st.lists(calls, max_size=3).map(tuple), cut=st.booleans()))
def test_an_answer_is_read_as_it_was_given(answer: Reply) -> None:
    read = wire.reply(json.loads(json.dumps(wire.completion(answer, Usage(1, 1), "m"))))
    assert read.text == wire.clean(answer.text)
    assert read.calls == answer.calls
    assert read.cut == answer.cut


@pytest.mark.parametrize(
    "body",
    [None, [], {}, {"error": {"message": "no credit"}}, {"choices": []}, {"choices": [{}]}, {"choices": "x"}],
)
def test_an_envelope_that_is_no_completion_is_the_endpoint_s_fault(body: Any) -> None:
    assert wire.envelope_error(body)
