"""A desk one may sit at in the browser: see it, work on it, grade it as it stands, keep the actions."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from practicum.controller.errors import BadRequest
from practicum.controller.grading import grade
from practicum.infra.desk.desk import Desk, DeskProvider, DeskSpec, Frame, Label, Settle
from practicum.infra.desk.tools import DeskEnvironment, DeskTool
from practicum.infra.environment import ToolCall
from practicum.tasks.desk_task import DeskTask
from practicum.tasks.spec import Instance, Task
from practicum.verifiers.verdict import Verdict

AT_ONCE = Settle(quiet=0.0, bound=0.0)


@dataclass(slots=True)
class LiveDesk:
    """One open desk, and the question it was staged with if there is one. Safe to use from many threads."""

    desk: Desk
    tools: DeskEnvironment
    task: DeskTask | None = None
    instance: Instance | None = None
    calls: list[ToolCall] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)
    _ids: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def frame(self) -> Frame:
        """The screen as it is now, settled or not. Raises `DeskFault`."""
        with self._lock:
            return self.desk.observe(AT_ONCE)

    def act(self, arguments: dict[str, Any]) -> str:
        """One `computer` call, remembered when it took effect; returns what was wrong with it, or nothing."""
        call = ToolCall(f"live-{next(self._ids)}", DeskTool.COMPUTER, arguments)
        with self._lock:
            result = self.tools.call(call)
            if result.error is not None:
                return result.text
            self.calls.append(call)
            return ""

    def grade(self) -> Verdict:
        """What the task's verifier says of the outputs as they are now; the desk goes on."""
        if self.task is None or self.instance is None:
            raise BadRequest("this desk was opened without a task")  # its page has no such button
        with tempfile.TemporaryDirectory() as folder, self._lock:
            self.tools.snapshot(Path(folder))
            return grade(self.task, Path(folder), self.instance.reference, self.instance.params)

    def script(self) -> str:
        """The actions so far as the body of a `solve` function."""
        return "\n".join(("def solve(hands, params):", *(f"    {line}" for line in lines(self.calls)))) + "\n"


def lines(calls: Iterable[ToolCall]) -> Iterator[str]:
    """Operator calls, one a line; neighbouring typing becomes one call."""
    typed = ""
    for call in calls:
        arguments = dict(call.arguments)
        action = arguments.pop("action")
        if action == "type":
            typed += arguments["text"]
            continue
        if typed:
            yield f"hands.type({typed!r})"
            typed = ""
        yield _line(action, arguments)
    if typed:
        yield f"hands.type({typed!r})"


def _line(action: str, arguments: dict[str, Any]) -> str:
    match action, arguments:
        case "click", {"x": x, "y": y, **rest} if not rest:
            return f"hands.click({x}, {y})"
        case "key", {"keys": keys, **rest} if not rest:
            return f"hands.key({keys!r})"
        case "drag", {"path": path, **rest} if not rest:
            return f"hands.drag({', '.join(str(tuple(point)) for point in path)})"
        case _:
            told = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
            return f"hands.tool('computer', action={action!r}, {told})"


@contextmanager
def bare(spec: DeskSpec, desks: DeskProvider, label: Label) -> Iterator[LiveDesk]:
    """A desk with nothing staged."""
    with desks.open(spec, label) as desk:
        yield LiveDesk(desk, DeskEnvironment(desk, frozenset({DeskTool.COMPUTER}), ()))


@contextmanager
def staged(task: Task, seed: int, desks: DeskProvider, label: Label) -> Iterator[LiveDesk]:
    """A desk as the agent of this question finds it. Raises `BadRequest` for a task without a desk."""
    if not isinstance(task, DeskTask):
        raise BadRequest(f"{task.spec.id} has no desk")
    with tempfile.TemporaryDirectory() as folder:
        instance = task.instantiate(seed, Path(folder))
        with desks.open(task.needs.desk_spec(), label) as desk:
            task.stage(desk, instance)
            tools = DeskEnvironment(desk, frozenset({DeskTool.COMPUTER}), task.deliverables())
            yield LiveDesk(desk, tools, task, instance)
