"""Houses as a worker keeps them from job to job, their desks warm where that was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Protocol, Self, runtime_checkable

from practicum.agents.agent import Sitter
from practicum.controller.house import House, open_house
from practicum.infra.desk.desk import DeskProvider, DeskSpec, Label
from practicum.infra.desk.pool import Machine, Pool, Starter
from practicum.tasks.spec import Task


@runtime_checkable
class _Starts(Protocol):
    """A provider that a pool can stand before."""

    def start(self, spec: DeskSpec, label: Label) -> Machine: ...


@dataclass(slots=True)
class WarmHouse:
    """A house whose desks of each kind come from a pool of `size` warm machines for each recent spec."""

    house: House
    size: int
    stack: ExitStack
    pools: dict[str, DeskProvider] = field(default_factory=dict)

    def select(self, patterns: Sequence[str]) -> Sequence[Task]:
        return self.house.select(patterns)

    def name_of(self, task: Task) -> str:
        return self.house.name_of(task)

    def task(self, name: str) -> Task:
        return self.house.task(name)

    def sitter(self, name: str) -> Sitter:
        return self.house.sitter(name)

    def desks(self, kind: str) -> DeskProvider:
        if kind not in self.pools:
            provider = self.house.desks(kind)
            self.pools[kind] = self._pooled(provider) if isinstance(provider, _Starts) else provider
        return self.pools[kind]

    def _pooled(self, starter: Starter) -> DeskProvider:
        return self.stack.enter_context(Pool(starter, self.size, specs=2))


class Houses:
    """All houses of one worker process. What they keep warm is closed with the block."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._warm: dict[tuple[str, int], House] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        self._warm.clear()
        self._stack.close()

    def open(self, target: str, warm: int) -> House:
        """The house of this name, with so many warm desks of each kind; 0 for none."""
        if warm == 0:
            return open_house(target)
        key = (target, warm)
        if key not in self._warm:
            self._warm[key] = WarmHouse(open_house(target), warm, self._stack)
        return self._warm[key]
