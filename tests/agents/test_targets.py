"""The golden test of kind B: numbered targets, each clicked by its place in the picture that was sent."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pictures
from scipy import ndimage

from practicum.agents.agent import Ending, Image, Prompt, Reply, ToolMessage, UserMessage
from practicum.agents.generalist.body.react import ReactBody
from practicum.agents.generalist.brain.scripted import ScriptedBrain
from practicum.agents.generalist.eyes.marks import AccessibilityMarker, MarkedEyes
from practicum.agents.generalist.eyes.plain import PlainEyes
from practicum.agents.generalist.feet import AllTools
from practicum.agents.generalist.file import HANDS
from practicum.agents.generalist.layers import Layers
from practicum.agents.generalist.limits import limits_of
from practicum.agents.generalist.view import Size, Space, View
from practicum.infra.desk.applications import Targets
from practicum.infra.environment import ToolCall

DISC = (0x2F, 0x5D, 0x8A)


def newest(prompt: Prompt) -> Image:
    parts = [
        part
        for message in prompt.messages
        if isinstance(message, UserMessage | ToolMessage)
        for part in message.parts
    ]
    return next(part for part in reversed(parts) if isinstance(part, Image))


def discs(image: Image) -> list[tuple[float, float]]:
    """Middles of the discs in a sent picture, in its pixels, found by colour."""
    with Pictures.open(io.BytesIO(image.png)) as picture:
        pixels = np.asarray(picture.convert("RGB"), dtype=int)
    blue = np.abs(pixels - DISC).sum(axis=2) < 90
    labels, count = ndimage.label(blue)
    middles = [ndimage.center_of_mass(blue, labels, n) for n in range(1, count + 1)]
    areas = ndimage.sum_labels(blue, labels, range(1, count + 1))
    largest = max(areas)
    return [(x, y) for (y, x), area in zip(middles, areas, strict=True) if area > largest / 3]


class Clicker:
    """Clicks every disc it sees in the first picture, one an answer, speaking a dialect."""

    def __init__(self, hands: str, space: Space) -> None:
        self.hands, self.space = HANDS[hands](), space
        self.places: list[tuple[float, float]] | None = None
        self.finish = Reply("", (ToolCall("end", "finish", {"success": True, "message": ""}),))

    def __call__(self, prompt: Prompt) -> Reply:
        image = newest(prompt)
        if self.places is None:
            self.places = discs(image)
        if not self.places:
            return self.finish
        x, y = self.places.pop()
        sent = Size(image.width, image.height)
        seen = View(sent, sent, self.space)
        click: dict[str, Any] = {
            "action": "click",
            "x": round(x),
            "y": round(y),
            "button": "left",
            "count": 1,
        }
        return self.hands.render(ToolCall("c", "computer", click), seen)


@pytest.mark.parametrize("hands", sorted(HANDS))
@pytest.mark.parametrize("space", list(Space))
def test_every_dialect_hits_every_target_in_every_space(room: Any, hands: str, space: Space) -> None:
    click_all(room, hands, space, (800, 500), 500)


@pytest.mark.parametrize("space", list(Space))
@pytest.mark.parametrize(("size", "side"), [((640, 400), None), ((1200, 700), 500)])
def test_every_scale_hits_every_target_in_every_space(
    room: Any, space: Space, size: tuple[int, int], side: int | None
) -> None:
    click_all(room, "canonical", space, size, side)


def click_all(room: Any, hands: str, space: Space, size: tuple[int, int], side: int | None) -> None:
    """Each disc clicked by its place in the sent picture is hit, and nothing else."""
    targets = Targets(*size, columns=3, rows=2, radius=8)
    limits = limits_of("scripted")
    exam = room(targets, width=size[0], height=size[1])
    eyes = PlainEyes(limits, space, side=side, keep=1)
    brain = ScriptedBrain(Clicker(hands, space))
    layers = Layers(brain, eyes, HANDS[hands](), AllTools(), limits)
    assert exam.work(ReactBody(), layers) is Ending.DONE
    assert sorted(hit for hit in targets.hits if hit is not None) == list(range(6))
    assert None not in targets.hits


class MarkClicker:
    """Names marks instead of places, one after another."""

    def __init__(self) -> None:
        self.next = 1

    def __call__(self, prompt: Prompt) -> Reply:
        if self.next > 6:
            return Reply("", (ToolCall("end", "finish", {"success": True, "message": ""}),))
        arguments = {"action": "click", "mark": self.next}
        self.next += 1
        return Reply("", (ToolCall("c", "computer", arguments),))


def test_every_mark_is_hit(room: Any) -> None:
    """A click by mark lands on what the mark of the newest picture stands on."""
    targets = Targets(1280, 800, columns=3, rows=2)
    limits = limits_of("scripted")
    exam = room(targets, width=1280, height=800)
    eyes = MarkedEyes(limits, Space.PIXELS, AccessibilityMarker(), side=900)
    layers = Layers(ScriptedBrain(MarkClicker()), eyes, HANDS["canonical"](), AllTools(), limits)
    assert exam.work(ReactBody(), layers) is Ending.DONE
    assert targets.hits == list(range(6))
