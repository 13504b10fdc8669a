"""Typed hands over an environment's tools: what oracles and scripted agents use instead of JSON.

Everything goes through the `call` it is given, so it is recorded, counted and faulted like an agent's call.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from practicum.infra.desk.actions import Button
from practicum.infra.desk.desk import Frame
from practicum.infra.environment import ToolCall, ToolResult


class ToolFailed(Exception):
    """A tool answered with an error that the caller did not expect."""

    def __init__(self, call: ToolCall, result: ToolResult) -> None:
        super().__init__(f"{call.name} {dict(call.arguments)}: {result.error}: {result.text}")
        self.call = call
        self.result = result


class CommandFailed(Exception):
    """A command that was expected to exit with 0 did not."""

    def __init__(self, command: str, output: str) -> None:
        super().__init__(f"{command}: {output}")
        self.command = command
        self.output = output


@dataclass(frozen=True, slots=True)
class Operator:
    """One method a tool. Raises `ToolFailed` on an error result."""

    call: Callable[[ToolCall], ToolResult]
    _ids: itertools.count[int]

    @classmethod
    def over(cls, call: Callable[[ToolCall], ToolResult]) -> Operator:
        return cls(call, itertools.count(1))

    def tool(self, name: str, **arguments: Any) -> ToolResult:
        """Any tool by name, for worlds and for tools without a method here."""
        call = ToolCall(f"op-{next(self._ids)}", name, arguments)
        result = self.call(call)
        if result.error is not None:
            raise ToolFailed(call, result)
        return result

    def screenshot(self) -> Frame:
        return self.tool("computer", action="screenshot").frames[-1]

    def click(self, x: int, y: int, *, button: Button = Button.LEFT, count: int = 1) -> Frame:
        return self.tool("computer", action="click", x=x, y=y, button=button.value, count=count).frames[-1]

    def drag(self, *path: tuple[int, int]) -> Frame:
        return self.tool("computer", action="drag", path=[list(point) for point in path]).frames[-1]

    def scroll(self, x: int, y: int, *, dx: int = 0, dy: int = 0) -> Frame:
        return self.tool("computer", action="scroll", x=x, y=y, dx=dx, dy=dy).frames[-1]

    def type(self, text: str) -> Frame:
        return self.tool("computer", action="type", text=text).frames[-1]

    def key(self, chord: str) -> Frame:
        """A chord such as `ctrl+shift+s`."""
        return self.tool("computer", action="key", keys=chord).frames[-1]

    def wait(self, seconds: float) -> Frame:
        return self.tool("computer", action="wait", seconds=seconds).frames[-1]

    def elements(self) -> list[dict[str, Any]]:
        """Accessible objects as `{role, name, x, y, width, height, states, text}`, boxes in pixels."""
        data = self.tool("computer", action="elements").data
        return list(data["elements"]) if data else []

    def bash(self, command: str, *, timeout: float = 120.0) -> str:
        """Standard output of a command that must exit with 0. Raises `CommandFailed`."""
        result = self.tool("bash", command=command, timeout=timeout)
        answer = result.data or {}
        if answer["exit_code"] != 0 or answer["timed_out"]:
            raise CommandFailed(command, result.text)
        return str(answer["stdout"])

    def read_file(self, path: str) -> str:
        return self.tool("read_file", path=path).text

    def write_file(self, path: str, text: str) -> None:
        self.tool("write_file", path=path, text=text)
