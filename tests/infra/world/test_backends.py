"""Worlds that are not played by their own code: by a model, a model under a ledger, or a record."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from practicum.infra.environment import JSON, ToolCall, ToolErrorKind
from practicum.infra.errors import WorldFault
from practicum.infra.world.backends.chat import Role, Said
from practicum.infra.world.backends.language import Language
from practicum.infra.world.backends.ledger import Ledger
from practicum.infra.world.backends.recorded import Recorded
from practicum.infra.world.engine import WorldEnvironment

Open = Callable[[], WorldEnvironment]
SEQUENCE: list[tuple[str, dict[str, Any]]] = [
    ("list_goods", {}),
    ("sell", {"good": "pen", "amount": 2}),
    ("sell", {"good": "pen", "amount": 99}),
    ("read_good", {"good": "pen"}),
    ("read_good", {"good": "nobody"}),
    ("drop_good", {"good": "cap"}),
    ("wait", {"minutes": 30}),
    ("list_goods", {}),
    ("activity_log", {}),
    ("submit", {"sold": ["S-1"]}),
]


def run(world: WorldEnvironment) -> list[tuple[object, object]]:
    results = [world.call(ToolCall(str(n), tool, arguments)) for n, (tool, arguments) in enumerate(SEQUENCE)]
    return [
        (result.error, (result.data or {}).get("items", (result.data or {}).get("record")))
        for result in results
    ]


class Honest:
    """A model that works everything out rightly: it asks the true world. `changes` as a ledger wants them."""

    def __init__(self, true: WorldEnvironment, *, ledger: bool) -> None:
        self.true = true
        self.ledger = ledger
        self.asked: list[Sequence[Said]] = []

    def __call__(self, messages: Sequence[Said], schema: JSON) -> str:
        self.asked.append(list(messages))
        call = json.loads(messages[-1].text.rsplit("The call:\n", 1)[-1])
        result = self.true.call(ToolCall("m", call["tool"], call["arguments"]))
        data = result.data or {}
        reply: dict[str, Any] = {"refused": "", "answer": data.get("items", data.get("record"))}
        if result.error is not None:
            reply = {"refused": result.text, "answer": None}
        if self.ledger:
            changes = self.true.entries[-1].changes
            reply["changes"] = [{"table": c.table, "id": c.id, "row": c.after} for c in changes]
        return json.dumps(reply)


class Script:
    """A model that says these things in order."""

    def __init__(self, *lines: str) -> None:
        self.lines = list(lines)
        self.asked: list[list[Said]] = []

    def __call__(self, messages: Sequence[Said], schema: JSON) -> str:
        self.asked.append(list(messages))
        return self.lines.pop(0)


def played(opened: WorldEnvironment, chat: Any, *, ledger: bool) -> WorldEnvironment:
    state = opened.snapshot()["tables"]
    backend = Ledger(opened.rules, chat) if ledger else Language(opened.rules, state, chat)
    return WorldEnvironment(opened.rules, opened.rules.load(state), backend=backend)


@pytest.mark.parametrize("ledger", [True, False])
def test_an_honest_model_gives_the_answers_of_the_true_world(open_shop: Open, ledger: bool) -> None:
    world = played(open_shop(), Honest(open_shop(), ledger=ledger), ledger=ledger)
    expected = run(open_shop())
    said = run(world)
    assert [error for error, _ in said] == [error for error, _ in expected]
    assert said[-3][1] == expected[-3][1]


def test_under_a_ledger_the_engine_owns_the_state(open_shop: Open) -> None:
    """State, hashes and journal are those of the true world, call by call."""
    true = open_shop()
    run(true)
    world = played(open_shop(), Honest(open_shop(), ledger=True), ledger=True)
    run(world)
    assert world.snapshot() == true.snapshot()
    assert [entry.after for entry in world.entries] == [entry.after for entry in true.entries]


def test_without_one_the_state_is_what_was_said(open_shop: Open) -> None:
    """Nothing is written; the conversation grows by each call and its answer."""
    chat = Honest(open_shop(), ledger=False)
    world = played(open_shop(), chat, ledger=False)
    start = world.snapshot()["digest"]
    world.call(ToolCall("1", "sell", {"good": "pen", "amount": 2}))
    world.call(ToolCall("2", "list_goods", {}))
    assert world.snapshot()["digest"] == start
    assert [said.role for said in chat.asked[-1]] == [Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.USER]


def test_the_model_is_shown_the_state_as_json_and_the_answer_schema(open_shop: Open) -> None:
    chat = Honest(open_shop(), ledger=False)
    world = played(open_shop(), chat, ledger=False)
    world.call(ToolCall("1", "list_goods", {}))
    _, _, state = chat.asked[0][0].text.partition("The state at the start:\n")
    assert json.loads(state) == open_shop().snapshot()["tables"]
    assert "stock" in chat.asked[0][0].text


def test_bad_calls_never_reach_the_model(open_shop: Open) -> None:
    world = played(open_shop(), Script(), ledger=True)
    assert world.call(ToolCall("1", "nothing", {})).error is ToolErrorKind.UNKNOWN_TOOL
    assert (
        world.call(ToolCall("2", "sell", {"good": "pen", "amount": "2"})).error is ToolErrorKind.BAD_ARGUMENTS
    )


SALE = {"id": "S-1", "good": "pen", "amount": 1}


def reply(answer: object = SALE, *, refused: str = "", **row: Any) -> str:
    """A reply of the model; `row` is written to the table of its `kind`."""
    kind = row.pop("kind", None)
    changes = [{"table": kind, "id": row.pop("key"), "row": row}] if kind else []
    return json.dumps({"refused": refused, "answer": answer, "changes": changes})


@pytest.mark.parametrize(
    "bad",
    [
        "certainly! here it is",
        "[]",
        reply({**SALE, "amount": "1"}),
        reply(refused="no"),
        reply(None),
        reply(kind="Spy", key="a", id="a"),
        reply(kind="Good", key="pen", id="ink", stock=1, title="x"),
        reply(kind="Good", key="pen", id="pen", stock=-5, title="x"),
        reply(kind="Clock", key="clock", id="clock", now="2020-01-01T00:00:00Z"),
    ],
)
def test_an_invalid_answer_is_asked_for_again_and_told_why(open_shop: Open, bad: str) -> None:
    chat = Script(bad, reply())
    world = played(open_shop(), chat, ledger=True)
    before = world.snapshot()["tables"]
    assert world.call(ToolCall("1", "sell", {"good": "pen", "amount": 1})).error is None
    assert world.snapshot()["tables"] == before
    assert "not a valid answer" in chat.asked[1][-1].text


def test_a_read_that_changes_something_is_not_taken(open_shop: Open) -> None:
    row = {"id": "pen", "stock": 1, "title": "A pen"}
    sly = json.dumps({"refused": "", "answer": row, "changes": [{"table": "Good", "id": "pen", "row": row}]})
    world = played(open_shop(), Script(sly, sly, sly), ledger=True)
    with pytest.raises(WorldFault, match="a read changes nothing"):
        world.call(ToolCall("1", "read_good", {"good": "pen"}))


def test_a_model_that_never_answers_validly_is_our_fault_and_changes_nothing(open_shop: Open) -> None:
    world = played(open_shop(), Script("?", "?", "?"), ledger=True)
    before = world.snapshot()
    with pytest.raises(WorldFault, match="no valid answer in 3 attempts"):
        world.call(ToolCall("1", "sell", {"good": "pen", "amount": 1}))
    assert world.snapshot() == before


def test_a_record_gives_the_same_answers_and_effects(open_shop: Open) -> None:
    true = open_shop()
    expected = run(true)
    start = open_shop()
    again = WorldEnvironment(
        start.rules,
        start.rules.load(start.snapshot()["tables"]),
        backend=Recorded(start.rules, true.entries),
    )
    assert run(again) == expected
    assert again.snapshot() == true.snapshot()


def test_a_call_that_was_never_recorded_is_a_fault(open_shop: Open) -> None:
    start = open_shop()
    world = WorldEnvironment(
        start.rules, start.rules.load(start.snapshot()["tables"]), backend=Recorded(start.rules, [])
    )
    with pytest.raises(WorldFault, match="not in the record"):
        world.call(ToolCall("1", "list_goods", {}))
