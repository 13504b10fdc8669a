"""Both bodies on a fake desk: acting, checking, being stuck, giving up, compacting."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from practicum.agents.agent import Ending, Image, Prompt, Reply, Text, ToolMessage, UserMessage
from practicum.agents.generalist.body import manner
from practicum.agents.generalist.body.deliberate import DeliberateBody
from practicum.agents.generalist.body.react import ReactBody
from practicum.agents.generalist.body.stuck import Watch
from practicum.agents.generalist.brain.scripted import ScriptedBrain, Sequence
from practicum.agents.generalist.eyes.plain import PlainEyes
from practicum.agents.generalist.feet import AllTools, GuiOnly, ShellOnly
from practicum.agents.generalist.file import HANDS
from practicum.agents.generalist.layers import Feet, Layers
from practicum.agents.generalist.limits import limits_of
from practicum.infra.desk.applications import Notepad
from practicum.infra.desk.tools import DeskTool
from practicum.infra.environment import ToolCall, ToolErrorKind, ToolResult
from practicum.tasks.spec import Limits

BOTH = frozenset({DeskTool.COMPUTER, DeskTool.READ_FILE})
BODIES = [ReactBody(), DeliberateBody()]
bodies = pytest.mark.parametrize("body", BODIES, ids=["react", "deliberate"])


def act(**arguments: Any) -> Reply:
    return Reply("I act.", (ToolCall("c", "computer", arguments),))


def finish(success: bool = True) -> Reply:
    return Reply("", (ToolCall("c", "finish", {"success": success, "message": "over"}),))


def layers(policy: Callable[[Prompt], Reply], feet: Feet | None = None, hands: str = "canonical") -> Layers:
    limits = limits_of("scripted")
    return Layers(
        ScriptedBrain(policy), PlainEyes(limits, limits.space), HANDS[hands](), feet or AllTools(), limits
    )


def planned(*answers: Reply) -> Callable[[Prompt], Reply]:
    """Answers in order; where no tools are offered (a plan, a summary) a word."""
    script = Sequence(answers)
    return lambda prompt: script(prompt) if prompt.tools else Reply("1. Do it.")


def texts(prompt: Prompt) -> list[str]:
    parts = [p for m in prompt.messages if isinstance(m, UserMessage | ToolMessage) for p in m.parts]
    return [part.text for part in parts if isinstance(part, Text)]


@bodies
def test_what_the_model_asks_for_is_done_and_shown(room: Any, body: Any) -> None:
    seen: list[Prompt] = []
    script = Sequence((act(action="type", text="hello"), finish(), finish()))

    def policy(prompt: Prompt) -> Reply:
        seen.append(prompt)
        return script(prompt) if prompt.tools else Reply("1. Type hello.")

    exam = room(Notepad())
    assert exam.work(body, layers(policy)) is Ending.DONE
    assert exam.application.text == "hello"
    for prompt in seen:
        last = [p for m in prompt.messages if isinstance(m, UserMessage | ToolMessage) for p in m.parts]
        assert any(isinstance(part, Image) for part in last)
    assert len({step.call.id for step in exam.record.calls}) == len(exam.record.calls)


@bodies
def test_a_task_the_model_calls_impossible_is_given_up(room: Any, body: Any) -> None:
    assert room().work(body, layers(planned(finish(success=False)))) is Ending.GAVE_UP


@bodies
def test_answers_without_action_are_told_and_end_at_last(room: Any, body: Any) -> None:
    """Endless babble is an ending, and every answer of it is told that it was unreadable."""
    seen: list[Prompt] = []

    def babble(prompt: Prompt) -> Reply:
        seen.append(prompt)
        return Reply("Thought: hm")

    exam = room()
    assert exam.work(body, layers(babble, hands="ui-tars")) is Ending.GAVE_UP
    assert any(manner.NO_ACTION in text for text in texts(seen[-1]))
    assert len(seen) <= body.patience + 1


@bodies
def test_the_limits_of_the_exam_pass_through_the_body(room: Any, body: Any) -> None:
    exam = room(limits=Limits(steps=6))
    letters: Iterator[int] = iter(range(100))
    policy = lambda prompt: act(action="type", text=f"{next(letters)} ") if prompt.tools else Reply("p")  # noqa: E731
    assert exam.work(body, layers(policy)) is Ending.STEPS


def test_the_deliberate_body_plans_first_and_checks_last(room: Any) -> None:
    seen: list[Prompt] = []
    script = Sequence((finish(), act(action="type", text="hello"), finish()))

    def policy(prompt: Prompt) -> Reply:
        seen.append(prompt)
        return script(prompt) if prompt.tools else Reply("1. Write hello.")

    exam = room(Notepad())
    assert exam.work(DeliberateBody(), layers(policy)) is Ending.DONE
    assert exam.application.text == "hello"
    assert seen[0].tools == ()
    assert texts(seen[0])[-1] == manner.PLAN
    assert any(manner.CHECK in text for text in texts(seen[2]))
    assert [step.purpose for step in exam.record.asked] == ["plan", "agent", "agent", "agent"]


def test_repeating_itself_on_an_unchanged_screen_is_noticed(room: Any) -> None:
    """Told three times, then given up."""
    exam = room()
    ending = exam.work(DeliberateBody(), layers(planned(*[act(action="click", x=5, y=500)] * 60)))
    assert ending is Ending.GAVE_UP
    assert sum("; hint" in note for note in exam.record.notes) == 3


def test_the_same_action_on_a_changing_screen_is_not_stuck(room: Any) -> None:
    exam = room(Notepad())
    answers = [act(action="key", keys="enter"), act(action="type", text="a line of words that shows")] * 8
    exam.work(DeliberateBody(check=False), layers(planned(*answers, finish())))
    assert not any("stuck" in note for note in exam.record.notes)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_cycles_of_up_to_three_actions_are_found(length: int) -> None:
    watch = Watch()
    found = []
    for n in range(3 * length):
        watch.observe(ToolCall("c", "t", {"n": n % length}), ToolResult("same"))
        found.append(watch.cycle())
    assert found[-1] == length
    assert found[:-1] == [None] * (3 * length - 1)


def test_a_long_conversation_is_summed_up_before_turns_are_lost(room: Any) -> None:
    asked: list[str] = []
    numbers = iter(range(1000))

    def policy(prompt: Prompt) -> Reply:
        if texts(prompt)[-1] == manner.SUMMARISE:
            asked.append("summary")
            return Reply("typed many numbers")
        number = next(numbers)
        if number == 25:
            return finish()
        return Reply("w " * 900, (ToolCall("c", "computer", {"action": "type", "text": f"{number} "}),))

    exam = room(Notepad(), limits=Limits(steps=200), width=320, height=200)
    built = layers(policy)
    tight = msgspec.structs.replace(built.limits, context=16_000)
    body = DeliberateBody(plan=False, check=False, max_output=500)
    assert exam.work(body, replace(built, limits=tight)) is Ending.DONE
    assert asked
    assert any("compacted" in note for note in exam.record.notes)


@bodies
def test_an_unknown_tool_and_bad_arguments_are_shown_and_not_fatal(room: Any, body: Any) -> None:
    answers = (
        Reply("", (ToolCall("a", "teleport", {}), ToolCall("b", "computer", {"action": "fly"}))),
        finish(),
        finish(),
    )
    exam = room()
    assert exam.work(body, layers(planned(*answers))) is Ending.DONE
    errors = [step.result.error for step in exam.record.calls]
    assert ToolErrorKind.BAD_ARGUMENTS in errors


@pytest.mark.parametrize(
    ("feet", "allowed"),
    [(AllTools(), {"computer", "read_file"}), (GuiOnly(), {"computer"}), (ShellOnly(), {"read_file"})],
)
def test_feet_decide_what_is_offered_and_what_is_carried_out(
    room: Any, feet: Feet, allowed: set[str]
) -> None:
    """A tool the agent does not stand on is not reached, even where the environment has it."""
    offered: list[set[str]] = []
    script = Sequence(
        (
            Reply(
                "",
                (
                    ToolCall("a", "computer", {"action": "screenshot"}),
                    ToolCall("b", "read_file", {"path": "x"}),
                ),
            ),
            finish(),
        )
    )

    def policy(prompt: Prompt) -> Reply:
        offered.append({tool.name for tool in prompt.tools} - {"finish"})
        return script(prompt)

    exam = room(tools=BOTH)
    exam.work(ReactBody(), layers(policy, feet))
    assert offered[0] == allowed
    assert {step.call.name for step in exam.record.calls} <= allowed


def test_an_agent_without_any_tool_to_stand_on_gives_up(room: Any) -> None:
    assert room().work(ReactBody(), layers(planned(finish()), ShellOnly())) is Ending.GAVE_UP


def test_nothing_after_a_mistake_is_carried_out(room: Any) -> None:
    exam = room(Notepad())
    wrong = ToolCall("a", "computer", {"action": "click", "x": 99_999, "y": 1})
    late = ToolCall("b", "computer", {"action": "type", "text": "late"})
    exam.work(ReactBody(), layers(planned(Reply("", (wrong, late)), finish())))
    assert exam.application.text == ""
