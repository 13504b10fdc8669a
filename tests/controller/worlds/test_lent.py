"""A model lent to a world is paid for whatever becomes of its answer, and its failure is the world's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import pytest

from practicum.agents.agent import Reply, SystemMessage, Usage, UserMessage
from practicum.agents.generalist.brain.faults import Backoff
from practicum.agents.serve.faults import Fault, Garbled, Status
from practicum.agents.serve.server import ChatServer
from practicum.controller.lent import Count, Lent, endpoint
from practicum.infra.errors import WorldFault
from practicum.infra.world.backends.chat import Role, Said

ASKED = (Said(Role.SYSTEM, "You are a world."), Said(Role.USER, "Turn."))
SCHEMA = {"type": "object"}


@dataclass(slots=True)
class Till:
    """A meter that writes down what happens to each reservation."""

    book: list[object] = field(default_factory=list)

    def reserve(self, model: str, worst: Usage, purpose: str) -> Till:
        self.book.append(purpose)
        return self

    def charge(self, usage: Usage) -> None:
        self.book.append(usage.total)

    def release(self) -> None:
        self.book.append("released")


def ask(meter: Till | Count, faults: Iterable[Fault | None] = ()) -> tuple[str, ChatServer]:
    with ChatServer.scripted(lambda _: Reply(text='{"turned": true}'), faults) as server:
        brain = replace(endpoint("stub", server.url, "none"), backoff=Backoff(attempts=1))
        return Lent(brain, meter)(ASKED, SCHEMA), server


def test_an_answer_is_charged_under_the_worlds_purpose() -> None:
    till = Till()
    text, server = ask(till)
    assert text == '{"turned": true}'
    assert till.book == ["world", server.billed[0].total]
    assert [type(message) for message in server.prompts[0].messages] == [SystemMessage, UserMessage]


def test_an_endpoint_that_fails_is_the_worlds_fault_and_costs_nothing() -> None:
    till = Till()
    with pytest.raises(WorldFault, match="plays the world"):
        ask(till, [Status(500)])
    assert till.book == ["world", "released"]


def test_an_answer_that_was_lost_may_have_been_billed() -> None:
    till = Till()
    with pytest.raises(WorldFault):
        ask(till, [Garbled()])
    assert till.book == ["world", None]


def test_a_count_knows_calls_and_tokens_until_one_is_unknown() -> None:
    count = Count()
    _, server = ask(count)
    assert (count.calls, count.tokens) == ({"world": 1}, server.billed[0].total)
    with pytest.raises(WorldFault):
        ask(count, [Garbled()])
    assert (count.calls, count.tokens) == ({"world": 2}, None)
