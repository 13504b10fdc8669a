"""Read the folder of a desk task: `task.toml`, `instruction.md`, `task.py`. Strict, with one-line errors."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any

import msgspec

from practicum.infra.desk.desk import Capability, Network
from practicum.tasks.desk_task import DeskTask, TaskFunctions
from practicum.tasks.errors import MalformedTask, suggestion
from practicum.tasks.spec import DeskNeeds, Kind, Limits, Output, Surface, TaskSpec, Tier
from practicum.tasks.taxonomy import taxonomy

DESK_ROOT = Path(__file__).parent / "desk"
FILES = ("task.toml", "instruction.md", "task.py")
_PACKAGE = "practicum.tasks.desk"
_SIGNATURES = {
    "generate": ("rng", "inputs", "reference"),
    "solve": ("hands", "params"),
    "verify": ("outputs", "reference", "params"),
    "mutants": ("outputs", "params"),
    "benign": ("outputs", "params"),
    "facts": ("params",),
    "ideal": ("outputs", "reference", "params"),
    "stage": ("desk", "inputs", "params"),
    "shown": ("params",),
    "secrets": ("params",),
}
_OPTIONAL = frozenset({"stage", "shown", "secrets"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Desk:
    image: str
    software: tuple[str, ...]
    surfaces: frozenset[Surface] = frozenset(Surface)
    capabilities: frozenset[Capability] = frozenset()
    network: Network = Network.NONE
    width: int = 1280
    height: int = 800
    memory: int = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class _Limits:
    steps: int
    seconds: float
    tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Output:
    path: str
    description: str
    max_bytes: int = 64 << 20
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _TaskFile:
    """`task.toml` as it is written. There is no id: the folder says it."""

    title: str
    tier: Tier
    subdomain: str
    soc: str
    difficulty: int
    desk: _Desk
    limits: _Limits
    outputs: tuple[_Output, ...]


def task_id(folder: Path) -> str:
    """`cluster/name`: the last two parts of the path, `_` written as `-`."""
    return f"{folder.parent.name}/{folder.name}".replace("_", "-")


def load(folder: Path) -> DeskTask:
    """Raises `MalformedTask` with the file and what is wrong with it."""
    folder = folder.absolute()
    for name in FILES:
        if not (folder / name).is_file():
            raise MalformedTask(folder, f"a task has {', '.join(FILES)}; {name} is missing")
    written = _read_toml(folder / "task.toml")
    inside = folder.is_relative_to(DESK_ROOT)
    module = _module(folder) if inside else _outside_module(folder / "task.py")
    return DeskTask(
        spec=_spec(folder, written),
        verifier=f"{module.__name__ if inside else 'task'}:verify",
        search_path=() if inside else (folder,),
        template=(folder / "instruction.md").read_text(encoding="utf-8"),
        folder=folder,
        functions=_functions(folder / "task.py", module),
    )


def digest(folder: Path) -> str:
    """Over names and bytes of everything in the folder but byte code."""
    sum_ = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"):
        data = path.read_bytes()
        sum_.update(f"{path.relative_to(folder).as_posix()}\0{len(data)}\0".encode())
        sum_.update(data)
    return sum_.hexdigest()


def _read_toml(path: Path) -> _TaskFile:
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise MalformedTask(path, f"not TOML: {error}") from error
    _refuse_unknown(path, raw)
    try:
        return msgspec.convert(raw, _TaskFile)
    except msgspec.ValidationError as error:
        raise MalformedTask(path, str(error)) from error


def _refuse_unknown(path: Path, raw: dict[str, Any]) -> None:
    tables: list[tuple[str, Any, type]] = [("", raw, _TaskFile)]
    tables += [(f"{name}.", raw.get(name), kind) for name, kind in (("desk", _Desk), ("limits", _Limits))]
    outputs = raw.get("outputs")
    tables += [("outputs.", output, _Output) for output in outputs] if isinstance(outputs, list) else []
    for prefix, table, kind in tables:
        known = {field.name for field in fields(kind)}
        for key in table if isinstance(table, dict) else ():
            if key not in known:
                raise MalformedTask(path, f"unknown key {prefix}{key}{suggestion(key, known)}")


def _spec(folder: Path, written: _TaskFile) -> TaskSpec:
    path = folder / "task.toml"
    cluster = folder.parent.name
    _refuse_foreign(path, cluster, written)
    return TaskSpec(
        id=task_id(folder),
        kind=Kind.DESK,
        title=written.title,
        tier=written.tier,
        cluster=cluster,
        subdomain=written.subdomain,
        soc=written.soc,
        limits=Limits(
            steps=written.limits.steps, seconds=written.limits.seconds, tokens=written.limits.tokens
        ),
        outputs=tuple(Output(**{f.name: getattr(o, f.name) for f in fields(o)}) for o in written.outputs),
        digest=digest(folder),
        desk=DeskNeeds(**{f.name: getattr(written.desk, f.name) for f in fields(written.desk)}),
        difficulty=written.difficulty,
    )


def _refuse_foreign(path: Path, cluster: str, written: _TaskFile) -> None:
    """What is well-formed and still cannot be: places off the map, outputs outside their folder."""
    clusters = taxonomy().clusters
    if cluster not in clusters:
        raise MalformedTask(path, f"no cluster {cluster!r}{suggestion(cluster, clusters)}")
    known = clusters[cluster].subdomains
    if written.subdomain not in known:
        raise MalformedTask(
            path, f"{cluster} has no subdomain {written.subdomain!r}{suggestion(written.subdomain, known)}"
        )
    if not written.outputs:
        raise MalformedTask(path, "a task without outputs cannot be graded")
    for output in written.outputs:
        relative = PurePosixPath(output.path)
        if relative.is_absolute() or ".." in relative.parts or not relative.name:
            raise MalformedTask(path, f"output {output.path!r} is not a path inside the output folder")
        if output.source and not PurePosixPath(output.source).is_absolute():
            raise MalformedTask(path, f"source {output.source!r} of an output is not absolute")


def _module(folder: Path) -> ModuleType:
    return importlib.import_module(f"{_PACKAGE}.{folder.parent.name}.{folder.name}.task")


def _outside_module(path: Path) -> ModuleType:
    """A task under work, not yet in the house; named by its place, so that two never meet."""
    name = f"practicum_task_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise MalformedTask(path, "cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (SyntaxError, ImportError, AttributeError, NameError) as error:
        del sys.modules[name]
        raise MalformedTask(path, f"{type(error).__name__}: {error}") from error
    return module


def _functions(path: Path, module: ModuleType) -> TaskFunctions:
    found: dict[str, Callable[..., Any]] = {}
    for name, parameters in _SIGNATURES.items():
        function = getattr(module, name, None)
        if function is None and name in _OPTIONAL:
            continue
        if not callable(function):
            raise MalformedTask(path, f"defines no {name}({', '.join(parameters)})")
        given = tuple(inspect.signature(function).parameters)
        if given != parameters:
            raise MalformedTask(path, f"{name}({', '.join(given)}) should be {name}({', '.join(parameters)})")
        found[name] = function
    return TaskFunctions(**found)
