"""Grading what a world left: state, journal and structured answer against what was expected of this instance.

required changes ⊆ actual changes ⊆ allowed changes; demands that hold at every moment of the trace; what was
looked at before deciding; the submitted answer. No text is judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from practicum.infra.world.journal import Entry
from practicum.infra.world.journal import read as read_journal
from practicum.infra.world.rules import SUBMIT
from practicum.infra.world.tables import Tables
from practicum.infra.world.world import CLOCK, Clock, Rule, View
from practicum.tasks.worlds.expected import (
    ANY,
    Answer,
    Became,
    Cell,
    Difference,
    Expected,
    Gone,
    Made,
    Required,
    difference,
    matches,
)
from practicum.tasks.worlds.library import scenario
from practicum.tasks.worlds.scenario import Scenario
from practicum.verifiers.verdict import Check, Verdict, all_of, check

EXPECTED = "expected.json"
INITIAL = "initial.json"


class BadRecord(ValueError):
    """The files do not tell one consistent story."""


@dataclass(frozen=True, slots=True)
class Record:
    """What a world left, read and found consistent."""

    entries: tuple[Entry, ...]
    before: dict[str, list[dict[str, Any]]]
    after: dict[str, list[dict[str, Any]]]
    answer: Mapping[str, Any] | None
    broken: dict[str, str]
    unfinished: dict[str, str]


def verify(outputs: Path, reference: Path, params: Mapping[str, Any]) -> Verdict:
    """`params["scenario"]` names the scenario; `reference` holds what was expected of this instance."""
    world = scenario(params["scenario"])
    expected = msgspec.json.decode((reference / EXPECTED).read_bytes(), type=Expected)
    initial = world.rules.load(msgspec.json.decode((reference / INITIAL).read_bytes()))
    try:
        record = _read(outputs, initial, world)
    except (OSError, ValueError) as error:
        return Verdict((check("record", False, reason=str(error)).as_gate(),))
    return judge(world, expected, record)


def judge(world: Scenario, expected: Expected, record: Record) -> Verdict:
    checks = [
        check("record", True).as_gate(),
        check("handed_in", record.answer is not None, reason="nothing was submitted").as_gate(),
    ]
    if world.always:
        children = [_held(rule, record.broken) for rule in world.always]
        checks.append(all_of("always", children).as_gate())
    endings = [_held(rule, record.unfinished) for rule in world.at_end]
    checks.append(changes(expected, difference(record.before, record.after), endings))
    if world.evidence:
        judged = [(one.name, one.judge(record.entries)) for one in world.evidence]
        checks.append(all_of("evidence", [check(name, not why, reason=why or "") for name, why in judged]))
    checks.append(_answer(expected.answer, record.answer or {}, record.after))
    return Verdict(tuple(checks))


def _held(rule: Rule, broken: Mapping[str, str]) -> Check:
    why = broken.get(rule.__name__)
    return check(rule.__name__, why is None, reason=why or "")


def _read(outputs: Path, tables: Tables, world: Scenario) -> Record:
    """Raises `OSError`, `ValueError` (of which msgspec's errors are) when the files are not consistent."""
    entries = tuple(read_journal(outputs / "journal.jsonl"))
    before = tables.plain()
    broken: dict[str, str] = {}
    for at, view in _moments(tables, entries):
        for rule in world.always:
            if rule.__name__ not in broken and (why := rule(view)) is not None:
                broken[rule.__name__] = f"after call {at}: {why}"
    ends = {rule.__name__: why for rule in world.at_end if (why := rule(View(tables))) is not None}
    after = tables.plain()
    state = msgspec.json.decode((outputs / "state.json").read_bytes(), type=dict[str, Any])
    if state.get("tables") != after or state.get("digest") != tables.digest:
        raise BadRecord("the state is not what the journal leads to")
    return Record(entries, before, after, _submitted(outputs, entries), broken, ends)


def _moments(tables: Tables, entries: Sequence[Entry]) -> Iterator[tuple[int, View]]:
    """The state at the start and after each call that changed it. Raises `BadRecord` at a broken hash."""
    view = View(tables)
    yield 0, view
    for entry in entries:
        if entry.before != tables.digest:
            raise BadRecord(f"call {entry.seq} starts from another state")
        for change in entry.changes:
            tables.replay(change)
        if entry.after != tables.digest:
            raise BadRecord(f"call {entry.seq} does not lead where it says")
        if entry.changes:
            yield entry.seq, view


def _submitted(outputs: Path, entries: Sequence[Entry]) -> Mapping[str, Any] | None:
    path = outputs / "answer.json"
    accepted = [entry for entry in entries if entry.tool == SUBMIT and entry.error is None]
    if path.exists() != bool(accepted):
        raise BadRecord("the answer is not what the journal says")
    return msgspec.json.decode(path.read_bytes(), type=dict[str, Any]) if accepted else None


def changes(expected: Expected, actual: Difference, endings: Sequence[Check]) -> Check:
    """Scores as the share of right changes in all that were required or are wrong; nothing done is 0."""
    required = [check(item.name, *_met(item, actual)) for item in expected.required]
    stray = sorted(_stray(expected, actual))
    untouched = check("nothing_else", not stray, expected="no other change", found=", ".join(stray))
    met = sum(item.passed for item in required)
    wrong = len(stray) + sum(not ending.passed for ending in endings)
    children = (*required, *endings, untouched)
    return Check(
        "changes",
        passed=met == len(required) and not wrong,
        score=met / (len(required) + wrong) if required else float(not wrong),
        reason=next((child.reason for child in children if not child.passed), ""),
        weight=2.0 if required else 0.0,
        children=children,
    )


def _met(item: Required, actual: Difference) -> tuple[bool]:
    match item:
        case Became(table, key, fields, within):
            return (_agree(fields, actual.fields.get((table, key), {}), within),)
        case Made():
            return (len(_makings(item, actual)) == 1,)
        case Gone(table, key):
            return ((table, key) in actual.gone,)


def _makings(item: Made, actual: Difference) -> list[tuple[str, str]]:
    return [
        key
        for key, row in actual.made.items()
        if key[0] == item.table and _agree(item.fields, row, item.within)
    ]


def _agree(expected: Mapping[str, Any], found: Mapping[str, Any], within: Mapping[str, float]) -> bool:
    return all(
        name in found and matches(value, found[name], within.get(name, 0.0))
        for name, value in expected.items()
    )


def _stray(expected: Expected, actual: Difference) -> Iterator[str]:
    """Changes that nobody asked for or allowed."""
    wanted = {(item.table, item.id): item for item in expected.required if not isinstance(item, Made)}
    made = {key for item in expected.required if isinstance(item, Made) for key in _makings(item, actual)}
    for key, fields in actual.fields.items():
        item = wanted.get(key)
        right = item.fields if isinstance(item, Became) else {}
        for name in fields:
            if name not in right and key != (Clock.__name__, CLOCK) and not _allowed(expected, key, name):
                yield f"{key[0]}.{key[1]}.{name}"
    for key in actual.made:
        if key not in made and not _allowed(expected, key, ANY):
            yield f"new {key[0]}.{key[1]}"
    for key in actual.gone:
        if not isinstance(wanted.get(key), Gone) and not _allowed(expected, key, ANY):
            yield f"{key[0]}.{key[1]} gone"


def _allowed(expected: Expected, key: tuple[str, str], name: str) -> bool:
    return any(
        may.table == key[0] and may.id in (ANY, key[1]) and (ANY in may.fields or name in may.fields)
        for may in expected.allowed
    )


def _answer(answer: Answer, found: Mapping[str, Any], after: Mapping[str, list[dict[str, Any]]]) -> Check:
    expected = {**answer.fields, **{name: _look_up(cell, after) for name, cell in answer.told.items()}}
    children = [
        check(
            name,
            name in found
            and matches(value, found[name], answer.within.get(name, 0.0), ordered=name in answer.ordered),
            expected=value,
            found=found.get(name),
        )
        for name, value in expected.items()
    ]
    return all_of("answer", children)


def _look_up(cell: Cell, after: Mapping[str, list[dict[str, Any]]]) -> Any:
    return next((row[cell.field] for row in after[cell.table] if row["id"] == cell.id), None)
