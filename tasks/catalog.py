"""Every task there is, and the words by which a person picks some of them."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from practicum.tasks.errors import UnknownTask
from practicum.tasks.loader import DESK_ROOT, FILES, load
from practicum.tasks.spec import Kind, Task, Tier

_WORLDS = "practicum.tasks.worlds.catalog"


def catalog() -> Mapping[str, Task]:
    """All tasks by id, in the order of their ids."""
    return {**desk_catalog(), **world_catalog()}


@cache
def desk_catalog() -> Mapping[str, Task]:
    folders = sorted(path.parent for path in DESK_ROOT.glob("*/*/task.py"))
    return {task.spec.id: task for task in map(load, folders)}


@cache
def world_catalog() -> Mapping[str, Task]:
    if importlib.util.find_spec(_WORLDS) is None:
        return {}
    worlds: Mapping[str, Task] = importlib.import_module(_WORLDS).catalog()
    return worlds


def select(*patterns: str) -> tuple[Task, ...]:
    """The tasks that any of the patterns names, each once, in the order of the patterns.

    A pattern is `all`, a tier, `desk`, `worlds`, a cluster, a subdomain, an id, a glob over ids, or the
    folder of a task that is not in the catalog. Raises `UnknownTask` for a pattern that names nothing.
    """
    chosen: dict[str, Task] = {}
    for pattern in patterns:
        for task in _matching(pattern):
            chosen.setdefault(task.spec.id, task)
    return tuple(chosen.values())


def _matching(pattern: str) -> Iterable[Task]:
    for folder in (Path(pattern), DESK_ROOT / pattern.replace("-", "_")):
        if (folder / FILES[0]).is_file():
            return (load(folder),)
    everything = catalog()
    found = [task for task in everything.values() if _fits(pattern)(task)]
    if not found:
        raise UnknownTask(pattern, {*everything, *_words(everything.values())})
    return found


def _fits(pattern: str) -> Callable[[Task], bool]:
    if pattern == "all":
        return lambda _task: True
    if pattern in set(Tier):
        return lambda task: task.spec.tier == pattern
    if pattern in {"desk", "worlds"}:
        kind = Kind.WORLD if pattern == "worlds" else Kind.DESK
        return lambda task: task.spec.kind is kind
    return lambda task: (
        pattern in (task.spec.cluster, task.spec.subdomain) or fnmatchcase(task.spec.id, pattern)
    )


def _words(tasks: Iterable[Task]) -> Iterable[str]:
    yield from ("all", "desk", "worlds", *Tier)
    for task in tasks:
        yield from (task.spec.cluster, task.spec.subdomain)
