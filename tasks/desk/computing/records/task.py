"""Four exports in four encodings and date orders brought together in one database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from practicum.infra.operator import Operator
from practicum.tasks.desk.computing.records.exports import (
    CM_PER_INCH,
    STATIONS,
    Sample,
    carried,
    export,
    readme,
    survey,
)
from practicum.tasks.spec import Benign, Mutant, Params
from practicum.verifiers.errors import Unreadable
from practicum.verifiers.verdict import Check, Verdict, check

DATABASE = "samples.sqlite"
PER_STATION = 14
SHARED = 6
COLUMNS = ("sample_id", "station", "collected", "collector", "site", "depth_cm", "ph")
DEPTH_TOLERANCE = 0.0051
PH_TOLERANCE = 1e-6
_SCHEMA = """
CREATE TABLE samples (sample_id TEXT PRIMARY KEY, station TEXT, collected TEXT, collector TEXT, site TEXT,
                      depth_cm REAL, ph REAL);
CREATE TABLE stations (station TEXT PRIMARY KEY, sample_count INTEGER);
"""
_COUNT = "INSERT INTO stations (station, sample_count) SELECT station, count(*) FROM samples GROUP BY 1"
_TABLE_NAMES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name"

Row = dict[str, Any]


def generate(rng: Random, inputs: Path, reference: Path) -> Params:
    samples = survey(rng, PER_STATION)
    shared = carried(rng, samples, SHARED)
    for station in STATIONS:
        own = [sample for sample in samples if sample.station == station.code]
        guests = [sample for sample, host in shared if host is station]
        rows = own + guests
        export(station, rng.sample(rows, len(rows)), inputs / station.file)
    (inputs / "README.txt").write_text(readme(), encoding="utf-8")
    truth = [_row(sample) for sample in samples]
    (reference / "samples.json").write_bytes(msgspec.json.encode(truth))
    return {
        "say": {"shared": str(len(shared)), "total": str(len(samples))},
        "first_exported": {station.code: _first(station.code, samples) for station in STATIONS},
    }


def facts(params: Params) -> Mapping[str, str]:
    stated = {
        "number of samples": f"{params['say']['total']} different samples",
        "number shared": f"{params['say']['shared']} of them appear in a second",
        "inch": f"1 inch is {CM_PER_INCH} cm",
        "missing values": "an empty field, `n/a` or `-`",
    }
    for station in STATIONS:
        stated |= {
            f"{station.code} encoding": f"encoding: {station.encoding_said}",
            f"{station.code} dates": f"dates: {station.date_said}",
            f"{station.code} first sample": params["first_exported"][station.code],
        }
    return stated


def solve(hands: Operator, params: Params) -> None:
    """As a data engineer would: one script, written and run."""
    del params
    hands.write_file("/home/agent/join.py", Path(__file__).with_name("oracle_script.txt").read_text("utf-8"))
    hands.bash("python3 join.py")


def ideal(outputs: Path, reference: Path, params: Params) -> None:
    del params
    _write(outputs / DATABASE, msgspec.json.decode((reference / "samples.json").read_bytes()))


def verify(outputs: Path, reference: Path, params: Params) -> Verdict:
    del params
    truth: list[Row] = msgspec.json.decode((reference / "samples.json").read_bytes())
    try:
        tables = _tables(outputs / DATABASE)
    except Unreadable as error:
        return Verdict((check("database", False, expected="SQLite 3", reason=str(error)).as_gate(),))
    given = "samples" in tables and {*tables["samples"].columns} == {*COLUMNS}
    shape = check(
        "samples table",
        given,
        expected=f"samples({', '.join(COLUMNS)})",
        found="; ".join(f"{name}({', '.join(table.columns)})" for name, table in tables.items()),
    ).as_gate()
    if not given:
        return Verdict((shape,))
    return Verdict((shape, *_sample_checks(truth, tables), *_station_checks(truth, tables)))


class _Table(msgspec.Struct):
    columns: tuple[str, ...]
    rows: list[Row]


def _sample_checks(truth: list[Row], tables: Mapping[str, _Table]) -> Iterable[Check]:
    wanted = {row["sample_id"]: row for row in truth}
    rows = tables["samples"].rows
    found = {str(row["sample_id"]): row for row in rows}
    yield check(
        "tables", {*tables} == {"samples", "stations"}, expected="samples, stations", found=", ".join(tables)
    )
    yield check(
        "sample ids", {*found} == {*wanted}, expected=f"{len(wanted)} ids", found=_difference(wanted, found)
    )
    yield check("one row a sample", len(rows) == len(found), expected=len(found), found=f"{len(rows)} rows")
    for column in COLUMNS[1:]:
        wrong = (
            [
                f"{key}: {found[key][column]!r} for {row[column]!r}"
                for key, row in wanted.items()
                if key not in found or not _equal(column, row[column], found[key][column])
            ]
            if {*wanted} <= {*found}
            else ["samples are missing"]
        )
        right = 1 - min(1.0, len(wrong) / len(wanted))
        yield check(column, not wrong, expected="equal in all rows", found="; ".join(wrong[:3]), score=right)


def _station_checks(truth: list[Row], tables: Mapping[str, _Table]) -> Iterable[Check]:
    counts: dict[str, int] = {}
    for row in truth:
        counts[row["station"]] = counts.get(row["station"], 0) + 1
    table = tables.get("stations")
    shaped = table is not None and {*table.columns} == {"station", "sample_count"}
    found = {row["station"]: row["sample_count"] for row in table.rows} if table and shaped else {}
    yield check("stations", shaped and found == counts, expected=counts, found=found)


def mutants(outputs: Path, params: Params) -> Iterable[Mutant]:
    del outputs
    samples = "UPDATE samples SET"
    swap = "collected = substr(collected,1,5)||substr(collected,9,2)||'-'||substr(collected,6,2)"
    one = "(SELECT sample_id FROM samples WHERE {} ORDER BY sample_id LIMIT 1)"
    early = one.format(
        "CAST(substr(collected,9,2) AS INT) <= 12 AND substr(collected,9,2) <> substr(collected,6,2)"
    )
    nordic = params["first_exported"]["NF"]
    yield Mutant("day and month exchanged", "collected", _sql(f"{samples} {swap} WHERE sample_id = {early}"))
    yield Mutant(
        "inches left as they were",
        "depth_cm",
        _sql(f"{samples} depth_cm = depth_cm / 2.54 WHERE station = 'BO'"),
    )
    yield Mutant("missing pH as 0", "ph", _sql(f"{samples} ph = 0 WHERE ph IS NULL"))
    yield Mutant(
        "pH a tenth off", "ph", _sql(f"{samples} ph = ph + 0.1 WHERE sample_id = {one.format('ph > 0')}")
    )
    yield Mutant(
        "accents lost",
        "collector",
        _sql(f"{samples} collector = 'Ase Bjorndal' WHERE sample_id = '{nordic}'"),
    )
    yield Mutant("read in another encoding", "site", _mojibake)
    yield Mutant("samples kept twice", "one row a sample", _doubled)
    yield Mutant("one sample lost", "sample ids", _sql(f"DELETE FROM samples WHERE sample_id = '{nordic}'"))
    yield Mutant(
        "one count wrong",
        "stations",
        _sql("UPDATE stations SET sample_count = sample_count + 1 WHERE station = 'PO'"),
    )
    yield Mutant("no second table", "stations", _sql("DROP TABLE stations"))
    yield Mutant("depth as text", "depth_cm", _retyped)


def benign(outputs: Path, params: Params) -> Iterable[Benign]:
    del outputs, params
    yield Benign("rows and columns in another order", _reordered)
    yield Benign("UTF-16 database, vacuumed", _utf16)
    yield Benign("depth rounded to 0.01", _sql("UPDATE samples SET depth_cm = round(depth_cm, 2)"))
    yield Benign(
        "with an index and a user version",
        _sql("CREATE INDEX by_site ON samples(site); PRAGMA user_version = 7"),
    )
    yield Benign("write-ahead log mode", _sql("PRAGMA journal_mode = WAL"))


def _row(sample: Sample) -> Row:
    return {
        "sample_id": sample.sample_id,
        "station": sample.station,
        "collected": sample.collected.isoformat(),
        "collector": sample.collector,
        "site": sample.site,
        "depth_cm": float(sample.depth_cm),
        "ph": None if sample.ph is None else float(sample.ph),
    }


def _first(code: str, samples: list[Sample]) -> str:
    return next(sample.sample_id for sample in samples if sample.station == code)


def _equal(column: str, wanted: Any, found: Any) -> bool:
    if wanted is None or found is None:
        return wanted is found
    if column in ("depth_cm", "ph"):
        tolerance = DEPTH_TOLERANCE if column == "depth_cm" else PH_TOLERANCE
        return isinstance(found, int | float) and abs(found - wanted) <= tolerance
    return bool(wanted == found)


def _difference(wanted: Mapping[str, Row], found: Mapping[str, Row]) -> str:
    missing, extra = sorted({*wanted} - {*found})[:3], sorted({*found} - {*wanted})[:3]
    return f"missing {missing}, not asked for {extra}"


def _tables(path: Path) -> dict[str, _Table]:
    """All tables with their rows. Raises `Unreadable`."""
    if not path.is_file():
        raise Unreadable(path, "no such file")
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as base:
            names = base.execute(_TABLE_NAMES)
            return {name: _table(base, name) for (name,) in names.fetchmany(20)}
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise Unreadable(path, str(error)) from error


def _table(base: sqlite3.Connection, name: str) -> _Table:
    quoted = name.replace('"', '""')
    cursor = base.execute(f'SELECT * FROM "{quoted}"')
    columns = tuple(column[0] for column in cursor.description)
    return _Table(columns, [dict(zip(columns, row, strict=True)) for row in cursor.fetchmany(100_000)])


def _write(path: Path, rows: list[Row], *, schema: str = _SCHEMA) -> None:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as base, base:
        base.executescript(schema)
        marks = ", ".join(f":{column}" for column in COLUMNS)
        base.executemany(f"INSERT INTO samples ({', '.join(COLUMNS)}) VALUES ({marks})", rows)
        base.execute(_COUNT)


def _sql(script: str) -> Callable[[Path], None]:
    def apply(outputs: Path) -> None:
        with closing(sqlite3.connect(outputs / DATABASE)) as base:
            base.executescript(script)

    return apply


def _again(outputs: Path, schema: str, change: Callable[[list[Row]], list[Row]]) -> None:
    path = outputs / DATABASE
    _write(path, change(_tables(path)["samples"].rows), schema=schema)


def _mojibake(outputs: Path) -> None:
    def misread(rows: list[Row]) -> list[Row]:
        return [row | {"site": row["site"].encode().decode("cp1252", "replace")} for row in rows]

    _again(outputs, _SCHEMA, misread)


def _doubled(outputs: Path) -> None:
    _again(outputs, _SCHEMA.replace(" PRIMARY KEY", ""), lambda rows: [*rows, *rows[:2]])
    _sql(f"DELETE FROM stations; {_COUNT.replace('*', 'DISTINCT sample_id')}")(outputs)


def _retyped(outputs: Path) -> None:
    schema = _SCHEMA.replace("depth_cm REAL", "depth_cm TEXT")
    _again(outputs, schema, lambda rows: [row | {"depth_cm": f"{row['depth_cm']:.2f} cm"} for row in rows])


def _reordered(outputs: Path) -> None:
    columns = (
        "ph REAL, site TEXT, station TEXT, depth_cm REAL, sample_id TEXT PRIMARY KEY, collector, collected"
    )
    stations = "CREATE TABLE stations (sample_count INTEGER, station TEXT PRIMARY KEY)"
    _again(outputs, f"{stations}; CREATE TABLE samples ({columns});", lambda rows: rows[::-1])


def _utf16(outputs: Path) -> None:
    _again(outputs, "PRAGMA encoding = 'UTF-16le';" + _SCHEMA, lambda rows: rows)
    _sql("VACUUM")(outputs)
