"""Where a run finds its tasks, its agents and its desks.

Workers are other processes, so a run names its house as `module:attribute` and each process calls that.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Protocol

from practicum.agents.agent import Sitter
from practicum.infra.desk.desk import DeskProvider
from practicum.tasks.spec import Task


class House(Protocol):
    def select(self, patterns: Sequence[str]) -> Sequence[Task]:
        """The tasks that the patterns name. Raises `TaskError` for a pattern that names nothing."""
        ...

    def name_of(self, task: Task) -> str:
        """What `task` finds it by, in any process: its id, or the folder of one that is in no catalog."""
        ...

    def task(self, name: str) -> Task: ...

    def sitter(self, name: str) -> Sitter: ...

    def desks(self, kind: str) -> DeskProvider: ...


STANDARD = "practicum.controller.standard:Standard"


@cache
def open_house(target: str) -> House:
    """The house of this name, made once in each process."""
    house: House = attribute(target)()
    return house


def attribute(target: str) -> Callable[[], Any]:
    """What `module:attribute` names."""
    module, _, name = target.partition(":")
    found: Callable[[], Any] = getattr(importlib.import_module(module), name)
    return found
