"""An exam on a fake desk, sat through the controller's own `Sitting`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from practicum.agents.agent import Agent, Ending, ModelStep, NoteStep, Step, ToolStep, Usage
from practicum.agents.generalist.layers import Body, Layers
from practicum.controller.exam import Sitting
from practicum.infra.desk.applications import Application, Notepad
from practicum.infra.desk.desk import DeskSpec, Label
from practicum.infra.desk.fake import FakeDesks
from practicum.infra.desk.tools import DeskEnvironment, DeskTool
from practicum.tasks.spec import Limits


@dataclass
class OpenBill:
    """A bill that only remembers."""

    book: list[Usage]

    def charge(self, usage: Usage) -> int | None:
        self.book.append(usage)
        return 0

    def release(self) -> None:
        pass


@dataclass
class OpenMeter:
    """A meter without caps. `reserved` and `charged` are pairs of one call in order."""

    reserved: list[Usage] = field(default_factory=list)
    charged: list[Usage] = field(default_factory=list)

    def reserve(self, model: str, worst: Usage, purpose: str) -> OpenBill:
        self.reserved.append(worst)
        return OpenBill(self.charged)


@dataclass
class Steps:
    steps: list[Step] = field(default_factory=list)

    def step(self, step: Step) -> None:
        self.steps.append(step)

    @property
    def notes(self) -> list[str]:
        return [step.text for step in self.steps if isinstance(step, NoteStep)]

    @property
    def calls(self) -> list[ToolStep]:
        return [step for step in self.steps if isinstance(step, ToolStep)]

    @property
    def asked(self) -> list[ModelStep]:
        return [step for step in self.steps if isinstance(step, ModelStep)]


@dataclass
class Room:
    """One exam: what is on the screen, what was recorded, how it ended."""

    application: Application
    sitting: Sitting
    record: Steps
    meter: OpenMeter

    def seat(self, agent: Agent) -> Ending:
        return self.sitting.seat(agent)

    def work(self, body: Body, layers: Layers) -> Ending:
        return self.seat(_Worker(body, layers))


@dataclass
class _Worker:
    body: Body
    layers: Layers
    name: str = "worker"
    digest: str = "worker"

    def sit(self, exam: Sitting) -> None:
        self.body.work(exam, self.layers)


OpenRoom = Callable[..., Room]


@pytest.fixture
def room() -> Iterator[OpenRoom]:
    """Opens an exam on a fake desk that shows an application."""
    with tempfile.TemporaryDirectory() as root, ExitStack() as stack:

        def open_room(
            application: Application | None = None,
            *,
            instruction: str = "Write hello.",
            width: int = 1280,
            height: int = 800,
            tools: frozenset[DeskTool] = frozenset({DeskTool.COMPUTER}),
            limits: Limits = Limits(),  # noqa: B008 - frozen
            seed: int = 7,
        ) -> Room:
            shown = application or Notepad()
            desks = FakeDesks(application=lambda _: shown, root=Path(root))
            spec = DeskSpec("none", width=width, height=height)
            desk = stack.enter_context(desks.open(spec, Label("test", "test", 2.0**33)))
            environment = DeskEnvironment(desk, tools, ())
            record, meter = Steps(), OpenMeter()
            sitting = Sitting(instruction, environment.tools(), seed, environment, limits, meter, record)
            return Room(shown, sitting, record, meter)

        yield open_room
