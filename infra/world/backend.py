"""The seam between a world and whoever works out its answers. Everything around it is the engine's: checked
arguments, transactions, journal, hand-in."""

from __future__ import annotations

from typing import Any, Protocol

from practicum.infra.world.tool import WorldTool
from practicum.infra.world.world import View, World


class Backend(Protocol):
    """Raises `Refused` where the workplace says no, `WorldFault` where it gives no valid answer."""

    def read(self, tool: WorldTool, view: View, arguments: dict[str, Any]) -> Any:
        """The answer, of the type that the tool returns."""
        ...

    def write(self, tool: WorldTool, world: World, arguments: dict[str, Any]) -> Any:
        """The same, after putting its effect into `world`."""
        ...


class Executable:
    """The tools' own code: always right by definition, and needs no model."""

    __slots__ = ()

    def read(self, tool: WorldTool, view: View, arguments: dict[str, Any]) -> Any:
        return tool.function(view, **arguments)

    def write(self, tool: WorldTool, world: World, arguments: dict[str, Any]) -> Any:
        return tool.function(world, **arguments)
