"""Money, tokens and machine time of a run: an append-only book in SQLite, in integers.

Before anything is used its worst case is *reserved*; afterwards what was used is *charged* and the rest let
go. A reservation that fits under every cap is the only way to spend, and it is made in one transaction, so
any number of workers together cannot overspend. A reservation that nobody settles, because its owner died or
the provider did not say, stays held: what may have been spent counts against the cap, reported as unsettled.
"""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from practicum.agents.agent import Ending, ExamOver, ModelFault, Usage
from practicum.controller.files import now
from practicum.controller.prices import PriceTable

RUN = "run"
MACHINE = "machine"


class Unit(StrEnum):
    NANO_DOLLARS = "nano_dollars"
    TOKENS = "tokens"
    MACHINE_MS = "machine_ms"


Amounts = Mapping[Unit, int]

ENDINGS: Mapping[Unit, Ending] = {
    Unit.NANO_DOLLARS: Ending.MONEY,
    Unit.TOKENS: Ending.TOKENS,
    Unit.MACHINE_MS: Ending.MONEY,
}

_SCHEMA = """
CREATE TABLE IF NOT EXISTS reservations (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL,
    trial TEXT NOT NULL, attempt INTEGER NOT NULL, agent TEXT NOT NULL,
    what TEXT NOT NULL, purpose TEXT NOT NULL,
    nano_dollars INTEGER NOT NULL, tokens INTEGER NOT NULL, machine_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS settlements (
    reservation INTEGER PRIMARY KEY REFERENCES reservations (id), at TEXT NOT NULL,
    nano_dollars INTEGER, tokens INTEGER, machine_ms INTEGER,
    input INTEGER, output INTEGER, cache_read INTEGER, cache_write INTEGER, cache_write_long INTEGER,
    reasoning INTEGER
) STRICT;
CREATE TABLE IF NOT EXISTS caps (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, scope TEXT NOT NULL, unit TEXT NOT NULL, amount INTEGER
) STRICT;
CREATE TABLE IF NOT EXISTS refusals (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, agent TEXT NOT NULL, scope TEXT NOT NULL, unit TEXT NOT NULL,
    caps INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS totals (
    scope TEXT NOT NULL, unit TEXT NOT NULL, spent INTEGER NOT NULL, held INTEGER NOT NULL,
    PRIMARY KEY (scope, unit)
) STRICT, WITHOUT ROWID;
"""

_FOR_EVER = "".join(
    f"CREATE TRIGGER IF NOT EXISTS {table}_{verb} BEFORE {verb} ON {table} "
    f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END;"
    for table in ("reservations", "settlements", "caps", "refusals")
    for verb in ("UPDATE", "DELETE")
)


class OverCap(Exception):
    """The worst case does not fit under a cap; nothing was reserved."""

    def __init__(self, scope: str, unit: Unit) -> None:
        super().__init__(f"{unit} cap of {scope}")
        self.scope = scope
        self.unit = unit


@dataclass(frozen=True, slots=True)
class Owner:
    """Who spends: one attempt at one trial. Its scopes are the run, its agent and itself."""

    trial: str
    attempt: int
    agent: str

    @property
    def scope(self) -> str:
        return f"trial:{self.trial}/{self.attempt}"

    def scopes(self) -> tuple[str, ...]:
        return (RUN, f"agent:{self.agent}", self.scope)


@dataclass(frozen=True, slots=True)
class Total:
    """`held` is reserved and not settled: running now, or never to be known."""

    spent: int
    held: int


class Ledger:
    """One connection to the book; every process opens its own. Raises `OSError` where the disk is full."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, timeout=60.0, isolation_level=None)
        with _disk_errors():
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.executescript(_SCHEMA + _FOR_EVER)

    def close(self) -> None:
        self._db.close()

    def set_cap(self, scope: str, unit: Unit, amount: int | None) -> None:
        """From now on; `None` lifts the cap."""
        with self._transaction():
            self._db.execute(
                "INSERT INTO caps (at, scope, unit, amount) VALUES (?, ?, ?, ?)", (now(), scope, unit, amount)
            )

    def cap(self, scope: str, unit: Unit) -> int | None:
        row = self._db.execute(
            "SELECT amount FROM caps WHERE scope = ? AND unit = ? ORDER BY id DESC LIMIT 1", (scope, unit)
        ).fetchone()
        return None if row is None else row[0]

    def total(self, scope: str, unit: Unit) -> Total:
        row = self._db.execute(
            "SELECT spent, held FROM totals WHERE scope = ? AND unit = ?", (scope, unit)
        ).fetchone()
        return Total(0, 0) if row is None else Total(*row)

    def reserve(
        self,
        owner: Owner,
        what: str,
        amounts: Amounts,
        *,
        purpose: str = "agent",
        caps: Amounts | None = None,
    ) -> int:
        """Hold the amounts for `owner` and return the reservation. `caps` are its own, beside the book's.

        Raises `OverCap`.
        """
        try:
            return self._reserve(owner, what, amounts, purpose, caps or {})
        except OverCap as over:
            if over.scope != owner.scope:
                self._remember_refusal(owner, over)
            raise

    def _reserve(self, owner: Owner, what: str, amounts: Amounts, purpose: str, caps: Amounts) -> int:
        with self._transaction():
            for unit, amount in amounts.items():
                self._require_room(owner, unit, amount, caps.get(unit))
            cursor = self._db.execute(
                "INSERT INTO reservations (at, trial, attempt, agent, what, purpose, nano_dollars, tokens, "
                "machine_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (now(), owner.trial, owner.attempt, owner.agent, what, purpose, *_row(amounts)),
            )
            self._move(owner, {unit: (0, amount) for unit, amount in amounts.items()})
        return int(cursor.lastrowid or 0)

    def settle(
        self, reservation: int, owner: Owner, used: Mapping[Unit, int | None], usage: Usage | None = None
    ) -> None:
        """Book what was used. A unit that is `None` is unknown, and its reservation stays held.

        Raises `sqlite3.IntegrityError` on a second settlement: nothing is ever billed twice.
        """
        with self._transaction():
            held = self._reserved(reservation)
            tokens = _buckets(usage)
            self._db.execute(
                "INSERT INTO settlements (reservation, at, nano_dollars, tokens, machine_ms, input, output, "
                "cache_read, cache_write, cache_write_long, reasoning) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (reservation, now(), *(used.get(unit, 0) for unit in Unit), *tokens),
            )
            known = {unit: amount for unit in Unit if (amount := used.get(unit, 0)) is not None}
            self._move(owner, {unit: (amount, -held[unit]) for unit, amount in known.items()})

    def exhausted(self, agent: str) -> bool:
        """Whether this agent was refused under a cap of the run or its own, and no cap was set since."""
        row = self._db.execute(
            "SELECT 1 FROM refusals WHERE agent = ? AND caps = (SELECT COUNT(*) FROM caps) LIMIT 1",
            (agent,),
        ).fetchone()
        return row is not None

    def spent_by_trial(self) -> Mapping[str, Total]:
        """Nano-dollars of all attempts of each trial."""
        rows = self._db.execute(
            "SELECT r.trial, SUM(COALESCE(s.nano_dollars, 0)), "
            "SUM(CASE WHEN s.nano_dollars IS NULL THEN r.nano_dollars ELSE 0 END) "
            "FROM reservations r LEFT JOIN settlements s ON s.reservation = r.id GROUP BY r.trial"
        )
        return {trial: Total(spent, held) for trial, spent, held in rows}

    def recompute(self) -> Mapping[tuple[str, Unit], Total]:
        """The totals again, from the entries alone."""
        totals: dict[tuple[str, Unit], Total] = {}
        rows = self._db.execute(
            "SELECT r.trial, r.attempt, r.agent, r.nano_dollars, r.tokens, r.machine_ms, "
            "s.nano_dollars, s.tokens, s.machine_ms FROM reservations r "
            "LEFT JOIN settlements s ON s.reservation = r.id"
        )
        for trial, attempt, agent, *numbers in rows:
            for unit, held, spent in zip(Unit, numbers[:3], numbers[3:], strict=True):
                for scope in Owner(trial, attempt, agent).scopes():
                    before = totals.get((scope, unit), Total(0, 0))
                    totals[scope, unit] = Total(
                        before.spent + (spent or 0), before.held + (held if spent is None else 0)
                    )
        return totals

    def _remember_refusal(self, owner: Owner, over: OverCap) -> None:
        with self._transaction():
            self._db.execute(
                "INSERT INTO refusals (at, agent, scope, unit, caps) SELECT ?, ?, ?, ?, COUNT(*) FROM caps",
                (now(), owner.agent, over.scope, over.unit),
            )

    def _require_room(self, owner: Owner, unit: Unit, amount: int, own_cap: int | None) -> None:
        for scope in owner.scopes():
            caps = [self.cap(scope, unit), own_cap if scope == owner.scope else None]
            total = self.total(scope, unit)
            if any(cap is not None and total.spent + total.held + amount > cap for cap in caps):
                raise OverCap(scope, unit)

    def _reserved(self, reservation: int) -> Mapping[Unit, int]:
        row = self._db.execute(
            "SELECT nano_dollars, tokens, machine_ms FROM reservations WHERE id = ?", (reservation,)
        ).fetchone()
        return dict(zip(Unit, row, strict=True))

    def _move(self, owner: Owner, changes: Mapping[Unit, tuple[int, int]]) -> None:
        self._db.executemany(
            "INSERT INTO totals (scope, unit, spent, held) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (scope, unit) "
            "DO UPDATE SET spent = spent + excluded.spent, held = held + excluded.held",
            [
                (scope, unit, spent, held)
                for scope in owner.scopes()
                for unit, (spent, held) in changes.items()
                if spent or held
            ],
        )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with _disk_errors():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")


@dataclass(frozen=True, slots=True)
class TrialMeter:
    """The `Meter` of one attempt."""

    ledger: Ledger
    prices: PriceTable
    owner: Owner
    caps: Amounts

    def reserve(self, model: str, worst: Usage, purpose: str) -> ModelBill:
        """Raises `ExamOver` where the worst case does not fit, `UnknownPrice` for a model without one, and
        `ModelFault` for a model that bounds nothing."""
        cost, tokens = self.prices.price(model).cost(worst), worst.total
        if cost is None or tokens is None:
            raise ModelFault("worst_case", f"{model} does not say what a call may use at most")
        amounts = {Unit.NANO_DOLLARS: cost, Unit.TOKENS: tokens}
        try:
            reservation = self.ledger.reserve(self.owner, model, amounts, purpose=purpose, caps=self.caps)
        except OverCap as error:
            raise ExamOver(ENDINGS[error.unit], str(error)) from error
        return ModelBill(self, model, reservation)


@dataclass(frozen=True, slots=True)
class ModelBill:
    """A reservation for one model call."""

    meter: TrialMeter
    model: str
    reservation: int

    def charge(self, usage: Usage) -> int | None:
        cost = self.meter.prices.price(self.model).cost(usage)
        used = {Unit.NANO_DOLLARS: cost, Unit.TOKENS: usage.total}
        self.meter.ledger.settle(self.reservation, self.meter.owner, used, usage)
        return cost

    def release(self) -> None:
        self.meter.ledger.settle(self.reservation, self.meter.owner, {})


def read_cap(path: Path, scope: str = RUN, unit: Unit = Unit.NANO_DOLLARS) -> int | None:
    """A cap as it stands, for readers of a record; `None` where there is none, or no book."""
    if not path.exists():
        return None
    with closing(Ledger(path)) as ledger:
        return ledger.cap(scope, unit)


def _row(amounts: Amounts) -> tuple[int, ...]:
    return tuple(amounts.get(unit, 0) for unit in Unit)


def _buckets(usage: Usage | None) -> tuple[int | None, ...]:
    if usage is None:
        return (None,) * 6
    return (
        usage.input,
        usage.output,
        usage.cache_read,
        usage.cache_write,
        usage.cache_write_long,
        usage.reasoning,
    )


@contextmanager
def _disk_errors() -> Iterator[None]:
    """A full disk is `OSError(ENOSPC)` here as everywhere else."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_FULL:
            raise OSError(errno.ENOSPC, "the disk is full", "ledger.db") from error
        raise
