"""Every scenario by name: each module below an industry's folder defines one as `SCENARIO`."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from practicum.tasks.worlds.scenario import Scenario

_ROOM = Path(__file__).parent
_FOLDERS = (
    "agriculture",
    "business",
    "commerce",
    "education",
    "healthcare",
    "industry",
    "public",
    "science",
    "technology",
    "transport",
)
_PACKAGE = "practicum.tasks.worlds"


@cache
def scenario(name: str) -> Scenario:
    """`industry/name`. Raises `KeyError` for a name that is not a scenario's."""
    if name not in names():
        raise KeyError(name)
    module = importlib.import_module(f"{_PACKAGE}.{name.replace('/', '.')}")
    found: Scenario = module.SCENARIO
    if found.rules.name != name:
        raise ValueError(f"{module.__file__} calls itself {found.rules.name!r}")
    return found


@cache
def names() -> tuple[str, ...]:
    paths = (path for folder in _FOLDERS for path in (_ROOM / folder).glob("*.py"))
    return tuple(sorted(f"{path.parent.name}/{path.stem}" for path in paths if path.stem != "__init__"))


def scenarios() -> Mapping[str, Scenario]:
    return {name: scenario(name) for name in names()}


def source(name: str) -> Path:
    return _ROOM / f"{name}.py"
