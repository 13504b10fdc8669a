"""The chat brain against a real server on the loopback interface, and everything that can go wrong there."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest

from practicum.agents.agent import Ending, ExamOver, ModelFault, Prompt, Reply, Text, Usage, UserMessage
from practicum.agents.generalist.body.react import ReactBody
from practicum.agents.generalist.brain.chat import ChatBrain, connect
from practicum.agents.generalist.brain.faults import Backoff, FaultKind, retry_after
from practicum.agents.generalist.eyes.plain import PlainEyes
from practicum.agents.generalist.feet import AllTools
from practicum.agents.generalist.hands.canonical import CanonicalHands
from practicum.agents.generalist.layers import Layers
from practicum.agents.generalist.limits import limits_of
from practicum.agents.serve.faults import Cut, Fault, Garbled, Slow, Status
from practicum.agents.serve.server import ChatServer
from practicum.infra.environment import ToolCall

PROMPT = Prompt((UserMessage((Text("hello"),)),))


def answer(_: Prompt) -> Reply:
    return Reply("hi", (ToolCall("c", "computer", {"action": "screenshot"}),))


class Naps:
    """Stands in for the clock's sleep and remembers how long it was asked to."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)


@contextmanager
def served(
    *faults: Fault | None, policy: Callable[[Prompt], Reply] = answer, **settings: Any
) -> Iterator[Any]:
    naps = Naps()
    with ChatServer.scripted(policy, faults, key="k") as server:
        settings = {"backoff": Backoff(attempts=4, first=1.0, longest=8.0)} | settings
        brain = ChatBrain(
            "m", connect(server.url, "k"), limits_of("m"), sleep=naps, jitter=Random(1), **settings
        )
        with brain.client:
            yield brain, server, naps


def fault_of(brain: ChatBrain, timeout: float = 30.0) -> ModelFault:
    with pytest.raises(ModelFault) as caught:
        brain.complete(PROMPT, timeout=timeout)
    return caught.value


def test_an_answer_comes_with_its_usage_and_is_parsed() -> None:
    with served() as (brain, server, _):
        raw = brain.complete(PROMPT, timeout=30)
        assert raw.usage == server.billed[0]
        assert brain.parse(raw).calls[0].arguments == {"action": "screenshot"}
        assert server.prompts == [PROMPT]


@pytest.mark.parametrize("code", [408, 409, 429, 500, 502, 503, 504])
def test_an_unbilled_failure_is_tried_again(code: int) -> None:
    with served(Status(code), Status(code)) as (brain, server, naps):
        assert brain.parse(brain.complete(PROMPT, timeout=30)).text == "hi"
        assert server.requests == 3
        assert len(server.billed) == 1
        assert 0.5 <= naps.asked[0] <= 1.0
        assert 1.0 <= naps.asked[1] <= 2.0


def test_what_the_server_asks_is_waited() -> None:
    waits = [Status(429, {"retry-after": "7"}), Status(503, {"retry-after-ms": "250"})]
    with served(*waits) as (brain, _, naps):
        brain.complete(PROMPT, timeout=30)
        assert naps.asked == [7.0, 0.25]


def test_a_wait_longer_than_the_time_left_is_a_fault_at_once() -> None:
    with served(Status(429, {"retry-after": "60"})) as (brain, server, naps):
        assert fault_of(brain).kind == FaultKind.RATE_LIMIT
        assert server.requests == 1
        assert naps.asked == []


def test_patience_ends_and_nothing_was_billed() -> None:
    with served(*[Status(500)] * 9) as (brain, server, _):
        fault = fault_of(brain)
        assert fault.kind == FaultKind.SERVER
        assert not fault.maybe_billed
        assert server.requests == 4


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Status(401), FaultKind.CREDENTIALS),
        (Status(403), FaultKind.CREDENTIALS),
        (Status(400), FaultKind.BAD_REQUEST),
    ],
)
def test_what_will_not_mend_itself_is_not_tried_again(fault: Fault, kind: FaultKind) -> None:
    with served(fault) as (brain, server, _):
        found = fault_of(brain)
        assert found.kind == kind
        assert not found.maybe_billed
        assert server.requests == 1


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Garbled(), FaultKind.BAD_REPLY),
        (Garbled(b'{"error": {"message": "upstream"}}'), FaultKind.BAD_REPLY),
        (Garbled(b'{"choices": []}'), FaultKind.BAD_REPLY),
        (Garbled(b"\xff\xfe"), FaultKind.BAD_REPLY),
        (Cut(), FaultKind.NETWORK),
        (Cut(before_status=True), FaultKind.NETWORK),
    ],
)
def test_what_may_have_been_billed_is_never_repeated(fault: Fault, kind: FaultKind) -> None:
    """No hidden second request: the exam decides, with a reservation of its own."""
    with served(fault) as (brain, server, _):
        found = fault_of(brain)
        assert found.kind == kind
        assert found.maybe_billed
        assert server.requests == 1


def test_a_trickling_answer_ends_with_the_deadline() -> None:
    with served(Slow(pause=0.1, pieces=200)) as (brain, _, _naps):
        found = fault_of(brain, timeout=0.4)
        assert found.kind == FaultKind.TIMEOUT
        assert found.maybe_billed


def test_nobody_listening_is_tried_again_and_not_billed() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        naps = Naps()
        with connect(url, "k") as client:
            found = fault_of(ChatBrain("m", client, limits_of("m"), backoff=Backoff(3), sleep=naps))
        assert found.kind == FaultKind.NETWORK
        assert not found.maybe_billed
        assert len(naps.asked) == 2


def test_a_wrong_key_is_a_fault_that_does_not_show_the_key() -> None:
    with ChatServer.scripted(answer, key="right") as server, connect(server.url, "wrong-secret") as client:
        brain = ChatBrain("m", client, limits_of("m"))
        found = fault_of(brain)
        assert found.kind == FaultKind.CREDENTIALS
        assert "wrong-secret" not in f"{found} {brain!r}"


def test_settings_reach_the_request_as_they_are() -> None:
    bodies: list[Any] = []

    def watch(prompt: Prompt) -> Reply:
        bodies.append(prompt.max_output)
        return answer(prompt)

    with served(policy=watch, extra={"temperature": 0}, max_tokens_key="max_tokens") as (brain, _, _naps):
        brain.complete(Prompt(PROMPT.messages, max_output=77), timeout=30)
    assert bodies == [77]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 40.0),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
    ],
)
def test_retry_after_is_read_in_all_its_spellings(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, now=60.0) == seconds


def test_a_refusal_over_http_ends_the_exam_as_refused(room: Any) -> None:
    """Known failure H: the model's own decision is an ending, never a fault."""
    with served(policy=lambda _: Reply("I will not.", refused=True)) as (brain, _, _naps):
        limits = limits_of("m")
        layers = Layers(brain, PlainEyes(limits, limits.space), CanonicalHands(), AllTools(), limits)
        assert room().work(ReactBody(), layers) is Ending.REFUSED


def test_the_reserve_covers_what_the_server_bills(room: Any) -> None:
    exam = room()
    with served() as (brain, server, _):
        exam.sitting.ask(brain, PROMPT)
        (reserved,), (charged,) = exam.meter.reserved, exam.meter.charged
        assert charged == server.billed[0]
        assert reserved.input >= charged.input
        assert isinstance(reserved, Usage)


def test_a_fault_leaves_the_exam_as_a_fault_and_not_as_an_ending(room: Any) -> None:
    with served(Status(401)) as (brain, _, _naps), pytest.raises(ModelFault):
        room().sitting.ask(brain, PROMPT)
    assert not issubclass(ModelFault, ExamOver)
