"""Feet: which of the environment's tools an agent stands on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from practicum.infra.environment import Tool

_SHELL = frozenset({"bash", "powershell", "read_file", "write_file"})
_SCREEN = frozenset({"computer"})


@dataclass(frozen=True, slots=True)
class AllTools:
    """Everything the environment offers."""

    def tools(self, offered: Sequence[Tool]) -> tuple[Tool, ...]:
        return tuple(offered)


@dataclass(frozen=True, slots=True)
class GuiOnly:
    """No shell and no files at a desk: the screen, or a world's own tools."""

    def tools(self, offered: Sequence[Tool]) -> tuple[Tool, ...]:
        return tuple(tool for tool in offered if tool.name not in _SHELL)


@dataclass(frozen=True, slots=True)
class ShellOnly:
    """No screen at a desk: the shell and files, or a world's own tools."""

    def tools(self, offered: Sequence[Tool]) -> tuple[Tool, ...]:
        return tuple(tool for tool in offered if tool.name not in _SCREEN)
