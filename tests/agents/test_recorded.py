"""Recording and replay: the same conversation again without the model, and never a guess."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from practicum.agents.agent import Ending, Image, ModelFault, Prompt, Reply, Text, Usage, UserMessage
from practicum.agents.generalist.body.deliberate import DeliberateBody
from practicum.agents.generalist.body.react import ReactBody
from practicum.agents.generalist.brain.faults import FaultKind
from practicum.agents.generalist.brain.recorded import Match, RecordedBrain, Recording, prompt_key
from practicum.agents.generalist.brain.scripted import ScriptedBrain, Sequence, load_script
from practicum.agents.generalist.eyes.plain import PlainEyes
from practicum.agents.generalist.feet import AllTools
from practicum.agents.generalist.hands.canonical import CanonicalHands
from practicum.agents.generalist.layers import Layers
from practicum.agents.generalist.limits import limits_of
from practicum.agents.strict import BadFile
from practicum.infra.desk.applications import Notepad
from practicum.infra.environment import ToolCall


def layers(brain: Any) -> Layers:
    limits = limits_of("scripted")
    return Layers(brain, PlainEyes(limits, limits.space), CanonicalHands(), AllTools(), limits)


def script() -> ScriptedBrain:
    typed = Reply("", (ToolCall("c", "computer", {"action": "type", "text": "hello"}),))
    return ScriptedBrain(Sequence((typed, Reply("Done."))))


def say(text: str, png: bytes = b"") -> Prompt:
    return Prompt((UserMessage((Text(text), Image(png, 1, 1))),))


@pytest.mark.parametrize("match", list(Match))
def test_a_recorded_exam_replays_to_the_same_end(room: Any, tmp_path: Path, match: Match) -> None:
    path = tmp_path / "record.jsonl"
    first, second = room(Notepad()), room(Notepad())
    assert first.work(ReactBody(), layers(Recording(script(), path))) is Ending.DONE
    assert second.work(ReactBody(), layers(RecordedBrain.load(path, match))) is Ending.DONE
    assert second.application.text == first.application.text == "hello"
    assert [step.reply for step in first.record.asked] == [step.reply for step in second.record.asked]


def test_another_prompt_than_the_recorded_is_a_fault(room: Any, tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    room(Notepad()).work(ReactBody(), layers(Recording(script(), path)))
    replay = layers(RecordedBrain.load(path, Match.PROMPT))
    with pytest.raises(ModelFault) as caught:
        room(Notepad(text="the screen differs")).work(ReactBody(), replay)
    assert caught.value.kind == FaultKind.NOT_RECORDED


def test_replay_by_order_tolerates_another_screen_but_not_another_instruction(
    room: Any, tmp_path: Path
) -> None:
    path = tmp_path / "record.jsonl"
    room(Notepad()).work(ReactBody(), layers(Recording(script(), path)))
    exam = room(Notepad(text="the clock has moved"))
    assert exam.work(ReactBody(), layers(RecordedBrain.load(path, Match.ORDER))) is Ending.DONE
    with pytest.raises(ModelFault):
        room(instruction="Another.").work(ReactBody(), layers(RecordedBrain.load(path, Match.ORDER)))


def test_more_answers_are_asked_for_than_recorded_is_a_fault(room: Any, tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    room(Notepad()).work(ReactBody(), layers(Recording(script(), path)))
    with pytest.raises(ModelFault):
        room(Notepad()).work(DeliberateBody(plan=False), layers(RecordedBrain.load(path, Match.ORDER)))


def test_a_line_cut_by_a_crash_is_neither_read_nor_glued_to_the_next(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    brain = ScriptedBrain(lambda prompt: Reply(f"{len(prompt.messages)}"))
    Recording(brain, path).complete(say("one"), timeout=1)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[: len(whole) // 2])
    Recording(brain, path).complete(say("two"), timeout=1)
    replay = RecordedBrain.load(path, Match.PROMPT)
    assert replay.parse(replay.complete(say("two"), timeout=1)).text == "1"
    assert path.read_bytes().startswith(whole)


def test_equal_prompts_get_their_answers_in_the_order_recorded(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    recording = Recording(ScriptedBrain(Sequence((Reply("first"), Reply("second")))), path)
    for _ in range(2):
        recording.complete(say("same"), timeout=1)
    replay = RecordedBrain.load(path, Match.PROMPT)
    assert [replay.parse(replay.complete(say("same"), timeout=1)).text for _ in range(2)] == [
        "first",
        "second",
    ]


def test_the_key_of_a_prompt_covers_its_pictures_and_holds_none_of_them(tmp_path: Path) -> None:
    assert prompt_key(say("a", b"1")) != prompt_key(say("a", b"2"))
    assert prompt_key(say("a", b"1")) == prompt_key(say("a", b"1"))
    path = tmp_path / "record.jsonl"
    Recording(ScriptedBrain(lambda _: Reply("x")), path).complete(say("a", b"picture-bytes"), timeout=1)
    assert b"picture-bytes" not in path.read_bytes()


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"not json\n", "line 1"),
        (b'{"model": "m"}\n', "line 1"),
        (
            b'{"model":"m","conversation":"","prompt":"","usage":{"input":1,"output":1},"payload":{}}\n',
            "no choices",
        ),
    ],
)
def test_a_record_that_is_none_is_said_to_be(tmp_path: Path, content: bytes, place: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(content)
    with pytest.raises(BadFile, match=place):
        RecordedBrain.load(path, Match.PROMPT)


def test_a_script_gives_its_answers_and_then_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "script.jsonl"
    path.write_text(
        '{"text": "one", "calls": [{"name": "computer", "arguments": {"action": "screenshot"}}]}\n\n'
        '{"calls": [{"name": "computer", "arguments": "{oops"}]}\n'
        '{"text": "no", "refused": true}\n'
    )
    brain = ScriptedBrain(load_script(path))
    replies = [brain.parse(brain.complete(say("x"), timeout=1)) for _ in range(3)]
    assert replies[0].calls[0].arguments == {"action": "screenshot"}
    assert replies[1].malformed[0].span == "{oops"
    assert replies[2].refused
    assert brain.worst_case(say("x")) == Usage(0, 0)
    with pytest.raises(ModelFault):
        brain.complete(say("x"), timeout=1)


@pytest.mark.parametrize("line", ["{", '{"txt": "x"}', "[]"])
def test_a_script_line_that_is_no_answer_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "script.jsonl"
    path.write_text(f'{{"text": "fine"}}\n{line}\n')
    with pytest.raises(BadFile, match="line 2"):
        load_script(path)
