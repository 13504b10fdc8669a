"""Museum loan: objects into display cases by what climate and light they bear, for the whole exhibition.

Light does its damage by the dose: illuminance times hours, added to what the object has had this year.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from random import Random
from typing import Annotated

from msgspec import Meta

from practicum.infra.world.rules import Rules
from practicum.infra.world.units import Days, Percent
from practicum.infra.world.world import View, World
from practicum.tasks.worlds.evidence import looked, looked_after
from practicum.tasks.worlds.expected import Expected, became, handed_in, made
from practicum.tasks.worlds.scenario import Industry, NearMiss, Scenario, Setup
from practicum.tasks.worlds.worker import Stuck, Worker

Lux = Annotated[int, Meta(description="lux")]
LuxHours = Annotated[int, Meta(description="lux hours")]
OPEN_HOURS = 8


@dataclass(frozen=True, slots=True)
class Piece:
    """An object: the humidity it bears, its yearly light budget, and the dose it had this year."""

    id: str
    humidity_from: Percent
    humidity_to: Percent
    budget: LuxHours
    dose: LuxHours
    case: str


@dataclass(frozen=True, slots=True)
class Case:
    """A display case with its nominal climate."""

    id: str
    humidity: Percent
    light: Lux


@dataclass(frozen=True, slots=True)
class Logger:
    """The logger in a case: mean humidity of the last week, light as measured."""

    id: str
    humidity: Percent
    light: Lux


@dataclass(frozen=True, slots=True)
class Report:
    """A condition report of an object."""

    id: str
    piece: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Report the installation.

    installed: ids of the objects in their cases
    longest: days the exhibition may last until the first object has spent its yearly light budget
    """

    installed: list[str]
    longest: Days


def list_pieces(world: View) -> list[Piece]:
    """List the objects on loan."""
    return world.all(Piece)


def list_cases(world: View) -> list[Case]:
    """List the display cases with their nominal climate."""
    return world.all(Case)


def read_logger(world: View, case: str) -> Logger:
    """Read the climate logger in a case.

    case: id of the case
    """
    return world.get(Logger, case)


def write_report(world: World, piece: str) -> Report:
    """Write the condition report of an object before it is moved; one for each loan.

    piece: id of the object
    """
    world.get(Piece, piece)
    return world.put(Report(world.fresh(Report, "CR"), piece))


def install(world: World, piece: str, case: str) -> Piece:
    """Put an object into an empty case.

    piece: id of the object
    case: id of the case
    """
    item, _ = world.get(Piece, piece), world.get(Case, case)
    if item.case:
        world.refuse(f"{piece} is in {item.case}")
    if any(other.case == case for other in world.all(Piece)):
        world.refuse(f"{case} is not empty")
    return world.put(replace(item, case=case))


def reported_first(world: View) -> str | None:
    known = {report.piece for report in world.all(Report)}
    moved = [piece.id for piece in world.all(Piece) if piece.case and piece.id not in known]
    return f"moved without a condition report: {moved}" if moved else None


def climate_kept(world: View) -> str | None:
    wrong = [
        p.id
        for p in world.all(Piece)
        if p.case and not p.humidity_from <= world.get(Logger, p.case).humidity <= p.humidity_to
    ]
    return f"in a climate they do not bear: {wrong}" if wrong else None


def days_left(piece: Piece, light: int) -> int:
    """Whole days until the yearly budget is spent."""
    return (piece.budget - piece.dose) // (light * OPEN_HOURS)


Hanging = list[tuple[Piece, Logger]]


def hangings(pieces: Sequence[Piece], cases: Sequence[Logger], days: int) -> Iterator[Hanging]:
    """Every placing that keeps climate and light for so many days."""
    for choice in itertools.permutations(cases, len(pieces)):
        pairs = list(zip(pieces, choice, strict=True))
        if all(bears(piece, case) and days_left(piece, case.light) >= days for piece, case in pairs):
            yield pairs


def bears(piece: Piece, case: Logger) -> bool:
    return piece.humidity_from <= case.humidity <= piece.humidity_to


def first_bearable(pieces: Sequence[Piece], cases: Sequence[Logger]) -> Hanging:
    free, hanging = list(cases), Hanging()
    for piece in pieces:
        case = next((case for case in free if bears(piece, case)), None)
        if case is not None:
            free.remove(case)
            hanging.append((piece, case))
    return hanging


def set_up(
    me: Worker, *, loggers: bool = True, ahead: bool = True, dose: bool = True, reports: bool = True
) -> None:
    """`loggers` reads the real climate, `dose` counts the light of before, `reports` writes them."""
    pieces, cases, days = me.ask(list_pieces), me.ask(list_cases), int(me.facts["days"])
    climate = [Logger(case.id, case.humidity, case.light) for case in cases]
    if loggers:
        climate = [me.ask(read_logger, case=case.id) for case in cases]
    counted = pieces if dose else [replace(piece, dose=0) for piece in pieces]
    hanging = next(hangings(counted, climate, days), None) if ahead else first_bearable(counted, climate)
    if hanging is None:
        raise Stuck("no placing keeps climate and light")
    for piece, case in hanging:
        if reports:
            me.do(write_report, piece=piece.id)
        me.do(install, piece=piece.id, case=case.id)
    longest = min(days_left(piece, case.light) for piece, case in hanging)
    done = [piece.id for piece in me.ask(list_pieces) if piece.case]
    me.submit(Answer(done, max(0, longest)))


def plan(me: Worker) -> None:
    set_up(me, loggers=me.habits.verify, ahead=me.habits.foresight)


def generate(rng: Random) -> Setup:
    """The watercolour bears only the dimmest case, which the first object would take; one case is damp."""
    days = rng.randint(80, 110)
    hours = days * OPEN_HOURS
    dim, mild, bright = 50, 100, 200
    had = rng.randint(1000, 3000)
    names = rng.sample(["bronze", "print", "banner", "book", "mask", "fan"], 4)
    ids = [f"{number}-{name}" for number, name in enumerate(names, 1)]
    budgets = [
        150_000 + bright * hours,
        mild * hours + had + 900,
        dim * hours + had + 500,
        mild * hours + 9000,
    ]
    doses = [had, had, had, 0]
    pieces = [
        Piece(key, 40.0, 60.0, budget, spent, "")
        for key, budget, spent in zip(ids, budgets, doses, strict=True)
    ]
    pieces[3] = replace(pieces[3], humidity_from=35.0, humidity_to=45.0)
    labels = [f"V-{number}" for number in sorted(rng.sample(range(10, 99), 5))]
    nominal = [(50.0, dim), (50.0, mild), (50.0, mild), (42.0, mild), (50.0, bright)]
    cases = [Case(label, *climate) for label, climate in zip(labels, nominal, strict=True)]
    loggers = [Logger(case.id, case.humidity + rng.randint(-2, 2), case.light) for case in cases]
    damp = rng.randint(66, 74)
    loggers[1] = replace(loggers[1], humidity=float(damp))
    homes = {ids[0]: labels[4], ids[1]: labels[2], ids[2]: labels[0], ids[3]: labels[3]}
    truth = _longest(pieces, {logger.id: logger for logger in loggers}, homes)
    return Setup(
        now=datetime(2026, 9, 14, 9, 0, tzinfo=UTC),
        rows=(*pieces, *cases, *loggers),
        facts={"days": days, "hours": OPEN_HOURS},
        expected=Expected(
            required=(
                *(became(Piece, key, case=case) for key, case in homes.items()),
                *(made(Report, piece=key) for key in homes),
            ),
            answer=handed_in(Answer(ids, truth)),
        ),
    )


def _longest(pieces: Sequence[Piece], loggers: Mapping[str, Logger], homes: Mapping[str, str]) -> int:
    return min(days_left(piece, loggers[homes[piece.id]].light) for piece in pieces)


SCENARIO = Scenario(
    rules=Rules(
        name="education/museum_loan",
        tables=(Piece, Case, Logger, Report),
        reads=(list_pieces, list_cases, read_logger),
        writes=(write_report, install),
        answer=Answer,
    ),
    title="A museum loan into display cases",
    industry=Industry.EDUCATION,
    subdomain="Library & Information Science",
    soc="25-4012.00",
    difficulty=2,
    trap="A case is damp whatever its label says, and the dimmest case is needed by the object listed third.",
    brief="""
        Install the loan for an exhibition of {days} days at {hours} hours a day: each object in a case of
        its own whose measured humidity it bears and whose light, over the whole exhibition and with the
        dose it had this year, stays within its yearly budget. Write one condition report for each object
        before it is moved. Then submit what is installed and how many whole days the exhibition could last
        at most with this placing.
    """,
    generate=generate,
    plan=plan,
    always=(reported_first, climate_kept),
    evidence=(
        looked("logger_read", read_logger, before=install, same={"case": "case"}),
        looked_after("looked_again", list_pieces, after=install),
    ),
    near_misses=(
        NearMiss("trusts the label", "always/climate_kept", partial(set_up, loggers=False)),
        NearMiss("takes the first case", "changes", partial(set_up, ahead=False)),
        NearMiss("forgets the dose so far", "answer/longest", partial(set_up, dose=False)),
        NearMiss("writes no reports", "always/reported_first", partial(set_up, reports=False)),
    ),
    sources=(
        "CIE 157:2004, Control of damage to museum objects by optical radiation: dose, not illuminance",
    ),
)
