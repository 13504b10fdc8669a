"""Compare a database with its reference as sets of facts: required ⊆ actual ⊆ allowed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from practicum.verifiers.database.spec import Allowed, DatabaseSpec, TableRule
from practicum.verifiers.database.sqlite import ColumnInfo, Database, SqlTable, SqlValue, read
from practicum.verifiers.errors import BadSpec, Unreadable
from practicum.verifiers.tables.compare import Table, table_checks
from practicum.verifiers.tables.spec import TableSpec
from practicum.verifiers.tables.values import Value
from practicum.verifiers.verdict import Check, Verdict, all_of, check

_SHOWN = 4


def verify(
    candidate: Path, reference: Path, spec: DatabaseSpec | None = None, *, before: Path | None = None
) -> Verdict:
    """`before` is the database the work began with: then only what changed is compared.

    Raises `Unreadable` for the reference or `before`, and `BadSpec`.
    """
    spec = spec or DatabaseSpec()
    truth = read(reference)
    start = read(before) if before else None
    try:
        made = read(candidate)
    except Unreadable as error:
        return Verdict(
            (check("readable", False, expected="a SQLite database", found=error.reason).as_gate(),)
        )
    readable = check(
        "readable", True, expected="a SQLite database", found=f"{len(made.tables)} tables"
    ).as_gate()
    if start is not None:
        return Verdict((readable, *change_checks(start, made, truth, spec)))
    return Verdict((readable, *content_checks(made, truth, spec)))


def content_checks(made: Database, truth: Database, spec: DatabaseSpec) -> tuple[Check, ...]:
    rules = {rule.name.casefold(): rule for rule in spec.tables}
    ignored = {name.casefold() for name in spec.ignored}
    wanted = [table for name, table in truth.tables.items() if name.casefold() not in ignored]
    if not wanted:
        raise BadSpec("the reference has no tables to compare")
    checks = [
        _table(
            made.table(table.name), table, rules.get(table.name.casefold(), TableRule(name=table.name)), spec
        )
        for table in wanted
    ]
    if not spec.extra_tables:
        known = {table.name.casefold() for table in wanted} | ignored
        extra = [name for name in made.tables if name.casefold() not in known]
        reason = f"not asked for: {', '.join(extra[:_SHOWN])}"
        checks.append(check("no other tables", not extra, found=", ".join(extra) or "none", reason=reason))
    return tuple(checks)


def _table(made: SqlTable | None, truth: SqlTable, rule: TableRule, spec: DatabaseSpec) -> Check:
    if made is None:
        return check(truth.name, False, expected="a table", found="no such table").weighing(rule.weight)
    key = rule.key or tuple(column.name for column in _primary(truth))
    table_spec = TableSpec(
        columns=rule.columns,
        key=key,
        ordered=False,
        extra_columns=rule.extra_columns,
        extra_rows=rule.extra_rows,
    )
    checks = list(table_checks(_plain(made), _plain(truth), table_spec))
    if spec.schema:
        checks += _schema(made, truth)
    return all_of(truth.name, checks).weighing(rule.weight)


def _primary(table: SqlTable) -> list[ColumnInfo]:
    return sorted((column for column in table.columns if column.primary), key=lambda column: column.primary)


def _plain(table: SqlTable) -> Table:
    names = tuple(column.name for column in table.columns)
    return Table(names, tuple(tuple(_value(value) for value in row) for row in table.rows))


def _value(value: SqlValue) -> Value:
    return f"x'{value.hex()}'" if isinstance(value, bytes) else value


def _schema(made: SqlTable, truth: SqlTable) -> list[Check]:
    have = {column.name.casefold(): column for column in made.columns}
    shared = [
        (column, have[column.name.casefold()]) for column in truth.columns if column.name.casefold() in have
    ]
    wrong = [f"{a.name} {b.affinity}, not {a.affinity}" for a, b in shared if a.affinity != b.affinity]
    keys = [[column.name.casefold() for column in _primary(table)] for table in (truth, made)]
    return [
        check(
            "affinities", not wrong, found="; ".join(wrong) or "as in the reference", reason="; ".join(wrong)
        ),
        check("primary key", keys[0] == keys[1], expected=keys[0], found=keys[1]),
        check(
            "foreign keys",
            truth.foreign_keys <= made.foreign_keys,
            expected=sorted(truth.foreign_keys),
            found=sorted(made.foreign_keys),
        ),
    ]


@dataclass(frozen=True, slots=True)
class Change:
    """One fact that differs: a row added or removed (`column` is empty), or a cell set."""

    table: str
    key: tuple[SqlValue, ...]
    column: str
    value: SqlValue | tuple[SqlValue, ...] | None
    kind: str

    def __str__(self) -> str:
        where = f"{self.table}{list(self.key)}"
        return f"{where}.{self.column} = {self.value!r}" if self.column else f"{where} {self.kind}"


def change_checks(start: Database, made: Database, truth: Database, spec: DatabaseSpec) -> tuple[Check, ...]:
    """What had to change did; nothing else did, but for what is allowed."""
    required, actual = changes(start, truth, spec), changes(start, made, spec)
    if not required:
        raise BadSpec("the reference is the database from before the work")
    missing = sorted(required - actual, key=str)
    surplus = sorted((one for one in actual - required if not _is_allowed(one, spec.allowed)), key=str)
    done = 1.0 - len(missing) / len(required)
    return (
        check(
            "work done", len(missing) < len(required), expected="some required change", found=f"{done:.0%}"
        ).as_gate(),
        check(
            "required changes",
            not missing,
            expected=f"{len(required)} changes",
            found=f"{len(required) - len(missing)} of them",
            reason="missing: " + _named(missing),
            score=done,
        ),
        check(
            "no other changes",
            not surplus,
            found=f"{len(surplus)} more",
            reason="not asked for: " + _named(surplus),
            score=1.0 / (1.0 + len(surplus)),
        ),
    )


def changes(start: Database, end: Database, spec: DatabaseSpec) -> set[Change]:
    """The difference between two databases, row by row under each table's key."""
    ignored = {name.casefold() for name in spec.ignored}
    rules = {rule.name.casefold(): rule for rule in spec.tables}
    names = {name.casefold(): name for name in (*start.tables, *end.tables)}
    found: set[Change] = set()
    for folded, name in names.items():
        if folded in ignored:
            continue
        before, after = start.table(name), end.table(name)
        model = before or after
        assert model is not None
        if before is None or after is None:
            found.add(Change(name, (), "", None, "added" if before is None else "removed"))
        rule = rules.get(folded, TableRule(name=name))
        key = rule.key or tuple(column.name for column in _primary(model))
        found |= _row_changes(name, _keyed(before, key), _keyed(after, key))
    return found


Keyed = dict[tuple[SqlValue, ...], dict[str, SqlValue]]


def _keyed(table: SqlTable | None, key: tuple[str, ...]) -> Keyed:
    """Rows by key; without a key the whole row and its count is one."""
    if table is None:
        return {}
    names = [column.name.casefold() for column in table.columns]
    wanted = [names.index(name.casefold()) for name in key if name.casefold() in names] or list(
        range(len(names))
    )
    rows: Keyed = {}
    seen: Counter[tuple[SqlValue, ...]] = Counter()
    for row in table.rows:
        identity = tuple(_normal(row[place]) for place in wanted)
        seen[identity] += 1
        label = identity if seen[identity] == 1 else (*identity, f"copy {seen[identity]}")
        rows[label] = {name: _normal(value) for name, value in zip(names, row, strict=True)}
    return rows


def _normal(value: SqlValue) -> SqlValue:
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _row_changes(table: str, before: Keyed, after: Keyed) -> set[Change]:
    gone = {Change(table, key, "", tuple(before[key].values()), "removed") for key in before.keys() - after}
    new = {Change(table, key, "", tuple(after[key].values()), "added") for key in after.keys() - before}
    cells = {
        Change(table, key, column, after[key].get(column), "set")
        for key in before.keys() & after
        for column in before[key].keys() | after[key].keys()
        if before[key].get(column) != after[key].get(column)
    }
    return gone | new | cells


def _is_allowed(change: Change, allowed: tuple[Allowed, ...]) -> bool:
    return any(
        one.table.casefold() in ("*", change.table.casefold())
        and (one.column == "*" or one.column.casefold() == change.column)
        for one in allowed
    )


def _named(found: list[Change]) -> str:
    return "; ".join(map(str, found[:_SHOWN])) + (
        f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    )
