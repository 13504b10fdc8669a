"""The agent file: which layer is which, and putting the five together."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from practicum.agents.agent import Model
from practicum.agents.generalist.body.deliberate import DeliberateBody
from practicum.agents.generalist.body.react import ReactBody
from practicum.agents.generalist.brain.chat import ChatBrain, connect
from practicum.agents.generalist.brain.recorded import Match, RecordedBrain, Recording
from practicum.agents.generalist.brain.scripted import ScriptedBrain, load_script
from practicum.agents.generalist.eyes.marks import AccessibilityMarker, MarkedEyes
from practicum.agents.generalist.eyes.ocr import OcrMarker
from practicum.agents.generalist.eyes.plain import PlainEyes
from practicum.agents.generalist.feet import AllTools, GuiOnly, ShellOnly
from practicum.agents.generalist.hands.anthropic import AnthropicHands
from practicum.agents.generalist.hands.canonical import CanonicalHands
from practicum.agents.generalist.hands.openai import OpenAIHands
from practicum.agents.generalist.hands.pyautogui import PyAutoGuiHands
from practicum.agents.generalist.hands.qwen import QwenHands
from practicum.agents.generalist.hands.ui_tars import UiTarsHands
from practicum.agents.generalist.layers import Body, Eyes, Feet, Hands, Layers
from practicum.agents.generalist.limits import Limits, limits_of
from practicum.agents.generalist.view import Space
from practicum.agents.strict import BadFile, suggestion

MODEL = "PRACTICUM_MODEL"
BASE_URL = "OPENAI_BASE_URL"
API_KEY = "OPENAI_API_KEY"

HANDS: Mapping[str, Callable[[], Hands]] = {
    "canonical": CanonicalHands,
    "openai": OpenAIHands,
    "anthropic": AnthropicHands,
    "qwen": QwenHands,
    "ui-tars": UiTarsHands,
    "pyautogui": PyAutoGuiHands,
}
FEET: Mapping[str, Callable[[], Feet]] = {"all": AllTools, "gui": GuiOnly, "shell": ShellOnly}


class AgentUnavailable(Exception):
    """The machine lacks what this agent needs; the message says what."""


class _Layer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    """One layer of an agent file, told apart by `kind`."""


class Chat(_Layer, frozen=True, tag="chat"):
    """`model` stands where PRACTICUM_MODEL is not set. `record` also writes every answer to a file."""

    model: str
    max_tokens_key: str = "max_completion_tokens"
    extra: dict[str, Any] = {}
    record: str | None = None


class Scripted(_Layer, frozen=True, tag="scripted"):
    """`script` is relative to the agent file."""

    script: str


class Replayed(_Layer, frozen=True, tag="recorded"):
    """`record` is relative to the agent file."""

    record: str
    match: Match = Match.PROMPT


class Plain(_Layer, frozen=True, tag="plain"):
    keep: int = 3
    side: int | None = None
    space: Space | None = None


class Marks(_Layer, frozen=True, tag="marks"):
    keep: int = 3
    side: int | None = None
    space: Space | None = None
    most: int = 150


class Ocr(_Layer, frozen=True, tag="ocr"):
    keep: int = 3
    side: int | None = None
    space: Space | None = None
    most: int = 150


class React(_Layer, frozen=True, tag="react"):
    max_output: int = 4096
    patience: int = 8


class Deliberate(_Layer, frozen=True, tag="deliberate"):
    max_output: int = 4096
    patience: int = 8
    nudges: int = 3
    plan: bool = True
    check: bool = True


class AgentFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An agent file. `hands` unset is the dialect that the model's table row names."""

    brain: Chat | Scripted | Replayed
    eyes: Plain | Marks | Ocr = Plain()
    body: React | Deliberate = Deliberate()
    hands: str | None = None
    feet: str = "all"


class Endpoint(msgspec.Struct, frozen=True):
    """Where the chat brain finds its model, from the environment. The key is kept out of every print."""

    model: str
    base_url: str | None
    api_key: str

    def __repr__(self) -> str:
        return f"Endpoint({self.model!r}, {self.base_url!r}, <key>)"


def endpoint(chat: Chat) -> Endpoint:
    """Raises `AgentUnavailable` without a key, unless the endpoint is one's own: those often want none."""
    base_url = os.environ.get(BASE_URL) or None
    key = os.environ.get(API_KEY) or ("none" if base_url else "")
    if not key:
        raise AgentUnavailable(f"{API_KEY} is not set (or set {BASE_URL} to an endpoint without keys)")
    return Endpoint(os.environ.get(MODEL) or chat.model, base_url, key)


def check(path: Path, file: AgentFile) -> None:
    """What the types cannot say. Raises `BadFile`."""
    if file.hands is not None and file.hands not in HANDS:
        raise BadFile(path, f"hands is {file.hands!r}; {suggestion(file.hands, list(HANDS))}")
    if file.feet not in FEET:
        raise BadFile(path, f"feet is {file.feet!r}; {suggestion(file.feet, list(FEET))}")


def brain(path: Path, settings: Chat | Scripted | Replayed) -> tuple[Model, Limits]:
    """A brain of its own for one exam, and the limits of its model."""
    match settings:
        case Chat():
            where = endpoint(settings)
            limits = limits_of(where.model)
            client = connect(where.base_url, where.api_key)
            chat = ChatBrain(
                where.model,
                client,
                limits,
                extra=settings.extra,
                max_tokens_key=settings.max_tokens_key,
            )
            record = settings.record
            return (Recording(chat, path.parent / record) if record else chat), limits
        case Scripted(script=script):
            return ScriptedBrain(load_script(path.parent / script)), limits_of("scripted")
        case Replayed(record=record, match=match):
            replay = RecordedBrain.load(path.parent / record, match)
            return replay, limits_of(replay.name)


def eyes(settings: Plain | Marks | Ocr, limits: Limits) -> Eyes:
    space = settings.space or limits.space
    match settings:
        case Plain(keep=keep, side=side):
            return PlainEyes(limits, space, keep, side)
        case Marks(keep=keep, side=side, most=most):
            return MarkedEyes(limits, space, AccessibilityMarker(), keep, side, most)
        case Ocr(keep=keep, side=side, most=most):
            return MarkedEyes(limits, space, OcrMarker(), keep, side, most)


def body(settings: React | Deliberate) -> Body:
    fields = msgspec.structs.asdict(settings)
    return ReactBody(**fields) if isinstance(settings, React) else DeliberateBody(**fields)


def layers(path: Path, file: AgentFile) -> Layers:
    """The layers for one exam; nothing of an earlier exam is in them."""
    model, limits = brain(path, file.brain)
    hands = HANDS[file.hands or limits.hands]()
    return Layers(model, eyes(file.eyes, limits), hands, FEET[file.feet](), limits)
