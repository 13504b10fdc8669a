"""The house as shipped: the catalog, the registry of agents, and every kind of desk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from practicum.agents import registry
from practicum.agents.agent import Sitter
from practicum.controller.errors import BadRequest
from practicum.controller.house import attribute
from practicum.controller.played import played
from practicum.infra.desk.desk import DeskProvider
from practicum.tasks import catalog
from practicum.tasks.desk_task import DeskTask
from practicum.tasks.spec import Task

PROVIDERS: Mapping[str, str] = {
    "container": "practicum.infra.desk.container.provider:ContainerDesks",
    "fake": "practicum.infra.desk.fake:FakeDesks",
    "vm": "practicum.infra.desk.vm.provider:VmDesks",
    "ssh": "practicum.infra.desk.ssh.provider:SshDesks",
}
"""Desk kinds by name, imported when they are asked for."""


class Standard:
    """See `controller.house.House`."""

    def select(self, patterns: Sequence[str]) -> Sequence[Task]:
        return [task for pattern in patterns for task in self._select(pattern)]

    def _select(self, pattern: str) -> Sequence[Task]:
        """`PATTERN@ledger:MODEL` are the worlds of the pattern, played by a model."""
        plain, at, player = pattern.partition("@")
        found = catalog.select(plain)
        return [played(task, player) for task in found] if at else found

    def name_of(self, task: Task) -> str:
        if isinstance(task, DeskTask) and task.spec.id not in catalog.catalog():
            return str(task.folder.resolve())
        return task.spec.id

    def task(self, name: str) -> Task:
        return self._select(name)[0]

    def sitter(self, name: str) -> Sitter:
        return registry.resolve(name)

    def desks(self, kind: str) -> DeskProvider:
        if kind not in PROVIDERS:
            raise BadRequest(f"no desks of kind {kind!r}; there are {', '.join(PROVIDERS)}")
        provider: DeskProvider = attribute(PROVIDERS[kind])()
        return provider
