"""Imported language worlds: read as released, linted, played by a local stub endpoint, judged if asked.

The release itself is not shipped: name its folder in PRACTICUM_OCCUBENCH to run all of it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from practicum.agents.agent import Ending, Prompt, Reply
from practicum.agents.scripted import Nop, RandomHand
from practicum.agents.serve.server import ChatServer
from practicum.controller.lent import JUDGE, Count, Lent, endpoint
from practicum.controller.occubench import RECORD, Imported, Sitters, sit_all
from practicum.infra.environment import ToolCall, ToolErrorKind
from practicum.infra.errors import WorldFault
from practicum.tasks.errors import MalformedTask
from practicum.tasks.worlds.occubench.judge import CHECK, judge
from practicum.tasks.worlds.occubench.lint import Flaw, lint
from practicum.tasks.worlds.occubench.reader import ImportedTask, load
from practicum.tasks.worlds.occubench.world import ImportedWorld

STATE = {"kettle": {"litres": 1.5}, "cups": [{"id": "c1", "full": False}]}


def action(name: str, example: Any = None, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": sorted(properties)}
    made = {"name": name, "description": f"{name}.", "parameters": schema}
    return made if example is None else {**made, "example_output": example}


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """Two tasks in the format of the release, with its flaws."""
    folder = tmp_path / "release"
    (folder / "world_model_configs").mkdir(parents=True)
    lines = []
    for number in (1, 2):
        shown = json.dumps(STATE).replace("{", "{{").replace("}", "}}")
        prompt = (
            "Be a kitchen. {{action_set_definitions}}\n{{initial_state}}: " + shown
        ) + "\n{{state_descriptions}}: {}"
        configuration = {
            "environment_name": f"env_{number}",
            "world_model_system_prompt": prompt,
            "action_set_definitions": [
                action("pour", {"full": True, "steam": 3}, cup={"type": "string"}),
                action("look"),
            ],
            "state_description": {"kettle": "The kettle."},
            "task_initial_state": STATE,
        }
        (folder / "world_model_configs" / f"env_{number}.json").write_text(json.dumps(configuration))
        task = {
            "task_id": number,
            "difficulty_level": 1,
            "task_scenario_name": "Tea",
            "agent_instruction": "Fill every cup.",
            "env_name": f"env_{number}",
            "verification_plan": "All cups are full, and 450 ml are left.",
        }
        lines.append(json.dumps(task))
    (folder / "eval_benchmark_solvable.jsonl").write_text("\n".join(lines))
    pool = {"category": "Commerce & Consumer", "domain": "Kitchen", "task_scenario_name": "Tea"}
    (folder / "task_scenario_all_pool.jsonl").write_text(json.dumps(pool))
    return folder


def lent(server: ChatServer, meter: Count, purpose: str = "world") -> Lent:
    return Lent(endpoint("stub", server.url, "none"), meter, purpose)


def always(text: str) -> Callable[[Prompt], Reply]:
    return lambda _: Reply(text=text)


def test_the_lint_names_each_flaw(release: Path) -> None:
    found = lint(load(release))
    counts = {flaw: found.count(flaw) for flaw in Flaw}
    assert counts == {
        Flaw.STATE_NOT_JSON: 2,
        Flaw.UNFILLED: 2,
        Flaw.NO_ANSWER_SCHEMA: 4,
        Flaw.NO_EXAMPLE: 2,
        Flaw.FIELD_NOWHERE: 2,
        Flaw.BAD_SCHEMA: 0,
        Flaw.BAD_NAME: 0,
        Flaw.TWICE: 0,
        Flaw.UNDESCRIBED: 2,
        Flaw.FIGURE_NOWHERE: 2,
    }
    assert found.returned_fields == 4


def test_a_file_that_cannot_be_read_is_named(release: Path) -> None:
    (release / "world_model_configs" / "env_2.json").write_text('{"environment_name": 3}')
    with pytest.raises(MalformedTask, match=r"env_2\.json"):
        load(release)
    (release / "eval_benchmark_solvable.jsonl").unlink()
    with pytest.raises(MalformedTask, match="eval_benchmark_solvable"):
        load(release)


def test_the_released_prompt_is_used_as_it_is_unless_it_is_mended(release: Path) -> None:
    (task, _) = load(release)
    with ChatServer(always('{"ok": true}')) as server:
        for mended in (False, True):
            world = ImportedWorld(task, lent(server, Count()), mended=mended)
            world.call(ToolCall("1", "look", {}))
        released, mended_prompt = (prompt.messages[0].text for prompt in server.prompts)  # type: ignore[union-attr]
    assert released == task.configuration.world_model_system_prompt
    state = mended_prompt.partition("The initial state:\n")[2].partition("\n\nWhat its parts mean")[0]
    assert json.loads(state) == STATE


def test_bad_calls_are_refused_without_asking_the_model(release: Path) -> None:
    (task, _) = load(release)
    with ChatServer(always("{}")) as server:
        world = ImportedWorld(task, lent(server, Count()))
        assert world.call(ToolCall("1", "fly", {})).error is ToolErrorKind.UNKNOWN_TOOL
        assert world.call(ToolCall("2", "pour", {"cup": 3})).error is ToolErrorKind.BAD_ARGUMENTS
        assert world.call(ToolCall("3", "submit", {"response": 3})).error is ToolErrorKind.BAD_ARGUMENTS
        assert world.call(ToolCall("4", "submit", {"response": "done"})).error is None
        assert world.call(ToolCall("5", "look", {})).error is ToolErrorKind.REFUSED
        assert server.requests == 0


def test_every_task_runs_and_leaves_its_record(release: Path, tmp_path: Path) -> None:
    """Against a stub; what the world cost is counted under its own purpose."""
    meter = Count()
    with ChatServer(always('{"ok": true}')) as server:
        who = Sitters(agent=lambda: RandomHand(calls=6), world=lent(server, meter), meter=meter, steps=6)
        results = sit_all(load(release), who, tmp_path / "out")
        assert meter.calls == {"world": server.requests}
    assert [(result.task, result.fault, result.judged) for result in results] == [
        ("occubench/1", "", None),
        ("occubench/2", "", None),
    ]
    for result in results:
        folder = tmp_path / "out" / result.task.replace("/", "-")
        assert msgspec.json.decode((folder / RECORD).read_bytes(), type=Imported) == result
        assert len((folder / "journal.jsonl").read_bytes().splitlines()) == result.calls == 6


def test_a_world_that_gives_no_json_is_a_fault_and_no_score(release: Path, tmp_path: Path) -> None:
    meter = Count()
    with ChatServer(always("Sure! The kettle is on.")) as server:
        who = Sitters(agent=lambda: RandomHand(calls=30), world=lent(server, meter), meter=meter)
        results = sit_all(load(release), who, tmp_path / "out")
    assert all("no valid answer" in result.fault and result.judged is None for result in results)


def votes(*lines: str) -> Callable[[Prompt], Reply]:
    left = list(lines)
    return lambda _: Reply(text=left.pop(0))


def opinion(passed: object) -> str:
    return json.dumps({"passed": passed, "reason": "because"})


def test_the_judge_decides_by_majority_and_is_marked_as_an_opinion(release: Path) -> None:
    (task, _) = load(release)
    with ChatServer(votes(opinion(True), opinion(False), opinion(True))) as server:
        found = judge(lent(server, Count(), JUDGE), task.task, [], "done")
    assert found.passed
    (check,) = found.verdict().checks
    assert check.name == CHECK
    assert check.score == pytest.approx(2 / 3)


def test_the_text_false_is_no_vote(release: Path) -> None:
    """A judge that answers with words in place of a boolean is asked again and then is a fault."""
    (task, _) = load(release)
    with (
        ChatServer(always(opinion("false"))) as server,
        pytest.raises(WorldFault, match="no valid answer"),
    ):
        judge(lent(server, Count(), JUDGE), task.task, [], "done")


def test_judge_and_world_are_billed_apart(release: Path, tmp_path: Path) -> None:
    meter = Count()
    with ChatServer(always(opinion(True))) as judging, ChatServer(always("{}")) as playing:
        who = Sitters(agent=Nop, world=lent(playing, meter), meter=meter, judge=lent(judging, meter, JUDGE))
        results = sit_all(load(release), who, tmp_path / "out")
    assert [result.judged for result in results] == [True, True]
    assert [result.ending for result in results] == [Ending.DONE, Ending.DONE]
    assert meter.calls == {"judge": 6}


@pytest.fixture
def whole() -> tuple[ImportedTask, ...]:
    folder = os.environ.get("PRACTICUM_OCCUBENCH")
    if not folder:
        pytest.skip("PRACTICUM_OCCUBENCH does not name the released files")
    return load(Path(folder))


def test_the_release_has_the_flaws_that_are_said_of_it(whole: tuple[ImportedTask, ...]) -> None:
    found = lint(whole)
    assert (found.tasks, found.tasks_with(Flaw.STATE_NOT_JSON)) == (382, 382)
    assert 0.6 < found.count(Flaw.FIELD_NOWHERE) / found.returned_fields < 0.75


def test_all_of_the_release_runs(whole: tuple[ImportedTask, ...], tmp_path: Path) -> None:
    meter = Count()
    with ChatServer(always('{"status": "ok"}')) as server:
        who = Sitters(agent=lambda: RandomHand(calls=4), world=lent(server, meter), meter=meter, steps=4)
        results = sit_all(whole, who, tmp_path / "out")
    assert len(results) == 382
    assert not [result for result in results if result.fault]
