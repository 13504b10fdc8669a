"""Pharmacy verification: doses by renal function from the newest creatinine, and drugs that must not meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from random import Random
from typing import Annotated

from msgspec import Meta

from practicum.infra.world.rules import Rules
from practicum.infra.world.units import Count, Hours, Kilograms
from practicum.infra.world.world import View, World
from practicum.tasks.worlds.evidence import looked
from practicum.tasks.worlds.expected import Expected, became, handed_in
from practicum.tasks.worlds.scenario import Industry, NearMiss, Scenario, Setup
from practicum.tasks.worlds.worker import Worker

Milligrams = Annotated[int, Meta(description="milligrams a day")]
Creatinine = Annotated[float, Meta(description="milligrams per decilitre")]
Clearance = Annotated[int, Meta(description="millilitres per minute")]


class State(StrEnum):
    PENDING = "pending"
    VERIFIED = "verified"
    ADJUSTED = "adjusted"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Patient:
    """`creatinine` is the value at admission."""

    id: str
    age: Count
    weight: Kilograms
    female: bool
    creatinine: Creatinine
    allergy: str


@dataclass(frozen=True, slots=True)
class Lab:
    id: str
    patient: str
    hours_ago: Hours
    creatinine: Creatinine


@dataclass(frozen=True, slots=True)
class Drug:
    """`above` is the largest daily dose from a clearance of `band` upwards, `below` the one below it.

    `avoid_with` names a drug that it must not meet.
    """

    id: str
    family: str
    band: Clearance
    above: Milligrams
    below: Milligrams
    avoid_with: str


@dataclass(frozen=True, slots=True)
class Order:
    id: str
    patient: str
    drug: str
    daily: Milligrams
    state: State


@dataclass(frozen=True, slots=True)
class Answer:
    """Report the verification.

    verified: ids of the orders verified as written
    adjusted: ids of the orders whose dose was lowered
    rejected: ids of the orders rejected
    """

    verified: list[str]
    adjusted: list[str]
    rejected: list[str]


def list_orders(world: View) -> list[Order]:
    """List the orders in the order in which they were written."""
    return world.all(Order)


def read_patient(world: View, patient: str) -> Patient:
    """Read the chart of a patient as it was written at admission.

    patient: id of the patient
    """
    return world.get(Patient, patient)


def list_labs(world: View, patient: str) -> list[Lab]:
    """List the creatinine results of a patient.

    patient: id of the patient
    """
    world.get(Patient, patient)
    return [lab for lab in world.all(Lab) if lab.patient == patient]


def read_drug(world: View, drug: str) -> Drug:
    """Read the formulary entry of a drug.

    drug: id of the drug
    """
    return world.get(Drug, drug)


def verify(world: World, order: str) -> Order:
    """Verify an order as it is written.

    order: id of the order
    """
    return _settle(world, order, State.VERIFIED)


def adjust(world: World, order: str, daily: Milligrams) -> Order:
    """Lower the dose of an order.

    order: id of the order
    daily: the new dose
    """
    if daily >= world.get(Order, order).daily:
        world.refuse("an adjustment lowers the dose")
    return _settle(world, order, State.ADJUSTED, daily)


def reject(world: World, order: str) -> Order:
    """Send an order back to the prescriber.

    order: id of the order
    """
    return _settle(world, order, State.REJECTED)


def _settle(world: World, key: str, state: State, daily: int | None = None) -> Order:
    order = world.get(Order, key)
    if order.state is not State.PENDING:
        world.refuse(f"{key} is {order.state}")
    return world.put(replace(order, state=state, daily=order.daily if daily is None else daily))


def clearance(patient: Patient, creatinine: float) -> float:
    """Creatinine clearance after Cockcroft and Gault (1976), millilitres per minute."""
    value = (140 - patient.age) * patient.weight / (72 * creatinine)
    return value * 0.85 if patient.female else value


def judge(
    orders: Sequence[Order],
    patients: Mapping[str, Patient],
    creatinine: Mapping[str, float],
    drugs: Mapping[str, Drug],
    *,
    together: bool = True,
    allergies: bool = True,
) -> dict[str, tuple[State, int]]:
    """State and daily dose of each order; `together` weighs an order against those accepted before it."""
    found: dict[str, tuple[State, int]] = {}
    taken: dict[str, set[str]] = {key: set() for key in patients}
    for order in orders:
        patient, drug = patients[order.patient], drugs[order.drug]
        ceiling = drug.above if clearance(patient, creatinine[patient.id]) >= drug.band else drug.below
        met = drug.avoid_with in taken[patient.id] or any(
            drugs[other].avoid_with == drug.id for other in taken[patient.id]
        )
        if (allergies and drug.family == patient.allergy) or (together and met) or ceiling == 0:
            found[order.id] = (State.REJECTED, order.daily)
            continue
        taken[patient.id].add(drug.id)
        state = State.VERIFIED if order.daily <= ceiling else State.ADJUSTED
        found[order.id] = (state, min(order.daily, ceiling))
    return found


def work(
    me: Worker,
    *,
    labs: bool = True,
    together: bool = True,
    allergies: bool = True,
    reject_high: bool = False,
) -> None:
    """`reject_high` sends too high doses back instead of lowering them."""
    orders = me.ask(list_orders)
    names = sorted({order.patient for order in orders})
    patients = {key: me.ask(read_patient, patient=key) for key in names}
    drugs = {key: me.ask(read_drug, drug=key) for key in sorted({order.drug for order in orders})}
    creatinine = {key: patients[key].creatinine for key in names}
    if labs:
        for key in names:
            newest = min(me.ask(list_labs, patient=key), key=lambda lab: lab.hours_ago)
            creatinine[key] = newest.creatinine
    verdicts = judge(orders, patients, creatinine, drugs, together=together, allergies=allergies)
    if reject_high:
        verdicts = {key: (_sent_back(state), dose) for key, (state, dose) in verdicts.items()}
    for key, (state, dose) in verdicts.items():
        if state is State.VERIFIED:
            me.do(verify, order=key)
        elif state is State.ADJUSTED:
            me.do(adjust, order=key, daily=dose)
        else:
            me.do(reject, order=key)
    me.submit(report(verdicts))


def _sent_back(state: State) -> State:
    return State.REJECTED if state is State.ADJUSTED else state


def report(verdicts: Mapping[str, tuple[State, int]]) -> Answer:
    def of(state: State) -> list[str]:
        return [key for key, (found, _) in verdicts.items() if found is state]

    return Answer(of(State.VERIFIED), of(State.ADJUSTED), of(State.REJECTED))


def plan(me: Worker) -> None:
    work(me, labs=me.habits.verify, together=me.habits.foresight)


def generate(rng: Random) -> Setup:
    """Three patients: kidneys that got worse, an allergy, and two drugs that must not meet."""
    drugs = _formulary(rng)
    patients = [
        Patient(
            f"PT-{number}", rng.randint(58, 79), float(rng.randint(55, 88)), rng.random() < 0.5, 0.9, "none"
        )
        for number in sorted(rng.sample(range(100, 999), 3))
    ]
    patients[1] = replace(patients[1], allergy=drugs[1].family)
    labs = [
        Lab(f"LAB-{number}{part}", patient.id, 30.0 - 24 * part + rng.randint(0, 3), value)
        for number, patient in enumerate(patients, 1)
        for part, value in enumerate((0.9, 3.4 if number == 1 else round(rng.uniform(0.85, 0.95), 2)))
    ]
    asked = [
        (patients[0], drugs[0], 1), (patients[1], drugs[1], 1), (patients[2], drugs[2], 1),
        (patients[2], drugs[3], 1), (patients[1], drugs[0], 1), (patients[0], drugs[4], 1),
        (patients[2], drugs[4], 2),
    ]  # fmt: skip
    orders = [
        Order(f"RX-{number}", patient.id, drug.id, drug.above * factor, State.PENDING)
        for number, (patient, drug, factor) in enumerate(asked, 1)
    ]
    newest = {patient.id: labs[2 * at + 1].creatinine for at, patient in enumerate(patients)}
    truth = judge(orders, {p.id: p for p in patients}, newest, {d.id: d for d in drugs})
    return Setup(
        now=datetime(2026, 6, 9, 7, 30, tzinfo=UTC),
        rows=(*patients, *labs, *drugs, *orders),
        facts={},
        expected=Expected(
            required=tuple(
                became(Order, key, state=state, daily=dose)
                if state is State.ADJUSTED
                else became(Order, key, state=state)
                for key, (state, dose) in truth.items()
            ),
            answer=handed_in(report(truth)),
        ),
    )


def _formulary(rng: Random) -> list[Drug]:
    """Invented drugs: the third and fourth must not meet, the fifth is harmless to kidneys."""
    names = rng.sample(["Arvexin", "Bolatide", "Cerinol", "Dantraze", "Elmoxan", "Fluvetol", "Gelipran"], 5)
    doses = [rng.choice([400, 600, 800, 1000]) for _ in names]
    drugs = [
        Drug(name, f"class-{number}", rng.choice([35, 40]), dose, dose // 2, "none")
        for number, (name, dose) in enumerate(zip(names, doses, strict=True), 1)
    ]
    drugs[2] = replace(drugs[2], avoid_with=drugs[3].id)
    drugs[4] = replace(drugs[4], band=0, below=drugs[4].above)
    return drugs


SCENARIO = Scenario(
    rules=Rules(
        name="healthcare/renal_dosing",
        tables=(Patient, Lab, Drug, Order),
        reads=(list_orders, read_patient, list_labs, read_drug),
        writes=(verify, adjust, reject),
        answer=Answer,
    ),
    title="Pharmacy verification by renal function",
    industry=Industry.HEALTHCARE,
    subdomain="Therapeutic & Oncology",
    soc="29-1051.00",
    difficulty=2,
    trap="The chart shows the creatinine of admission; the newest result has doubled. Two fine orders clash.",
    brief="""
        Settle every pending order, in the order in which they were written. Renal function is the
        creatinine clearance after Cockcroft and Gault with actual weight and the newest creatinine result.
        Reject an order if the patient is allergic to the drug's family, if the drug must not meet one
        already accepted for this patient (read both entries), or if its ceiling is 0. Otherwise lower the
        dose to the ceiling of the patient's clearance where it is above, else verify it as written. Then
        submit the three lists.
    """,
    generate=generate,
    plan=plan,
    evidence=(
        looked("labs_read", list_labs, before=adjust),
        looked("charts_read", read_patient, before=reject),
    ),
    near_misses=(
        NearMiss("uses the creatinine of admission", "changes/Order.RX-1", partial(work, labs=False)),
        NearMiss("judges each order alone", "changes/Order.RX-4", partial(work, together=False)),
        NearMiss("overlooks the allergy", "changes/Order.RX-2", partial(work, allergies=False)),
        NearMiss("rejects high doses", "answer/adjusted", partial(work, reject_high=True)),
    ),
    sources=("Cockcroft and Gault (1976), Nephron 16:31-41",),
)
