"""Kind J: random histories stay under every limit, with the newest frame and a result for every call."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from practicum.agents.agent import (
    AssistantMessage,
    Image,
    Prompt,
    SystemMessage,
    Text,
    ToolMessage,
    UserMessage,
)
from practicum.agents.generalist.body.history import ContextFull, History, Turn
from practicum.agents.generalist.brain.estimate import fits, load, worst_case
from practicum.agents.generalist.limits import ImageRule, Limits, image_tokens, limits_of
from practicum.infra.desk.schemas import computer
from practicum.infra.environment import ToolCall

TOOLS = (computer(1280, 800),)
TIGHT = msgspec.structs.replace(
    limits_of("nobody described this"), context=24_000, images=3, request_bytes=400_000
)
numbers = iter(range(10**9))


def image(size: int) -> Image:
    return Image(str(next(numbers)).encode().rjust(size, b"p"), 1280, 800)


images = st.integers(100, 60_000).map(image)
texts = st.one_of(st.text(max_size=200), st.integers(1, 30_000).map(lambda n: "word " * (n // 5)))
parts = st.lists(st.one_of(images, texts.map(Text)), max_size=2).map(tuple)


@st.composite
def turns(draw: st.DrawFn) -> Turn:
    count = draw(st.integers(0, 3))
    ids = [f"c{next(numbers)}" for _ in range(count)]
    calls = tuple(ToolCall(name, "bash", {"command": draw(texts)}) for name in ids)
    results = tuple(ToolMessage(name, draw(parts)) for name in ids)
    return Turn(AssistantMessage(draw(texts), calls), results, draw(parts))


histories = st.builds(
    History,
    st.just("system"),
    st.tuples(st.just(Text("the instruction"))) | st.tuples(st.just(Text("the instruction")), images),
    st.lists(turns(), max_size=25),
)


def pictures(prompt: Prompt) -> list[Image]:
    return [
        part
        for message in prompt.messages
        if isinstance(message, UserMessage | ToolMessage)
        for part in message.parts
        if isinstance(part, Image)
    ]


def newest(history: History) -> Image | None:
    everything = [
        *history.opening,
        *(
            part
            for turn in history.turns
            for part in (*(p for result in turn.results for p in result.parts), *turn.besides)
        ),
    ]
    return next((part for part in reversed(everything) if isinstance(part, Image)), None)


@given(histories, st.integers(1, 5))
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_random_histories_fit_and_keep_what_must_stay(history: History, keep: int) -> None:
    try:
        prompt = history.prompt(TOOLS, TIGHT, keep, 2_000)
    except ContextFull:
        pytest.fail("no single turn here is larger than the context")
    weight = load(prompt, TIGHT)
    assert fits(prompt, TIGHT)
    assert weight.images <= min(keep, TIGHT.images)
    assert weight.body <= TIGHT.request_bytes
    shown = pictures(prompt)
    latest = newest(history)
    assert (latest is None and not shown) or shown[-1] == latest
    assert isinstance(prompt.messages[0], SystemMessage)
    assert isinstance(prompt.messages[1], UserMessage)
    assert prompt.messages[1].parts[0] == Text("the instruction")
    assert_every_call_has_its_result_at_once(prompt)
    if history.turns:
        said = [message for message in prompt.messages if isinstance(message, AssistantMessage)]
        assert [call.id for call in said[-1].calls] == [call.id for call in history.turns[-1].said.calls]


def assert_every_call_has_its_result_at_once(prompt: Prompt) -> None:
    """As the APIs demand: the results of an answer's calls follow it directly, in order, each once."""
    messages = list(prompt.messages)
    for at, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            following = messages[at + 1 : at + 1 + len(message.calls)]
            assert [each.call_id for each in following if isinstance(each, ToolMessage)] == [
                call.id for call in message.calls
            ]
        elif isinstance(message, ToolMessage):
            assert isinstance(messages[at - 1], AssistantMessage | ToolMessage)


def test_nothing_is_left_out_of_what_fits() -> None:
    history = History("s", (Text("i"),), [Turn(AssistantMessage("a" * 50)), Turn(AssistantMessage("b"))])
    prompt = history.prompt(TOOLS, TIGHT, 3, 100)
    assert [message.text for message in prompt.messages if isinstance(message, AssistantMessage)] == [
        "a" * 50,
        "b",
    ]


def test_a_turn_whose_results_do_not_fit_its_calls_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="have results"):
        Turn(AssistantMessage("", (ToolCall("a", "t", {}),)), ())


def test_an_instruction_larger_than_the_context_is_said_to_be() -> None:
    with pytest.raises(ContextFull):
        History("s", (Text("w" * 100_000),)).prompt(TOOLS, TIGHT, 3, 100)


def test_a_summary_stands_for_the_turns_it_sums_up() -> None:
    history = History("s", (Text("i"),), [Turn(AssistantMessage(f"turn {n}")) for n in range(5)])
    history.summarise(3, "did three things")
    prompt = history.prompt(TOOLS, TIGHT, 3, 100)
    said = [message.text for message in prompt.messages if isinstance(message, AssistantMessage)]
    assert said == ["turn 3", "turn 4"]
    opening = prompt.messages[1]
    assert isinstance(opening, UserMessage)
    assert any("did three things" in part.text for part in opening.parts if isinstance(part, Text))


@given(st.text(max_size=300), st.integers(1, 4000), st.integers(1, 4000))
def test_the_reserve_is_above_a_byte_a_token_and_any_provider_s_picture(
    text: str, width: int, height: int
) -> None:
    prompt = Prompt((UserMessage((Text(text), Image(b"", width, height))),), max_output=10)
    unknown = limits_of("nobody described this")
    reserved = worst_case(prompt, unknown)
    dearest = max(image_tokens(rule, width, height) for rule in ImageRule if rule is not ImageRule.TILES_MINI)
    assert reserved.input is not None
    assert reserved.input >= len(text.encode()) + dearest
    assert reserved.output == 10


@pytest.mark.parametrize(
    ("model", "hands"),
    [
        ("claude-opus-4-6", "anthropic"),
        ("anthropic/claude-fable-5-1", "anthropic"),
        ("gpt-5.4", "canonical"),
        ("Qwen/Qwen3-VL-32B-Instruct", "qwen"),
        ("ByteDance-Seed/UI-TARS-1.5-7B", "ui-tars"),
        ("my-own-model", "canonical"),
    ],
)
def test_the_table_finds_a_model_by_its_family(model: str, hands: str) -> None:
    row: Limits = limits_of(model)
    assert row.hands == hands
