"""The generalist, driven over the real HTTP API, orders supplies in the web portal from screenshots alone.

In place of a model sits a clerk: it knows the instruction and the newest picture, nothing else. It reads the
picture with OCR, finds boxes by their borders, and answers with a click and what to type.
"""

from __future__ import annotations

import difflib
import io
import math
import os
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image as Pictures

from practicum.agents.agent import Ending, Image, Prompt, Reply, Text, UserMessage
from practicum.agents.generalist.eyes.ocr import read_lines
from practicum.agents.serve.faults import Status
from practicum.agents.serve.server import ChatServer
from practicum.controller.outcome import Result, Scored
from practicum.infra.desk.desk import Element
from practicum.infra.environment import ToolCall

CODE = re.compile(r"[0-9A-Z]{4}-[0-9A-Z]{4}")
CODE_READINGS = str.maketrans("OILU", "011V")
DIGIT_READINGS = str.maketrans("OISBZ", "01582")


RELEASE = "Press 'Release order'."
TWINS = {"S": "5", "5": "S", "B": "8", "8": "B", "Z": "2", "2": "Z", "G": "6", "6": "G", "Q": "0"}


def twin_places(code: str) -> list[int]:
    """Places of characters that look like another, the last first."""
    return [at for at in range(len(code) - 1, -1, -1) if code[at] in TWINS]


@dataclass(frozen=True)
class Box:
    """An input box: its left and right border, and the height of its middle."""

    left: int
    right: int
    y: int


@dataclass
class Screen:
    """One picture as the clerk sees it."""

    picture: Pictures.Image
    lines: tuple[Element, ...]
    grey: NDArray[np.int16]

    @classmethod
    def of(cls, image: Image) -> Screen:
        with Pictures.open(io.BytesIO(image.png)) as opened:
            picture = opened.convert("RGB")
        return cls(picture, read_lines(picture), np.asarray(picture.convert("L"), dtype=np.int16))

    def line(self, words: str) -> Element | None:
        """The line that reads most like these words."""
        rated = [(alike(line.name, words), line) for line in self.lines]
        score, best = max(rated, key=lambda pair: pair[0], default=(0.0, None))
        return best if score > 0.85 else None

    def boxes_right_of(self, x: int, y: int) -> list[Box]:
        """The input boxes in a row, from x to the right, by their upright borders."""
        band, paper = self.grey[y - 8 : y + 9], self.grey[y, x]
        upright = (np.abs(band - paper) > 25).all(axis=0)
        upright[:x] = False
        edges = np.flatnonzero(upright & ~np.roll(upright, 1))
        pairs = zip(edges[::2], edges[1::2], strict=False)
        return [Box(int(left), int(right), y) for left, right in pairs]

    def box_of(self, label: Element) -> Box:
        """The first box to the right of a label."""
        return self.boxes_right_of(label.x + label.width + 3, label.y + label.height // 2)[0]

    def rows_below(self, header: Element) -> list[int]:
        """Middles of the boxes that stand below a header, by their level borders."""
        x = header.x + 12
        band = self.grey[:, x - 6 : x + 7]
        paper = self.grey[header.y + header.height + 4, x]
        level = (np.abs(band - paper) > 25).all(axis=1)
        level[: header.y + header.height + 2] = False
        edges = np.flatnonzero(level & ~np.roll(level, 1))
        pairs = list(zip(edges[::2], edges[1::2], strict=False))
        return [int(top + bottom) // 2 for top, bottom in pairs if 12 < bottom - top < 60]

    def inked(self, box: Box) -> bool:
        """Something is written in the box; a single digit is not always read."""
        inside = self.grey[box.y - 7 : box.y + 8, box.left + 5 : box.right - 30]
        return bool((inside < 110).sum() > 5)

    def codes_below(self, heading: Element) -> list[str]:
        """Readings of the large code under its heading, the likeliest first: it is read at several sizes, and
        some letters look like digits."""
        top = heading.y + heading.height + 6
        strip = self.picture.crop((heading.x - 10, top, heading.x + 330, top + 40))
        votes: Counter[str] = Counter()
        for scale in (0.5, 0.7, 1.0, 1.5, 2.0):
            size = (round(strip.width * scale), round(strip.height * scale))
            text = "".join(line.name for line in read_lines(strip.resize(size), confidence=0.0))
            votes.update(code.translate(CODE_READINGS) for code in CODE.findall(text.replace(" ", "")))
        read = [code for code, _ in votes.most_common()]
        twins = [code[:at] + TWINS[code[at]] + code[at + 1 :] for code in read for at in twin_places(code)]
        return list(dict.fromkeys((*read, *twins)))

    def text_in(self, box: Box) -> str:
        inside = [
            line
            for line in self.lines
            if box.left < line.x + line.width / 2 < box.right and abs(line.y + line.height / 2 - box.y) < 12
        ]
        return " ".join(line.name.strip("|") for line in sorted(inside, key=lambda line: line.x))


@dataclass(frozen=True)
class Requisition:
    """What the instruction says."""

    fields: dict[str, str]
    shipping: str
    needs: tuple[tuple[int, str], ...]

    @classmethod
    def read(cls, instruction: str) -> Requisition:
        def after(label: str) -> str:
            found = re.search(rf"^- {label}: (.+)$", instruction, re.MULTILINE)
            assert found, label
            return found.group(1)

        recipient, department = after("Deliver to").split(", ")
        date = datetime.strptime(after("Delivery date").partition(" (")[0], "%d %B %Y")  # noqa: DTZ007 - a day
        needs = re.findall(r"^\s+- at least (\d+) \w+ of (.+)$", instruction, re.MULTILINE)
        return cls(
            {
                "Account": after("Customer account"),
                "Cost centre": after("Cost centre"),
                "Recipient": recipient,
                "Department": department,
                "Delivery date": date.strftime("%Y-%m-%d"),
                "Driver's note": after("Note to the driver, word for word"),
            },
            after("Shipping"),
            tuple((int(units), name) for units, name in needs),
        )


@dataclass
class Clerk:
    """A policy in place of a model. It remembers only how often it tried something."""

    tried: dict[str, int] = field(default_factory=dict)
    calls: Iterator[int] = field(default_factory=lambda: iter(range(1, 10_000)))

    def __call__(self, prompt: Prompt) -> Reply:
        if not prompt.tools:
            return Reply("1. Fill in the form. 2. Place the order. 3. Type the code and release the order.")
        instruction, image = seen(prompt)
        screen = Screen.of(image)
        if any("has been released" in line.name for line in screen.lines):
            return self.say("The order is released.", ("finish", {"success": True, "message": "released"}))
        if screen.line("Confirmation code"):
            return self.release(screen)
        return self.fill(screen, Requisition.read(instruction))

    def fill(self, screen: Screen, wanted: Requisition) -> Reply:
        """Everything once; then, when the screen has caught up, what does not read as it should once more."""
        for tries in (1, 2):
            for label, text in wanted.fields.items():
                found = screen.line(label)
                assert found, f"no {label} on the screen"
                reply = self.write(label, screen, screen.box_of(found), text, tries)
                if reply:
                    return reply
            reply = self.choose(screen, wanted) or self.list_articles(screen, wanted, tries)
            if reply:
                return reply
        return self.press(screen, "Place order")

    def choose(self, screen: Screen, wanted: Requisition) -> Reply | None:
        """Open the list, then take the line in it."""
        found = screen.line("Shipping")
        assert found
        box = screen.box_of(found)
        below = [line for line in screen.lines if line.y > box.y + 12]
        offered = [line for line in below if alike(line.name, wanted.shipping) > 0.9]
        if offered:
            return self.click(offered[0])
        if alike(screen.text_in(box), wanted.shipping) >= 0.8:
            return None
        opened = {"action": "click", "x": (box.left + box.right) // 2, "y": box.y}
        return self.patiently("Open the list.", opened)

    def list_articles(self, screen: Screen, wanted: Requisition, tries: int) -> Reply | None:
        header = screen.line("Article number")
        assert header
        for row, (y, (units, name)) in enumerate(zip(screen.rows_below(header), wanted.needs, strict=False)):
            article, pack = catalogued(screen, name)
            boxes = screen.boxes_right_of(header.x - 6, y)
            for box, text in zip(boxes, (article, str(math.ceil(units / pack))), strict=False):
                reply = self.write(f"line {row} {box.left > header.x + 100}", screen, box, text, tries)
                if reply:
                    return reply
        return None

    def release(self, screen: Screen) -> Reply:
        heading, label = screen.line("Confirmation code"), screen.line("Type the code")
        assert heading
        assert label
        codes, tries = screen.codes_below(heading), max(self.tried.get("code", 0), 1)
        if self.tried.get(RELEASE, 0) >= 2 and screen.line("This is not the confirmation code of the order."):
            self.tried[RELEASE], tries = 0, tries + 1
        if len(codes) < tries:
            return self.look()
        written = self.write("code", screen, screen.box_of(label), codes[tries - 1], tries)
        return written or self.press(screen, "Release order")

    def write(self, what: str, screen: Screen, box: Box, text: str, tries: int) -> Reply | None:
        """Nothing where the box reads so already. Click at its far end, where the pointer hides no word; a
        second try replaces the first."""
        tried = self.tried.get(what, 0)
        short = len(text) < 3 and screen.inked(box)
        if tried >= tries or short or alike(screen.text_in(box), text) >= 0.8:
            return None
        self.tried[what] = tried + 1
        calls = [{"action": "click", "x": box.right - 12, "y": box.y}, {"action": "type", "text": text}]
        if tried:
            calls.insert(1, {"action": "key", "keys": "ctrl+a"})
        return self.say(f"Write {text!r}.", *(("computer", call) for call in calls))

    def patiently(self, what: str, action: dict[str, Any]) -> Reply:
        """Do it, then look twice whether it has worked before doing it again."""
        self.tried[what] = self.tried.get(what, 0) + 1
        return self.say(what, ("computer", action)) if self.tried[what] % 3 == 1 else self.look()

    def look(self) -> Reply:
        return self.say("Look again.", ("computer", {"action": "wait", "seconds": 0.5}))

    def press(self, screen: Screen, name: str) -> Reply:
        button = screen.line(name)
        if button is None:
            return self.look()
        return self.patiently(f"Press {name!r}.", {"action": "click", **middle(button)})

    def click(self, line: Element) -> Reply:
        return self.say(f"Press {line.name!r}.", ("computer", {"action": "click", **middle(line)}))

    def say(self, text: str, *calls: tuple[str, dict[str, Any]]) -> Reply:
        return Reply(text, tuple(ToolCall(f"call-{next(self.calls)}", name, said) for name, said in calls))


def seen(prompt: Prompt) -> tuple[str, Image]:
    """The instruction and the newest picture of a conversation."""
    parts = [
        part for message in prompt.messages if isinstance(message, UserMessage) for part in message.parts
    ]
    instruction = next(part.text for part in parts if isinstance(part, Text))
    return instruction, next(part for part in reversed(parts) if isinstance(part, Image))


def middle(line: Element) -> dict[str, int]:
    return {"x": line.x + line.width // 2, "y": line.y + line.height // 2}


def catalogued(screen: Screen, name: str) -> tuple[str, int]:
    """Article number and pack size of what the catalogue describes most like this name."""
    article, description, pack = (screen.line(word) for word in ("Article", "Description", "Pack"))
    assert article
    assert description
    assert pack
    under = [line for line in screen.lines if abs(line.x - description.x) < 6 and line.y > description.y + 10]
    best = max(under, key=lambda line: alike(line.name, name))
    row = [line for line in screen.lines if abs(line.y + line.height / 2 - best.y - best.height / 2) < 9]
    number = next(line.name for line in row if abs(line.x - article.x) < 6)
    size = next(line.name for line in row if abs(line.x - pack.x) < 6)
    letters, _, digits = number.partition("-")
    return f"{letters}-{digits.translate(DIGIT_READINGS)}", int(re.sub(r"\D.*", "", size))


def alike(one: str, other: str) -> float:
    """How alike two texts read, 0 to 1; digits must agree, accents and punctuation need not."""
    first, second = plain(one), plain(other)
    if re.findall(r"\d+", first) != re.findall(r"\d+", second):
        return 0.0
    return difflib.SequenceMatcher(None, first, second).ratio()


def plain(text: str) -> str:
    letters = unicodedata.normalize("NFKD", text).casefold()
    return " ".join(re.sub(r"[^\w\s]|[\u0300-\u036f]", "", letters).split())


@pytest.mark.docker
@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 2])
def test_the_order_is_placed_and_released_by_sight(tmp_path: Path, seed: int) -> None:
    """Score 1 over HTTP, in spite of a rate limit and a server error, with the trajectory on disk."""
    clerk = Clerk()
    faults = [None, Status(429, {"retry-after-ms": "20"}), Status(500), None]
    with ChatServer.scripted(clerk, faults, key="a-test-key") as server:
        out = tmp_path / "run"
        done = subprocess.run(
            [
                *(str(Path(sys.executable).with_name("practicum")), "run", "business/web-order"),
                *("--agent", "generalist", "--seeds", str(seed)),
                *("--free", "--out", str(out)),
            ],
            env=os.environ
            | {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "a-test-key", "PRACTICUM_MODEL": "clerk-1"},
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = out.glob("trials/*/result.json")
    outcome = msgspec.json.decode(path.read_bytes(), type=Result).outcome
    assert isinstance(outcome, Scored)
    assert outcome.verdict.passed, outcome.verdict.failures()
    assert outcome.ending is Ending.DONE
    steps = next(out.glob("trials/*/attempts/*/steps.jsonl")).read_bytes().splitlines()
    assert sum(b'"kind":"model"' in step for step in steps) > 15
    assert sum(b'"kind":"tool"' in step for step in steps) > 20
    assert list(out.glob("trials/*/attempts/*/frames/*.png"))
    assert b"a-test-key" not in b"".join(path.read_bytes() for path in out.rglob("*") if path.is_file())
    assert all(image_only(prompt) for prompt in server.prompts)


def image_only(prompt: Prompt) -> bool:
    """No tool but the screen was offered: nothing else could tell the clerk of the desk."""
    return {tool.name for tool in prompt.tools} <= {"computer", "finish"}
