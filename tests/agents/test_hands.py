"""Kind J: every dialect reads its grammar, survives mutations of it, and executes nothing."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from practicum.agents.agent import MalformedCall, Reply
from practicum.agents.generalist.file import HANDS
from practicum.agents.generalist.layers import Act, Finish, Hands, Inexpressible, Mistake, Wish
from practicum.agents.generalist.view import Size, View
from practicum.infra.desk import keys, schemas
from practicum.infra.desk.actions import Point
from practicum.infra.desk.arguments import read_computer
from practicum.infra.environment import ToolCall

WIDTH, HEIGHT = 1280, 800
VIEW = View(Size(WIDTH, HEIGHT), Size(WIDTH, HEIGHT), pointer=Point(5, 6))
every_dialect = pytest.mark.parametrize("hands", [make() for make in HANDS.values()], ids=list(HANDS))

xs, ys = st.integers(0, WIDTH - 1), st.integers(0, HEIGHT - 1)
points = st.tuples(xs, ys).map(list)
chords = st.lists(
    st.sampled_from([*sorted(keys.NAMED), "a", "Z", "+", "é", "?"]), min_size=1, max_size=3, unique=True
).map(lambda names: keys.render_chord(keys.chord(names)))
texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40)
counts = st.integers(1, 3)
buttons = st.sampled_from(["left", "middle", "right"])
notches = st.sampled_from([-5, -1, 0, 1, 5, 30])
canonical = st.one_of(
    st.fixed_dictionaries({"action": st.just("click"), "x": xs, "y": ys, "button": buttons, "count": counts}),
    st.fixed_dictionaries(
        {"action": st.just("click"), "x": xs, "y": ys, "button": buttons, "count": counts, "keys": chords}
    ),
    st.fixed_dictionaries({"action": st.just("move"), "x": xs, "y": ys}),
    st.fixed_dictionaries({"action": st.just("drag"), "path": st.lists(points, min_size=2, max_size=3)}),
    st.fixed_dictionaries({"action": st.just("drag"), "path": st.tuples(st.just([5, 6]), points).map(list)}),
    st.fixed_dictionaries({"action": st.just("scroll"), "x": xs, "y": ys, "dx": notches, "dy": st.just(0)}),
    st.fixed_dictionaries({"action": st.just("scroll"), "x": xs, "y": ys, "dx": st.just(0), "dy": notches}),
    st.fixed_dictionaries({"action": st.just("type"), "text": texts}),
    st.fixed_dictionaries({"action": st.just("key"), "keys": chords}),
    st.fixed_dictionaries({"action": st.just("key"), "keys": chords, "hold": st.floats(0.1, 5)}),
    st.fixed_dictionaries({"action": st.sampled_from(["mouse_down", "mouse_up"]), "button": buttons}),
    st.fixed_dictionaries({"action": st.just("wait"), "seconds": st.sampled_from([0.0, 0.5, 3.0, 5.0])}),
    st.fixed_dictionaries({"action": st.just("screenshot")}),
)


def meaning(call: ToolCall) -> object:
    """A canonical call with its defaults filled in."""
    return read_computer(call.arguments, WIDTH, HEIGHT)


def only_acts(wishes: tuple[Wish, ...]) -> list[ToolCall]:
    intents = [intent for wish in wishes for intent in wish.intents]
    assert all(isinstance(intent, Act) for intent in intents), intents
    return [intent.call for intent in intents if isinstance(intent, Act)]


def said(hands: Hands, arguments: dict[str, Any]) -> Reply | None:
    try:
        return hands.render(ToolCall("c1", "computer", arguments), VIEW)
    except Inexpressible:
        return None


@every_dialect
@given(arguments=canonical)
@settings(max_examples=80)
def test_what_is_said_is_read_back(hands: Hands, arguments: dict[str, Any]) -> None:
    """read(render(call)) is the call, for every call the dialect has words for."""
    reply = said(hands, arguments)
    if reply is not None:
        (call,) = only_acts(read(hands, reply, VIEW))
        assert meaning(call) == meaning(ToolCall("", "computer", arguments))


@pytest.mark.parametrize(
    ("name", "least"),
    [("canonical", 13), ("anthropic", 10), ("openai", 9), ("qwen", 8), ("ui-tars", 5), ("pyautogui", 11)],
)
def test_dialects_have_words_for_what_their_family_can_do(name: str, least: int) -> None:
    """The round trip above is not won by having no words."""
    calls = [
        {"action": "click", "x": 0, "y": 0, "button": "left", "count": 1},
        {"action": "click", "x": 9, "y": 9, "button": "right", "count": 1},
        {"action": "click", "x": 9, "y": 9, "button": "left", "count": 2},
        {"action": "click", "x": 9, "y": 9, "button": "left", "count": 1, "keys": "ctrl"},
        {"action": "move", "x": 3, "y": 4},
        {"action": "drag", "path": [[5, 6], [7, 8]]},
        {"action": "scroll", "x": 1, "y": 2, "dx": 0, "dy": 5},
        {"action": "type", "text": "é'\"\\\n🙂"},
        {"action": "key", "keys": "ctrl+shift+s"},
        {"action": "key", "keys": "a", "hold": 2.0},
        {"action": "mouse_down", "button": "left"},
        {"action": "wait", "seconds": 5.0},
        {"action": "screenshot"},
    ]
    hands = HANDS[name]()
    spoken = [reply for reply in (said(hands, call) for call in calls) if reply is not None]
    assert len(spoken) >= least
    for reply in spoken:
        only_acts(read(hands, reply, VIEW))


class Sentry:
    """Python's own audit of what is run, while it watches."""

    watching = False
    ran: ClassVar[list[str]] = []
    forbidden = frozenset({"os.system", "subprocess.Popen", "os.exec", "os.posix_spawn", "os.remove"})

    @classmethod
    def hear(cls, event: str, arguments: tuple[object, ...]) -> None:
        source = getattr(arguments[0], "co_filename", "") if event == "exec" else ""
        compiled = event == "exec" and not Path(source).exists()
        if cls.watching and (compiled or event in cls.forbidden):
            cls.ran.append(f"{event} {source}")


read_computer({"action": "screenshot"}, WIDTH, HEIGHT)  # its annotations are evaluated once, at first use
sys.addaudithook(Sentry.hear)


def read(hands: Hands, reply: Reply, view: View | None) -> tuple[Wish, ...]:
    """Fails where reading ran anything."""
    Sentry.watching = True
    try:
        return hands.read(reply, view)
    finally:
        Sentry.watching = False
        ran = list(Sentry.ran)
        Sentry.ran.clear()
        assert ran == []


def test_the_sentry_hears() -> None:
    Sentry.watching = True
    eval("1 + 1")
    Sentry.watching = False
    assert Sentry.ran == ["exec <string>"]
    Sentry.ran.clear()


def mutated(text: str, data: st.DataObject) -> str:
    """The text with a few characters removed, doubled, exchanged or replaced."""
    for _ in range(data.draw(st.integers(0, 4))):
        if not text:
            break
        at = data.draw(st.integers(0, len(text) - 1))
        piece = data.draw(
            st.one_of(st.sampled_from(["", "(", ")", "'", '"', "\\", "{", "}", "-", "\x00", "\ud800"]), texts)
        )
        text = text[:at] + piece + text[at + data.draw(st.integers(0, 3)) :]
    return text


def all_well_formed(wishes: tuple[Wish, ...]) -> None:
    assert wishes
    for wish in wishes:
        assert wish.intents
        for intent in wish.intents:
            assert isinstance(intent, Act | Mistake | Finish)
            if isinstance(intent, Mistake):
                assert intent.reason
                assert len(intent.span) <= 500


@every_dialect
@given(arguments=canonical, data=st.data())
@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
def test_mutations_never_raise(hands: Hands, arguments: dict[str, Any], data: st.DataObject) -> None:
    """A mutated utterance is an action, an end, or a mistake with its span."""
    reply = said(hands, arguments)
    if reply is None:
        return
    text = mutated(reply.text, data)
    calls, malformed = [], []
    for call in reply.calls:
        written = mutated(json.dumps(call.arguments), data)
        try:
            arguments = json.loads(written)
        except ValueError:
            arguments = None
        if isinstance(arguments, dict):
            calls.append(ToolCall("c1", call.name, arguments))
        else:
            malformed.append(MalformedCall("c1", call.name, written, "not JSON"))
    all_well_formed(read(hands, Reply(text, tuple(calls), tuple(malformed)), VIEW))


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@every_dialect
@given(data=st.data())
@settings(max_examples=80)
def test_any_arguments_of_any_type_never_raise(hands: Hands, data: st.DataObject) -> None:
    """The names of the dialect with values of every JSON type."""
    (tool, *_) = hands.offer((schemas.computer(WIDTH, HEIGHT),), VIEW) or (schemas.computer(WIDTH, HEIGHT),)
    names = list(tool.parameters.get("properties", {"action": {}}))
    arguments = data.draw(st.dictionaries(st.sampled_from(names), json_values, max_size=5))
    verb = "type" if "type" in names else "action"
    if data.draw(st.booleans()) and verb in names:
        listed = tool.parameters["properties"][verb].get("enum", ["click"])
        arguments[verb] = data.draw(st.sampled_from(listed))
    view = data.draw(st.sampled_from([VIEW, None]))
    all_well_formed(read(hands, Reply("", (ToolCall("c1", tool.name, arguments),)), view))


@every_dialect
@given(text=st.text(max_size=200), cut=st.booleans())
@settings(max_examples=50)
def test_any_text_never_raises(hands: Hands, text: str, cut: bool) -> None:
    all_well_formed(read(hands, Reply(text, cut=cut), VIEW))


HOSTILE = [
    "__import__('os').system('true')",
    "pyautogui.click(__import__('os').getpid(), 3)",
    "pyautogui.write(open('/etc/passwd').read())",
    "[pyautogui.click(1, 2) for _ in range(9)]",
    "pyautogui.click(*[1, 2])",
    "pyautogui.write(f'{1 + 1}')",
    "import os\nos.remove('x')",
    "exec('1')",
    "x = 3\npyautogui.click(x, x)",
    "pyautogui.click(9**9**9, 1)",
    "(" * 5000,
    "-" * 15000 + "1",
    "pyautogui.write('a'" + "+'a'" * 4000 + ")",
    "pyautogui.press('a', presses=10**9)",
    "pyautogui.press('a', presses=1000000000)",
]


@pytest.mark.parametrize("code", HOSTILE)
def test_code_that_is_more_than_literal_calls_is_a_mistake_with_its_span(code: str) -> None:
    (wish,) = read(HANDS["pyautogui"](), Reply(f"```python\n{code}\n```"), VIEW)
    (mistake,) = wish.intents
    assert isinstance(mistake, Mistake)
    assert mistake.span.strip()[:10] in code


@pytest.mark.parametrize("hands", ["pyautogui", "ui-tars"])
def test_one_unreadable_statement_keeps_the_others_from_being_done(hands: str) -> None:
    lines = {
        "pyautogui": "```python\npyautogui.click(1, 2)\nshutil.rmtree('x')\n```",
        "ui-tars": "Action: click(start_box='(1,2)')\nformat_disk()",
    }
    (wish,) = read(HANDS[hands](), Reply(lines[hands]), VIEW)
    (mistake,) = wish.intents
    assert isinstance(mistake, Mistake)
    assert "rmtree" in mistake.span or "format_disk" in mistake.span


GOLDEN: list[tuple[str, Reply, list[dict[str, Any]]]] = [
    (
        "pyautogui",
        Reply("Now:\n```python\nimport pyautogui\npyautogui.moveTo(10, 20)\npyautogui.scroll(-5)\n```"),
        [
            {"action": "move", "x": 10, "y": 20},
            {"action": "scroll", "x": 10, "y": 20, "dy": 5},
        ],
    ),
    (
        "pyautogui",
        Reply("```\npyautogui.keyDown('ctrl')\npyautogui.click(x=1, y=0)\npyautogui.keyUp('ctrl')\n```"),
        [{"action": "click", "x": 1, "y": 0, "button": "left", "count": 1, "keys": "ctrl"}],
    ),
    (
        "pyautogui",
        Reply("```python\npyautogui.hotkey('ctrl', 'c')\n```"),
        [{"action": "key", "keys": "ctrl+c"}],
    ),
    (
        "pyautogui",
        Reply("```python\npyautogui.press('enter', presses=2)\n```"),
        [{"action": "key", "keys": "enter"}] * 2,
    ),
    (
        "ui-tars",
        Reply("Thought: the field\nAction: click(start_box='<|box_start|>(0,799)<|box_end|>')"),
        [{"action": "click", "x": 0, "y": 799, "button": "left", "count": 1}],
    ),
    (
        "ui-tars",
        Reply("Action: click(point='<point>12 34</point>')"),
        [{"action": "click", "x": 12, "y": 34, "button": "left", "count": 1}],
    ),
    (
        "ui-tars",
        Reply("Action: drag(start_box='[0, 0, 10, 20]', end_box='(50,60)')"),
        [{"action": "drag", "path": [[5, 10], [50, 60]]}],
    ),
    ("ui-tars", Reply("Action: hotkey(key='ctrl c')"), [{"action": "key", "keys": "ctrl+c"}]),
    (
        "anthropic",
        Reply("", (ToolCall("t", "computer", {"action": "key", "text": "Return"}),)),
        [{"action": "key", "keys": "enter"}],
    ),
    (
        "anthropic",
        Reply("", (ToolCall("t", "computer", {"action": "left_click"}),)),
        [{"action": "click", "x": 5, "y": 6, "button": "left", "count": 1}],
    ),
    (
        "anthropic",
        Reply(
            "",
            (
                ToolCall(
                    "t",
                    "computer",
                    {
                        "action": "scroll",
                        "coordinate": [0, 0],
                        "scroll_direction": "down",
                        "scroll_amount": 3,
                    },
                ),
            ),
        ),
        [{"action": "scroll", "x": 0, "y": 0, "dx": 0, "dy": 3}],
    ),
    (
        "openai",
        Reply("", (ToolCall("t", "computer", {"type": "keypress", "keys": ["CTRL", "S"]}),)),
        [{"action": "key", "keys": "ctrl+s"}],
    ),
    (
        "openai",
        Reply("", (ToolCall("t", "computer", {"type": "scroll", "x": 0, "y": 0, "scroll_y": 40}),)),
        [{"action": "scroll", "x": 0, "y": 0, "dx": 0, "dy": 1}],
    ),
    (
        "openai",
        Reply(
            "",
            (
                ToolCall(
                    "t",
                    "computer",
                    {"actions": [{"type": "click", "x": 1, "y": 2, "button": "wheel"}, {"type": "wait"}]},
                ),
            ),
        ),
        [
            {"action": "click", "x": 1, "y": 2, "button": "middle", "count": 1},
            {"action": "wait", "seconds": 1.0},
        ],
    ),
    (
        "qwen",
        Reply(
            '<tool_call>\n{"name": "computer_use", "arguments": {"action": "scroll", "coordinate": [0, 9], '
            '"pixels": -300}}\n</tool_call>'
        ),
        [{"action": "scroll", "x": 0, "y": 9, "dy": 3}],
    ),
]


@pytest.mark.parametrize(("name", "reply", "expected"), GOLDEN)
def test_utterances_as_the_models_write_them(name: str, reply: Reply, expected: list[dict[str, Any]]) -> None:
    calls = only_acts(read(HANDS[name](), reply, VIEW))
    assert [meaning(call) for call in calls] == [
        meaning(ToolCall("", "computer", arguments)) for arguments in expected
    ]


@pytest.mark.parametrize(
    ("name", "reply", "success"),
    [
        ("canonical", Reply("", (ToolCall("t", "finish", {"success": False, "message": "no"}),)), False),
        ("canonical", Reply("All done."), True),
        ("openai", Reply("All done."), True),
        (
            "qwen",
            Reply("", (ToolCall("t", "computer_use", {"action": "terminate", "status": "failure"}),)),
            False,
        ),
        ("ui-tars", Reply("Action: finished(content='done')"), True),
        ("ui-tars", Reply("Action: call_user()"), False),
        ("pyautogui", Reply("```DONE```"), True),
        ("pyautogui", Reply("```\nFAIL\n```"), False),
        ("pyautogui", Reply("```python\ncomputer.terminate(status='success')\n```"), True),
    ],
)
def test_every_dialect_can_end_the_exam(name: str, reply: Reply, success: bool) -> None:
    (wish,) = read(HANDS[name](), reply, VIEW)
    (end,) = wish.intents
    assert isinstance(end, Finish)
    assert end.success is success


@every_dialect
def test_a_cut_answer_is_called_cut_and_a_malformed_one_malformed(hands: Hands) -> None:
    """The two are told apart, and an empty answer is no finish."""
    cut = read(hands, Reply("I will now", cut=True), VIEW)
    assert "cut" in _reason(cut)
    malformed = read(hands, Reply("", malformed=(MalformedCall("c", "computer", '{"x', "not JSON"),)), VIEW)
    assert "cut" not in _reason(malformed)
    assert _reason(read(hands, Reply(""), VIEW))


def _reason(wishes: tuple[Wish, ...]) -> str:
    ((intent,),) = (wish.intents for wish in wishes)
    assert isinstance(intent, Mistake)
    return intent.reason


def test_a_place_named_before_any_picture_was_shown_is_a_mistake() -> None:
    reply = Reply("", (ToolCall("t", "computer", {"action": "click", "x": 0, "y": 0}),))
    assert "screenshot" in _reason(read(HANDS["canonical"](), reply, None))
