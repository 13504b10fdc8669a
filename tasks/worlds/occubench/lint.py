"""What can be wrong with the configuration of a language world, seen without any model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import jsonschema
import msgspec

from practicum.tasks.worlds.occubench.reader import Action, Configuration, ImportedTask

_STATE = "{{initial_state}}:"
_NAME = re.compile(r"^[A-Za-z0-9_-]{1,64}$")
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}(?!:)")
_FIGURE = re.compile(r"\d[\d,]*\.?\d+")


class Flaw(StrEnum):
    """STATE_NOT_JSON: the state as the model is shown it does not parse. UNFILLED: a placeholder was never
    filled in. NO_ANSWER_SCHEMA: what a tool returns is known by an example at most. NO_EXAMPLE: not even
    that. FIELD_NOWHERE: a returned field that is no key of the state. BAD_SCHEMA: the argument schema is
    none. BAD_NAME: a tool name that endpoints refuse. TWICE: two tools of one name. UNDESCRIBED: a part of
    the state without description. FIGURE_NOWHERE: the rubric asks for a figure that neither state nor
    instruction has, so it must be worked out or is not there at all.
    """

    STATE_NOT_JSON = "state is not JSON"
    UNFILLED = "placeholder not filled in"
    NO_ANSWER_SCHEMA = "tool without answer schema"
    NO_EXAMPLE = "tool without example"
    FIELD_NOWHERE = "returned field not in the state"
    BAD_SCHEMA = "argument schema is invalid"
    BAD_NAME = "tool name is invalid"
    TWICE = "tool named twice"
    UNDESCRIBED = "state undescribed"
    FIGURE_NOWHERE = "rubric figure stated nowhere"


@dataclass(frozen=True, slots=True)
class Finding:
    task: str
    flaw: Flaw
    detail: str


@dataclass(frozen=True, slots=True)
class Linted:
    """Findings, and what they are shares of."""

    tasks: int
    tools: int
    returned_fields: int
    findings: tuple[Finding, ...]

    def tasks_with(self, flaw: Flaw) -> int:
        return len({found.task for found in self.findings if found.flaw is flaw})

    def count(self, flaw: Flaw) -> int:
        return sum(found.flaw is flaw for found in self.findings)


def lint(tasks: Iterable[ImportedTask]) -> Linted:
    tasks = list(tasks)
    findings = [Finding(task.id, flaw, detail) for task in tasks for flaw, detail in _flaws(task)]
    actions = [action for task in tasks for action in task.configuration.action_set_definitions]
    returned = sum(len(set(keys(action.example_output))) for action in actions)
    return Linted(len(tasks), len(actions), returned, tuple(findings))


def _flaws(task: ImportedTask) -> Iterator[tuple[Flaw, str]]:
    configuration = task.configuration
    yield from _prompt(configuration)
    names: set[str] = set()
    known = set(keys(configuration.task_initial_state))
    for action in configuration.action_set_definitions:
        yield from _action(action, known)
        if action.name in names:
            yield Flaw.TWICE, action.name
        names.add(action.name)
    for part in configuration.task_initial_state:
        if part not in configuration.state_description:
            yield Flaw.UNDESCRIBED, part
    yield from _rubric(task)


def _prompt(configuration: Configuration) -> Iterator[tuple[Flaw, str]]:
    prompt = configuration.world_model_system_prompt
    _, found, rest = prompt.partition(_STATE)
    if not found:
        yield Flaw.STATE_NOT_JSON, "no state in the prompt"
    else:
        text = rest.split("\n{{", 1)[0].strip()
        try:
            msgspec.json.decode(text.encode())
        except msgspec.MsgspecError as error:
            yield Flaw.STATE_NOT_JSON, str(error)
    for name in sorted(set(_PLACEHOLDER.findall(prompt))):
        yield Flaw.UNFILLED, name


def _action(action: Action, known: set[str]) -> Iterator[tuple[Flaw, str]]:
    yield Flaw.NO_ANSWER_SCHEMA, action.name
    if action.example_output is None:
        yield Flaw.NO_EXAMPLE, action.name
    if not _NAME.match(action.name):
        yield Flaw.BAD_NAME, action.name
    try:
        jsonschema.Draft202012Validator.check_schema(action.parameters)
    except jsonschema.SchemaError as error:
        yield Flaw.BAD_SCHEMA, f"{action.name}: {error.message}"
    for field in sorted(set(keys(action.example_output)) - known):
        yield Flaw.FIELD_NOWHERE, f"{action.name}.{field}"


def _rubric(task: ImportedTask) -> Iterator[tuple[Flaw, str]]:
    stated = task.task.agent_instruction + msgspec.json.encode(task.configuration.task_initial_state).decode()
    present = set(_figures(stated))
    for figure in sorted(set(_figures(task.task.verification_plan)) - present):
        yield Flaw.FIGURE_NOWHERE, figure


def _figures(text: str) -> Iterator[str]:
    for found in _FIGURE.findall(text):
        yield found.replace(",", "").rstrip("0").rstrip(".") if "." in found else found.replace(",", "")


def keys(value: Any) -> Iterator[str]:
    """The names of all fields at any depth."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner)
