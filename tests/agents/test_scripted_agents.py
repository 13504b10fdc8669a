"""Agents without a model: nobody, the random hand, the oracle."""

from __future__ import annotations

from random import Random
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from practicum.agents.agent import Ending, seat
from practicum.agents.scripted import Nop, Oracle, RandomHand, random_arguments, sample
from practicum.infra.desk.applications import Notepad
from practicum.infra.desk.arguments import read_computer
from practicum.infra.desk.schemas import computer
from practicum.infra.operator import Operator
from practicum.tasks.spec import Kind, Limits, TaskSpec, Tier


def test_nobody_touches_nothing(room: Any) -> None:
    exam = room()
    assert exam.seat(Nop()) is Ending.DONE
    assert exam.record.calls == []
    assert exam.record.notes


def test_a_random_hand_is_the_same_for_a_seed_and_another_for_another(room: Any) -> None:
    def calls(seed: int) -> list[Any]:
        exam = room(seed=seed, width=320, height=200)
        assert exam.seat(RandomHand(calls=10)) is Ending.DONE
        return [step.call for step in exam.record.calls]

    assert calls(1) == calls(1)
    assert calls(1) != calls(2)


def test_a_random_hand_makes_no_mistakes_and_stops_at_its_limit(room: Any) -> None:
    exam = room(limits=Limits(steps=12), width=320, height=200)
    assert exam.seat(RandomHand()) is Ending.STEPS
    assert len(exam.record.calls) == 12
    assert all(step.result.error is None for step in exam.record.calls)


@given(st.integers(), st.integers(1, 3000), st.integers(1, 3000))
def test_random_arguments_are_always_accepted(seed: int, width: int, height: int) -> None:
    read_computer(random_arguments(computer(width, height), Random(seed)), width, height)


SCHEMAS: list[dict[str, Any]] = [
    {"type": "integer", "minimum": 3, "maximum": 4},
    {"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 6},
    {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
    {"type": "string", "minLength": 2, "maxLength": 3},
    {"enum": ["a", None, 3]},
    {"const": 5},
    {"type": ["string", "null"]},
    {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
    {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
    {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": False,
    },
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_samples_fit_their_schema(schema: dict[str, Any]) -> None:
    for seed in range(40):
        jsonschema.validate(sample(schema, Random(seed)), schema)


class Typing:
    """A task whose oracle types its instance."""

    spec = TaskSpec(
        id="test/typing",
        kind=Kind.DESK,
        title="Typing",
        tier=Tier.NEAR_TERM,
        cluster="test",
        subdomain="typing",
        soc="43-9022",
        limits=Limits(),
        outputs=(),
        digest="",
    )

    def solve(self, hands: Operator, instance: Any) -> None:
        hands.type(instance)


def test_the_oracle_is_briefed_and_works_through_the_exam(room: Any) -> None:
    exam = room(Notepad())
    agent = seat(Oracle(), Typing(), "the answer")  # type: ignore[arg-type] # as much of a task as is used
    assert exam.seat(agent) is Ending.DONE
    assert exam.application.text == "the answer"
    assert len(exam.record.calls) == 1


def test_others_are_not_briefed() -> None:
    nobody = Nop()
    assert seat(nobody, Typing(), "secret") is nobody  # type: ignore[arg-type] # as above
