"""Customs clearance: value, preference and permits of a consignment, each permit before what needs it.

Duty is due on the value at the border: invoice, and freight and insurance shared out by value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from random import Random

from practicum.infra.world.rules import Rules
from practicum.infra.world.units import Days, Dollars, Euros, Percent, Ratio
from practicum.infra.world.world import View, World
from practicum.tasks.worlds.evidence import looked
from practicum.tasks.worlds.expected import Expected, handed_in, made
from practicum.tasks.worlds.scenario import Industry, NearMiss, Scenario, Setup
from practicum.tasks.worlds.worker import NotAllowed, Worker

NONE = "none"


@dataclass(frozen=True, slots=True)
class Item:
    """A line of the consignment; the value is the invoice's."""

    id: str
    code: str
    origin: str
    value: Dollars
    certificate: str


@dataclass(frozen=True, slots=True)
class Consignment:
    id: str
    freight: Dollars
    insurance: Dollars


@dataclass(frozen=True, slots=True)
class Tariff:
    """The entry of a commodity code. `permit` names the permit it needs, `none` for none."""

    id: str
    duty: Percent
    preferential: Percent
    preferred_origin: str
    permit: str


@dataclass(frozen=True, slots=True)
class Certificate:
    """A proof of origin."""

    id: str
    origin: str
    days_left: Days
    revoked: bool


@dataclass(frozen=True, slots=True)
class Rate:
    """The official customs rate of the month and the market's rate of today."""

    id: str
    official: Ratio
    market: Ratio


@dataclass(frozen=True, slots=True)
class PermitKind:
    """A permit that an office issues; `after` must be held first, `none` for none."""

    id: str
    after: str


@dataclass(frozen=True, slots=True)
class Permit:
    id: str
    kind: str


@dataclass(frozen=True, slots=True)
class Declaration:
    """A lodged declaration; complete when it was lodged with all permits that it needs."""

    id: str
    duty: Euros
    vat: Euros
    complete: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """Report the clearance.

    customs_value: of the whole consignment
    duty: of the whole consignment
    vat: of the whole consignment
    """

    customs_value: Euros
    duty: Euros
    vat: Euros


def list_items(world: View) -> list[Item]:
    """List the lines of the consignment."""
    return world.all(Item)


def read_consignment(world: View) -> Consignment:
    """Read what transport to the border cost."""
    return world.one(Consignment)


def read_tariff(world: View, code: str) -> Tariff:
    """Read the tariff entry of a commodity code.

    code: commodity code
    """
    return world.get(Tariff, code)


def read_certificate(world: View, certificate: str) -> Certificate:
    """Ask the issuing office about a certificate of origin.

    certificate: number of the certificate
    """
    return world.get(Certificate, certificate)


def read_rate(world: View) -> Rate:
    """Read what one US dollar is worth in euros."""
    return world.one(Rate)


def read_permit_kind(world: View, kind: str) -> PermitKind:
    """Read what a permit depends on.

    kind: name of the permit
    """
    return world.get(PermitKind, kind)


def apply_for_permit(world: World, kind: str) -> Permit:
    """Apply for a permit; a permit that depends on another is issued only after it. Each is paid for.

    kind: name of the permit
    """
    after = world.get(PermitKind, kind).after
    if after != NONE and after not in {permit.kind for permit in world.all(Permit)}:
        world.refuse(f"{kind} is issued only to holders of {after}")
    return world.put(Permit(world.fresh(Permit, "P"), kind))


def lodge(world: World, duty: Euros, vat: Euros) -> Declaration:
    """Lodge the declaration of the consignment, once.

    duty: of all lines, two decimals
    vat: of all lines, two decimals
    """
    if world.all(Declaration):
        world.refuse("the declaration is lodged already")
    held = {permit.kind for permit in world.all(Permit)}
    complete = needed(world.all(Item), {tariff.id: tariff for tariff in world.all(Tariff)}) <= held
    return world.put(Declaration("D-1", duty, vat, complete))


def permits_before_lodging(world: View) -> str | None:
    lacking = [declaration.id for declaration in world.all(Declaration) if not declaration.complete]
    return "the declaration was lodged without all permits" if lacking else None


def needed(items: Sequence[Item], tariffs: Mapping[str, Tariff]) -> set[str]:
    return {tariffs[item.code].permit for item in items} - {NONE}


def assess(
    items: Sequence[Item],
    consignment: Consignment,
    tariffs: Mapping[str, Tariff],
    valid: frozenset[str],
    *,
    rate: float,
    vat: float,
) -> Answer:
    """Value, duty and tax; `valid` holds the certificates of origin that count. Two decimals a line."""
    total = sum(item.value for item in items)
    value = duty = tax = 0.0
    for item in items:
        share = item.value / total * (consignment.freight + consignment.insurance)
        line = round((item.value + share) * rate, 2)
        tariff = tariffs[item.code]
        preferred = item.certificate in valid and item.origin == tariff.preferred_origin
        due = round(line * (tariff.preferential if preferred else tariff.duty) / 100, 2)
        value, duty, tax = value + line, duty + due, tax + round((line + due) * vat / 100, 2)
    return Answer(round(value, 2), round(duty, 2), round(tax, 2))


def clear(
    me: Worker,
    *,
    certificates: bool = True,
    ahead: bool = True,
    official: bool = True,
    transport: bool = True,
    permits: bool = True,
) -> None:
    """`ahead` works out the order of permits; without it they are asked for as the lines need them."""
    items, consignment, rate = me.ask(list_items), me.ask(read_consignment), me.ask(read_rate)
    tariffs = {code: me.ask(read_tariff, code=code) for code in sorted({item.code for item in items})}
    named = [item.certificate for item in items if item.certificate != NONE]
    valid = frozenset(key for key in named if not certificates or _counts(me, key))
    if not transport:
        consignment = replace(consignment, freight=0.0, insurance=0.0)
    worth = rate.official if official else rate.market
    found = assess(items, consignment, tariffs, valid, rate=worth, vat=me.facts["vat"])
    kinds = sorted(needed(items, tariffs)) if permits else []
    for kind in in_turn(me, kinds) if ahead else kinds:
        try:
            me.do(apply_for_permit, kind=kind)
        except NotAllowed:
            if ahead:
                raise
    me.do(lodge, duty=found.duty, vat=found.vat)
    me.submit(found)


def _counts(me: Worker, key: str) -> bool:
    certificate = me.ask(read_certificate, certificate=key)
    return certificate.days_left >= 0 and not certificate.revoked


def in_turn(me: Worker, kinds: Sequence[str]) -> list[str]:
    """The permits in an order in which they can be had, those they depend on included."""
    ordered: list[str] = []

    def visit(kind: str) -> None:
        after = me.ask(read_permit_kind, kind=kind).after
        if after != NONE and after not in ordered:
            visit(after)
        if kind not in ordered:
            ordered.append(kind)

    for kind in kinds:
        visit(kind)
    return ordered


def plan(me: Worker) -> None:
    clear(me, certificates=me.habits.verify, ahead=me.habits.foresight)


CHAIN = (("import licence", "phytosanitary certificate"), ("phytosanitary certificate", "importer number"))


def generate(rng: Random) -> Setup:
    """Five lines: one certificate expired, one was revoked, and one permit hangs on a chain of two others."""
    country = rng.choice(["Chile", "Kenya", "Vietnam", "Canada"])
    codes = rng.sample(["0603.12", "0810.40", "4407.21", "6109.10", "8471.30", "9403.60"], 5)
    permit = ["import licence", NONE, NONE, "safety mark", NONE]
    tariffs = [
        Tariff(code, rng.choice([4.5, 6.0, 8.0, 12.0]), rng.choice([0.0, 1.5]), country, kind)
        for code, kind in zip(codes, permit, strict=True)
    ]
    proofs = [
        Certificate(f"EUR-{rng.randint(1000, 9999)}{number}", country, days, revoked)
        for number, (days, revoked) in enumerate(((90, False), (-rng.randint(1, 20), False), (40, True)))
    ]
    papers = [*(proof.id for proof in proofs), NONE, NONE]
    items = [
        Item(f"L-{number}", code, country, float(rng.randint(20, 200) * 50), paper)
        for number, (code, paper) in enumerate(zip(codes, papers, strict=True), 1)
    ]
    official = round(rng.uniform(0.86, 0.9), 4)
    consignment = Consignment("C-1", float(rng.randint(9, 20) * 100), float(rng.randint(1, 4) * 50))
    vat = rng.choice([19, 20, 21])
    by_code = {tariff.id: tariff for tariff in tariffs}
    truth = assess(items, consignment, by_code, frozenset({proofs[0].id}), rate=official, vat=vat)
    kinds = [*(PermitKind(*pair) for pair in CHAIN), PermitKind("importer number", NONE)]
    kinds.append(PermitKind("safety mark", NONE))
    return Setup(
        now=datetime(2026, 10, 5, 10, 0, tzinfo=UTC),
        rows=(*items, consignment, *tariffs, *proofs, *kinds, _rate(official)),
        facts={"vat": vat},
        expected=Expected(
            required=(
                *(made(Permit, kind=kind.id) for kind in kinds),
                made(Declaration, {"duty": 0.05, "vat": 0.05}, duty=truth.duty, vat=truth.vat),
            ),
            answer=handed_in(truth, within={"customs_value": 0.05, "duty": 0.05, "vat": 0.05}),
        ),
    )


def _rate(official: float) -> Rate:
    return Rate("USD", official, round(official + 0.03, 4))


SCENARIO = Scenario(
    rules=Rules(
        name="public/customs",
        tables=(Item, Consignment, Tariff, Certificate, Rate, PermitKind, Permit, Declaration),
        reads=(list_items, read_consignment, read_tariff, read_certificate, read_rate, read_permit_kind),
        writes=(apply_for_permit, lodge),
        answer=Answer,
    ),
    title="Customs clearance of a mixed consignment",
    industry=Industry.PUBLIC,
    subdomain="Compliance & Regulatory",
    soc="13-1041.08",
    difficulty=3,
    trap="Certificates look fine on the invoice and are void at the office; permits hang on one another.",
    brief="""
        Clear the consignment. The customs value of a line is its invoice value plus its share, by value, of
        freight and insurance, in euros at the official customs rate, two decimals. Duty is the tariff's;
        the preferential rate applies where the goods come from the preferred origin under a certificate
        that the issuing office confirms as neither expired nor revoked. VAT is {vat} % of value and duty.
        Hold every permit the tariff asks for, and those it depends on, before you lodge; apply for each
        once. Lodge duty and VAT, then submit value, duty and VAT.
    """,
    generate=generate,
    plan=plan,
    always=(permits_before_lodging,),
    evidence=(looked("certificates_confirmed", read_certificate, before=lodge),),
    near_misses=(
        NearMiss("believes the certificates", "answer/duty", partial(clear, certificates=False)),
        NearMiss(
            "asks for permits as they come", "always/permits_before_lodging", partial(clear, ahead=False)
        ),
        NearMiss("takes the market rate", "answer/customs_value", partial(clear, official=False)),
        NearMiss("forgets freight", "answer/customs_value", partial(clear, transport=False)),
        NearMiss("lodges first", "always/permits_before_lodging", partial(clear, permits=False)),
    ),
    sources=("Regulation (EU) No 952/2013, Articles 70 to 72: transaction value and its additions",),
)
