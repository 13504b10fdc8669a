"""Where a run finds its tasks, its agents and its desks.

Workers are other processes, so a run names its house as `module:attribute` and each process calls that.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Protocol

from practicum.agents import registry
from practicum.agents.agent import Sitter
from practicum.controller.errors import BadRequest
from practicum.infra.desk.desk import DeskProvider
from practicum.tasks import catalog
from practicum.tasks.spec import Task


class House(Protocol):
    def select(self, patterns: Sequence[str]) -> Sequence[Task]:
        """The tasks that the patterns name. Raises `TaskError` for a pattern that names nothing."""
        ...

    def task(self, name: str) -> Task:
        """By id, or by the folder of a task that is in no catalog."""
        ...

    def sitter(self, name: str) -> Sitter: ...

    def desks(self, kind: str) -> DeskProvider: ...


PROVIDERS: Mapping[str, str] = {
    "container": "practicum.infra.desk.container.provider:ContainerDesks",
    "fake": "practicum.infra.desk.fake:FakeDesks",
    "vm": "practicum.infra.desk.vm.provider:VmDesks",
    "ssh": "practicum.infra.desk.ssh:SshDesks",
}
"""Desk kinds by name, imported when they are asked for."""


class Standard:
    """The house as shipped: the catalog, the registry of agents, and every kind of desk."""

    def select(self, patterns: Sequence[str]) -> Sequence[Task]:
        return catalog.select(*patterns)

    def task(self, name: str) -> Task:
        return catalog.select(name)[0]

    def sitter(self, name: str) -> Sitter:
        return registry.resolve(name)

    def desks(self, kind: str) -> DeskProvider:
        if kind not in PROVIDERS:
            raise BadRequest(f"no desks of kind {kind!r}; there are {', '.join(PROVIDERS)}")
        provider: DeskProvider = _attribute(PROVIDERS[kind])()
        return provider


STANDARD = f"{__name__}:Standard"


@cache
def open_house(target: str) -> House:
    """The house of this name, made once in each process."""
    house: House = _attribute(target)()
    return house


def _attribute(target: str) -> Callable[[], Any]:
    module, _, name = target.partition(":")
    found: Callable[[], Any] = getattr(importlib.import_module(module), name)
    return found
