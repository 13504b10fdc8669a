"""Reading the released files: tasks, configurations of simulators, rubrics, the pool of scenarios."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from practicum.tasks.errors import MalformedTask

TASKS = "eval_benchmark_solvable.jsonl"
POOL = "task_scenario_all_pool.jsonl"
CONFIGURATIONS = "world_model_configs"
UNKNOWN = "unknown"

T = TypeVar("T")


class Action(msgspec.Struct, frozen=True):
    """A tool: arguments by schema, the answer only by an example, if at all."""

    name: str
    description: str
    parameters: dict[str, Any]
    example_output: Any = None


class Configuration(msgspec.Struct, frozen=True):
    """What the model that plays one world is given."""

    environment_name: str
    world_model_system_prompt: str
    action_set_definitions: tuple[Action, ...]
    state_description: dict[str, Any]
    task_initial_state: dict[str, Any]


class Released(msgspec.Struct, frozen=True):
    """One line of the task file; `verification_plan` is the rubric."""

    task_id: int
    difficulty_level: int
    task_scenario_name: str
    agent_instruction: str
    env_name: str
    verification_plan: str


class _Scenario(msgspec.Struct, frozen=True):
    category: str
    domain: str
    task_scenario_name: str


class ImportedTask(msgspec.Struct, frozen=True):
    """One task with its world. Industry and domain come from the pool, where it has the scenario."""

    task: Released
    configuration: Configuration
    industry: str
    domain: str

    @property
    def id(self) -> str:
        return f"occubench/{self.task.task_id}"


def load(folder: Path) -> tuple[ImportedTask, ...]:
    """All tasks, by number. Raises `MalformedTask` naming the file that cannot be read."""
    pool = _pool(folder / POOL)
    tasks = [_decode(folder / TASKS, line, Released) for line in _lines(folder / TASKS)]
    return tuple(_imported(folder, task, pool) for task in sorted(tasks, key=lambda task: task.task_id))


def _imported(folder: Path, task: Released, pool: Mapping[str, _Scenario]) -> ImportedTask:
    path = folder / CONFIGURATIONS / f"{task.env_name}.json"
    configuration = _decode(path, _bytes(path), Configuration)
    scenario = pool.get(task.task_scenario_name)
    industry, domain = (scenario.category, scenario.domain) if scenario else (UNKNOWN, UNKNOWN)
    return ImportedTask(task, configuration, industry, domain)


def _pool(path: Path) -> Mapping[str, _Scenario]:
    rows = (_decode(path, line, _Scenario) for line in _lines(path))
    return {row.task_scenario_name: row for row in rows}


def _lines(path: Path) -> list[bytes]:
    return [line for line in _bytes(path).splitlines() if line.strip()]


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise MalformedTask(path, str(error)) from error


def _decode(path: Path, data: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.MsgspecError as error:
        raise MalformedTask(path, str(error)) from error
