"""What every environment keeps, whoever answers behind it: true, faulted, played and imported worlds."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import jsonschema
import pytest

from practicum.infra.environment import JSON, Environment, ToolCall, ToolErrorKind
from practicum.infra.faults.inject import inject
from practicum.infra.world.backends.chat import Said
from practicum.infra.world.backends.language import Language
from practicum.infra.world.differences import Kind
from practicum.infra.world.engine import WorldEnvironment
from practicum.infra.world.planted import Planted
from practicum.infra.world.shadow import Shadowed
from practicum.tasks.worlds import library
from practicum.tasks.worlds.occubench.reader import Action, Configuration, ImportedTask, Released
from practicum.tasks.worlds.occubench.world import ImportedWorld


def world() -> WorldEnvironment:
    scenario = library.scenario("public/dispatch")
    return scenario.open(scenario.setup(0))


def refusing(messages: Sequence[Said], schema: JSON) -> str:
    """A model that refuses everything, validly."""
    return json.dumps({"refused": "no", "answer": None})


def seeing(messages: Sequence[Said], schema: JSON) -> str:
    """A model that always sees something."""
    return '{"seen": true}'


def played() -> Environment:
    true = world()
    state = true.snapshot()["tables"]
    return WorldEnvironment(true.rules, true.rules.load(state), backend=Language(true.rules, state, refusing))


def imported() -> Environment:
    action = Action("look", "Look.", {"type": "object", "properties": {}, "required": []})
    configuration = Configuration("env", "Be a kitchen.", (action,), {}, {})
    task = ImportedTask(Released(1, 1, "Tea", "Look.", "env", "Looked."), configuration, "x", "y")
    return ImportedWorld(task, seeing)


OPENED: dict[str, Callable[[], Environment]] = {
    "world": world,
    "faulted": lambda: inject(world(), "E3", "contract"),
    "planted": lambda: Planted(world(), dict.fromkeys(Kind, 0.5), "contract"),
    "shadowed": lambda: Shadowed(world(), world()),
    "played": played,
    "imported": imported,
}


@pytest.fixture(params=OPENED)
def environment(request: pytest.FixtureRequest) -> Environment:
    return OPENED[request.param]()


def test_tools_are_named_once_and_described_by_valid_schemas(environment: Environment) -> None:
    tools = environment.tools()
    assert len({tool.name for tool in tools}) == len(tools) > 1
    for tool in tools:
        jsonschema.Draft202012Validator.check_schema(dict(tool.parameters))
        assert tool.description


@pytest.mark.parametrize("name", ["", "no_such_tool", "Submit", "__class__"])
def test_an_unknown_tool_is_an_error_result(environment: Environment, name: str) -> None:
    assert environment.call(ToolCall("1", name, {})).error is ToolErrorKind.UNKNOWN_TOOL


@pytest.mark.parametrize("arguments", [{"surprise": 1}, {"": None}])
def test_arguments_that_nobody_asked_for_are_an_error_result(
    environment: Environment, arguments: dict[str, object]
) -> None:
    result = environment.call(ToolCall("1", "submit", arguments))
    assert result.error is ToolErrorKind.BAD_ARGUMENTS
    assert result.text


def test_it_is_collected_into_an_empty_folder_at_any_time(environment: Environment, tmp_path: Path) -> None:
    environment.call(ToolCall("1", environment.tools()[0].name, {}))
    assert environment.collect(tmp_path) == ()
    assert (tmp_path / "journal.jsonl").is_file()
    assert not (tmp_path / "answer.json").exists()
