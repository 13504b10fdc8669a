"""The desk's tools answer a model's mistakes in words and never act on half of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from practicum.infra.desk.actions import Button, Click, Drag, Key, Point, Scroll
from practicum.infra.desk.applications import Notepad, Targets
from practicum.infra.desk.desk import DeskSpec, Label
from practicum.infra.desk.fake import FakeDesk, FakeDesks, Script
from practicum.infra.desk.tools import Deliverable, DeskEnvironment, DeskTool
from practicum.infra.environment import ToolCall, ToolErrorKind
from practicum.infra.errors import DeskFault, DeskLost, Stage
from practicum.infra.operator import CommandFailed, Operator, ToolFailed

SPEC = DeskSpec("base")


def label() -> Label:
    return Label("run", "trial", time.time() + 600)


@pytest.fixture
def desk() -> Iterator[FakeDesk]:
    with FakeDesks().open(SPEC, label()) as opened:
        assert isinstance(opened, FakeDesk)
        yield opened


def environment(desk: FakeDesk, *offered: DeskTool) -> DeskEnvironment:
    deliverables = (Deliverable(PurePosixPath("a.txt"), 100), Deliverable(PurePosixPath("folder"), 1000))
    return DeskEnvironment(desk, frozenset(offered or DeskTool), deliverables)


def acts(desk: FakeDesk) -> list[object]:
    assert isinstance(desk.application, Notepad)
    return list(desk.application.log)


MISTAKES = [
    {},
    {"action": "fly"},
    {"action": "click", "x": 5},
    {"action": "click", "x": "5", "y": 5},
    {"action": "click", "x": -1, "y": 5},
    {"action": "click", "x": 1280, "y": 5},
    {"action": "click", "x": 5, "y": 5, "speed": 3},
    {"action": "click", "x": 5, "y": 5, "button": "fourth"},
    {"action": "click", "x": 5, "y": 5, "count": 0},
    {"action": "drag", "path": [[1, 1]]},
    {"action": "drag", "path": [[1, 1], [5000, 1]]},
    {"action": "key", "keys": "ctrl+sausage"},
    {"action": "wait", "seconds": float("nan")},
    {"action": "wait", "seconds": 1e9},
    {"action": "type"},
    {"action": "type", "text": None},
]


@pytest.mark.parametrize("arguments", MISTAKES)
def test_wrong_arguments_are_answered_and_do_nothing(desk: FakeDesk, arguments: dict[str, object]) -> None:
    """A call that does not fit the schema gets `bad_arguments` in words, and no action takes effect."""
    result = environment(desk).call(ToolCall("1", "computer", arguments))
    assert result.error is ToolErrorKind.BAD_ARGUMENTS
    assert result.text
    assert acts(desk) == []


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(["action", "x", "y", "keys", "path", "text", "seconds"]), json_values))
def test_no_arguments_raise(arguments: dict[str, object]) -> None:
    """Whatever JSON a model writes, the answer is a result."""
    with FakeDesks().open(SPEC, label()) as opened:
        assert isinstance(opened, FakeDesk)
        environment(opened).call(ToolCall("1", "computer", arguments))


def test_calls_become_typed_actions(desk: FakeDesk) -> None:
    """Each canonical call reaches the desk as the action it names."""
    hands = Operator.over(environment(desk).call)
    hands.click(0, 0, button=Button.RIGHT, count=2)
    hands.drag((1, 2), (3, 4))
    hands.scroll(9, 9, dy=-3)
    hands.key("Ctrl+S")
    assert acts(desk) == [
        Click(Point(0, 0), Button.RIGHT, 2),
        Drag((Point(1, 2), Point(3, 4))),
        Scroll(Point(9, 9), 0, -3),
        Key(("ctrl", "s")),
    ]


def test_schemas_accept_what_the_operator_sends(desk: FakeDesk) -> None:
    """What our own hands send is valid under the schema that models are given."""
    box = environment(desk)
    schemas = {tool.name: tool.parameters for tool in box.tools()}
    hands = Operator.over(
        lambda call: (jsonschema.validate(call.arguments, schemas[call.name]), box.call(call))[1]
    )
    hands.click(3, 4)
    hands.type("x")
    hands.drag((1, 1), (2, 2))
    hands.wait(0)
    hands.elements()
    hands.bash("true")
    hands.write_file("a", "b")
    assert hands.read_file("a") == "b"


def test_only_offered_tools_exist(desk: FakeDesk) -> None:
    """A task without bash has no bash, neither listed nor callable."""
    box = environment(desk, DeskTool.COMPUTER)
    assert [tool.name for tool in box.tools()] == ["computer"]
    assert box.call(ToolCall("1", "bash", {"command": "true"})).error is ToolErrorKind.UNKNOWN_TOOL


def test_commands_tell_output_and_exit_code(desk: FakeDesk) -> None:
    """A failing command is an answer with its exit code; the operator turns it into an error."""
    box = environment(desk)
    result = box.call(ToolCall("1", "bash", {"command": "echo out; echo err >&2; exit 3"}))
    assert result.error is None
    assert (result.data or {})["exit_code"] == 3
    assert all(word in result.text for word in ("out", "err", "[exit code 3]"))
    with pytest.raises(CommandFailed):
        Operator.over(box.call).bash("exit 3")


def test_a_timed_out_command_is_killed_and_said(desk: FakeDesk) -> None:
    """Time-outs are told apart from exit codes."""
    result = environment(desk).call(ToolCall("1", "bash", {"command": "sleep 60", "timeout": 0.3}))
    assert (result.data or {})["timed_out"] is True
    assert "[killed after" in result.text


def test_files_are_the_agents_own(desk: FakeDesk) -> None:
    """Reading and writing go with the agent's rights: a link to a house file gives nothing."""
    hands = Operator.over(environment(desk).call)
    hands.bash("ln -s /house outputs_link; ln -s /house/secret s")
    for path in ("s", "/house/secret", "nothing", "outputs_link/x"):
        with pytest.raises(ToolFailed):
            hands.read_file(path)
    with pytest.raises(ToolFailed):
        hands.write_file("outputs_link/x", "planted")


def test_collect_leaves_out_and_says_so(desk: FakeDesk, tmp_path: Path) -> None:
    """Links, missing and too large outputs are left out with a note; the rest comes whole."""
    box = environment(desk)
    Operator.over(box.call).bash(
        "mkdir -p outputs/folder; head -c 200 /dev/zero > outputs/a.txt;"
        "echo hi > outputs/folder/x; ln -s /etc/passwd outputs/folder/l"
    )
    notes = box.collect(tmp_path)
    assert [note.split(":")[0] for note in notes] == ["a.txt"]
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["x"]


def test_after_collecting_the_agent_is_gone(desk: FakeDesk, tmp_path: Path) -> None:
    """A background writer stops before anything is copied, and no further command runs."""
    box = environment(desk)
    hands = Operator.over(box.call)
    hands.bash("mkdir -p outputs; (while :; do date +%N > outputs/a.txt; done) >/dev/null 2>&1 &")
    box.collect(tmp_path)
    first = (tmp_path / "a.txt").read_bytes()
    again = tmp_path / "again"
    again.mkdir()
    desk.get(PurePosixPath("/home/agent/outputs/a.txt"), again / "a.txt")
    assert (again / "a.txt").read_bytes() == first
    assert box.call(ToolCall("9", "bash", {"command": "true"})).error is ToolErrorKind.UNSUPPORTED


def test_every_target_is_hit_where_it_is_drawn() -> None:
    """Clicking each numbered disc at its centre hits that number."""
    page = Targets(SPEC.width, SPEC.height)
    with FakeDesks(application=lambda _: page).open(SPEC, label()) as opened:
        assert isinstance(opened, FakeDesk)
        hands = Operator.over(environment(opened).call)
        for number in range(page.columns * page.rows):
            hands.click(page.centre(number).x, page.centre(number).y)
    assert page.hits == list(range(page.columns * page.rows))


@pytest.mark.parametrize("stage", list(Stage))
def test_a_desk_that_fails_to_open_leaves_nothing(stage: Stage, tmp_path: Path) -> None:
    """A scripted failure at any stage is a staged fault with logs, and no desk stays held."""
    desks = FakeDesks(script=Script(fail_at=stage), root=tmp_path)
    with pytest.raises(DeskFault) as caught, desks.open(SPEC, label()):
        pass
    assert caught.value.stage is stage
    assert caught.value.logs
    assert desks.held() == ()


def test_a_lost_desk_is_a_fault_not_an_answer() -> None:
    """When the machine is gone the tools raise; they do not blame the model."""
    with FakeDesks(script=Script(lost_after=1)).open(SPEC, label()) as opened:
        assert isinstance(opened, FakeDesk)
        box = environment(opened)
        with pytest.raises(DeskLost):
            box.call(ToolCall("1", "computer", {"action": "click", "x": 1, "y": 1}))
