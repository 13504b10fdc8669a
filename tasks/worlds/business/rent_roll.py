"""Property valuation: net operating income and debt service coverage from a rent roll.

The roll is a summary. Where it marks a lease as amended, the lease itself has the rent that counts; a
surcharge is income only for the months it still runs; a unit without a paying tenant is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from random import Random

from practicum.infra.world.journal import Entry
from practicum.infra.world.rules import Rules
from practicum.infra.world.units import Count, Dollars, Percent, Ratio
from practicum.infra.world.world import View, World
from practicum.tasks.worlds.evidence import Evidence, looked
from practicum.tasks.worlds.expected import Expected, handed_in, made
from practicum.tasks.worlds.scenario import Industry, NearMiss, Scenario, Setup
from practicum.tasks.worlds.worker import Worker


class Status(StrEnum):
    OCCUPIED = "occupied"
    VACANT = "vacant"
    MODEL = "model"


class Decision(StrEnum):
    APPROVE = "approve"
    DECLINE = "decline"


@dataclass(frozen=True, slots=True)
class Unit:
    """One line of the rent roll; rents are monthly."""

    id: str
    status: Status
    rent: Dollars
    amended: bool
    surcharge: Dollars
    surcharge_months_left: Count


@dataclass(frozen=True, slots=True)
class Lease:
    """The lease in force of one unit; rent is monthly."""

    id: str
    rent: Dollars


@dataclass(frozen=True, slots=True)
class Expense:
    """Yearly cost of running the property."""

    id: str
    yearly: Dollars


@dataclass(frozen=True, slots=True)
class Loan:
    """`monthly_payment` covers principal and interest."""

    id: str
    monthly_payment: Dollars
    vacancy_allowance: Percent
    required_coverage: Ratio


@dataclass(frozen=True, slots=True)
class Opinion:
    """A decision on the file of the property."""

    id: str
    decision: Decision
    net_operating_income: Dollars
    coverage: Ratio


@dataclass(frozen=True, slots=True)
class Answer:
    """Report the valuation.

    net_operating_income: of the next twelve months
    coverage: debt service coverage ratio, two decimals
    decision: approve when the coverage reaches what the loan requires
    """

    net_operating_income: Dollars
    coverage: Ratio
    decision: Decision


def list_rent_roll(world: View) -> list[Unit]:
    """List the rent roll of the property, one line a unit. The rent of an amended lease is out of date."""
    return world.all(Unit)


def read_lease(world: View, unit: str) -> Lease:
    """Read the lease in force of a unit.

    unit: id of the unit
    """
    return world.get(Lease, unit)


def list_expenses(world: View) -> list[Expense]:
    """List the yearly operating expenses. Debt service is none of them."""
    return world.all(Expense)


def read_loan(world: View) -> Loan:
    """Read the terms of the loan that is asked for."""
    return world.one(Loan)


def record_opinion(
    world: World, decision: Decision, net_operating_income: Dollars, coverage: Ratio
) -> Opinion:
    """Put a decision on file. There is one opinion to a file, and it cannot be taken back.

    decision: approve or decline
    net_operating_income: of the next twelve months
    coverage: debt service coverage ratio, two decimals
    """
    if world.all(Opinion):
        world.refuse("there is an opinion on file already")
    return world.put(Opinion("O-1", decision, net_operating_income, coverage))


def yearly_income(units: Sequence[Unit], rents: Mapping[str, float], allowance: float) -> float:
    """Of the next twelve months, in dollars: rents and surcharges of occupied units less the allowance."""
    gross = sum(
        12 * rents[unit.id] + min(12, unit.surcharge_months_left) * unit.surcharge
        for unit in units
        if unit.status is Status.OCCUPIED
    )
    return gross * (1 - allowance / 100)


def opinion(income: float, expenses: Sequence[Expense], loan: Loan) -> Answer:
    """Coverage is net operating income over a year of debt service."""
    net = round(income - sum(expense.yearly for expense in expenses), 2)
    coverage = round(net / (12 * loan.monthly_payment), 2)
    return Answer(net, coverage, Decision.APPROVE if coverage >= loan.required_coverage else Decision.DECLINE)


def current_rents(me: Worker, units: Sequence[Unit]) -> dict[str, float]:
    amended = [unit.id for unit in units if unit.amended and unit.status is Status.OCCUPIED]
    return rolled_rents(units) | {key: me.ask(read_lease, unit=key).rent for key in amended}


def rolled_rents(units: Sequence[Unit]) -> dict[str, float]:
    return {unit.id: unit.rent for unit in units}


def for_ever(units: Sequence[Unit]) -> list[Unit]:
    return [replace(unit, surcharge_months_left=12) for unit in units]


def decide(me: Worker, units: Sequence[Unit], rents: Mapping[str, float], *, debt_too: bool = False) -> None:
    """File and report the opinion; `debt_too` counts the debt service as an operating expense."""
    loan, expenses = me.ask(read_loan), me.ask(list_expenses)
    if debt_too:
        expenses = [*expenses, Expense("debt", 12 * loan.monthly_payment)]
    found = opinion(yearly_income(units, rents, loan.vacancy_allowance), expenses, loan)
    me.do(
        record_opinion,
        decision=found.decision,
        net_operating_income=found.net_operating_income,
        coverage=found.coverage,
    )
    me.submit(found)


def plan(me: Worker) -> None:
    units = me.ask(list_rent_roll)
    if not me.habits.foresight:
        units = for_ever(units)
    decide(me, units, current_rents(me, units) if me.habits.verify else rolled_rents(units))


def trust_the_roll(me: Worker) -> None:
    units = me.ask(list_rent_roll)
    decide(me, units, rolled_rents(units))


def keep_surcharges(me: Worker) -> None:
    units = for_ever(me.ask(list_rent_roll))
    decide(me, units, current_rents(me, units))


def fill_every_unit(me: Worker) -> None:
    units = [replace(unit, status=Status.OCCUPIED) for unit in me.ask(list_rent_roll)]
    rents = rolled_rents(units)
    leased = {unit.id for unit in me.ask(list_rent_roll) if unit.status is Status.OCCUPIED}
    rents |= current_rents(me, [unit for unit in units if unit.id in leased])
    decide(me, units, rents)


def expense_the_debt(me: Worker) -> None:
    units = me.ask(list_rent_roll)
    decide(me, units, current_rents(me, units), debt_too=True)


def every_amendment_read(entries: Sequence[Entry]) -> str | None:
    rolls = [entry for entry in entries if entry.tool == list_rent_roll.__name__ and entry.error is None]
    if not rolls:
        return "the rent roll was never listed"
    asked = {entry.arguments.get("unit") for entry in entries if entry.tool == read_lease.__name__}
    unread = [
        line["id"]
        for line in rolls[0].answer["items"]
        if line["amended"] and line["status"] == Status.OCCUPIED and line["id"] not in asked
    ]
    return f"amended leases never read: {unread}" if unread else None


def generate(rng: Random) -> Setup:
    lower = rng.random() < 0.5
    units = [_unit(rng, number) for number in range(1, rng.randint(19, 27))]
    rents = {unit.id: unit.rent + _amendment(rng, lower) * unit.amended for unit in units}
    allowance = float(rng.choice([4, 5, 6]))
    income = yearly_income(units, rents, allowance)
    names = ("insurance", "maintenance", "management", "taxes", "utilities")
    expenses = [Expense(name, round(income * rng.uniform(0.05, 0.1), -2)) for name in names]
    costs = sum(expense.yearly for expense in expenses)
    middle = (income + yearly_income(units, rolled_rents(units), allowance)) / 2 - costs
    required = rng.choice([1.2, 1.25, 1.3])
    loan = Loan("L-1", round(middle / required / 12, 2), allowance, required)
    truth = opinion(income, expenses, loan)
    leases = [Lease(unit.id, rents[unit.id]) for unit in units if unit.status is Status.OCCUPIED]
    return Setup(
        now=datetime(2026, 3, 2, 9, 0, tzinfo=UTC),
        rows=(*units, *leases, *expenses, loan),
        facts={"property": rng.choice(["Larch Terrace", "Quarry House", "Mill Gardens", "Canal Court"])},
        expected=_expected(truth),
    )


def _expected(truth: Answer) -> Expected:
    within = {"net_operating_income": 1.0}
    filed = made(
        Opinion,
        within,
        decision=truth.decision,
        net_operating_income=truth.net_operating_income,
        coverage=truth.coverage,
    )
    return Expected(required=(filed,), answer=handed_in(truth, within=within))


def _unit(rng: Random, number: int) -> Unit:
    """Every third unit is amended, every fifth has a surcharge; the first are occupied, so both occur."""
    status = Status.OCCUPIED if number <= 6 else rng.choices(list(Status), [12, 2, 1])[0]
    surcharge = float(rng.choice([120, 180, 250])) if number % 5 == 1 else 0.0
    return Unit(
        id=f"{rng.choice('ABC')}-{number:02}",
        status=status if number != 7 else Status.VACANT,
        rent=float(rng.randint(110, 190) * 10),
        amended=number % 3 == 0,
        surcharge=surcharge,
        surcharge_months_left=rng.randint(2, 9) if surcharge else 0,
    )


def _amendment(rng: Random, lower: bool) -> float:
    return float((-10 if lower else 10) * rng.randint(15, 28))


SCENARIO = Scenario(
    rules=Rules(
        name="business/rent_roll",
        tables=(Unit, Lease, Expense, Loan, Opinion),
        reads=(list_rent_roll, read_lease, list_expenses, read_loan),
        writes=(record_opinion,),
        answer=Answer,
    ),
    title="Property valuation from a rent roll",
    industry=Industry.BUSINESS,
    subdomain="Accounting & Finance",
    soc="13-2023.00",
    difficulty=2,
    trap="The rent roll is out of date where a lease was amended, and the truth lies across the threshold.",
    brief="""
        A lender asks whether {property} carries its loan. Work out the net operating income of the next
        twelve months: rents of occupied units from the lease in force, plus monthly surcharges for as many
        of the twelve months as they still run, less the vacancy allowance on the sum of both, less
        operating expenses. Debt service coverage is that income over twelve monthly payments, rounded to
        two decimals; approve if it reaches the required coverage, else decline. Put the opinion on file,
        then submit it.
    """,
    generate=generate,
    plan=plan,
    evidence=(
        Evidence("every_amendment_read", every_amendment_read),
        looked("terms_read", read_loan, before=record_opinion),
    ),
    near_misses=(
        NearMiss("trusts the rent roll", "answer/decision", trust_the_roll),
        NearMiss("lets surcharges run for ever", "answer/net_operating_income", keep_surcharges),
        NearMiss("counts rent of empty units", "answer/net_operating_income", fill_every_unit),
        NearMiss("pays the debt as an expense", "answer/coverage", expense_the_debt),
    ),
)
