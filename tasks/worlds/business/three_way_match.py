"""Accounts payable: pay an invoice only where order, receipt and invoice agree, and nothing smells of fraud.

Quantities are cumulative over the invoices of one order line; bank details that changed lately are called
back before money leaves the house.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from random import Random

from practicum.infra.world.rules import Rules
from practicum.infra.world.units import Cents, Count, Days
from practicum.infra.world.world import View, World
from practicum.tasks.worlds.evidence import looked
from practicum.tasks.worlds.expected import Expected, became, handed_in, made
from practicum.tasks.worlds.scenario import Industry, NearMiss, Scenario, Setup
from practicum.tasks.worlds.worker import Worker

PRICE_TOLERANCE = 2
RECENT = 30


class State(StrEnum):
    OPEN = "open"
    PAID = "paid"
    HELD = "held"


class Reason(StrEnum):
    NONE = "none"
    DUPLICATE = "duplicate"
    BANK_CHANGED = "bank_changed"
    PRICE = "price"
    QUANTITY = "quantity"


@dataclass(frozen=True, slots=True)
class Invoice:
    """`number` is the vendor's own; spaces, dashes and case in it mean nothing."""

    id: str
    vendor: str
    number: str
    order: str
    quantity: Count
    unit_price: Cents
    state: State
    reason: Reason


@dataclass(frozen=True, slots=True)
class Order:
    """A purchase order line, with what the warehouse received on it so far."""

    id: str
    vendor: str
    received: Count
    unit_price: Cents


@dataclass(frozen=True, slots=True)
class Vendor:
    """`bank_changed` is how long ago the bank details changed."""

    id: str
    bank_changed: Days


@dataclass(frozen=True, slots=True)
class Payment:
    id: str
    invoice: str
    amount: Cents


@dataclass(frozen=True, slots=True)
class Answer:
    """Report the payment run.

    paid: ids of the invoices paid
    held: ids of the invoices held
    total: sum of all payments
    """

    paid: list[str]
    held: list[str]
    total: Cents


def list_invoices(world: View) -> list[Invoice]:
    """List the invoices of this run in the order of their arrival."""
    return world.all(Invoice)


def read_order(world: View, order: str) -> Order:
    """Read an order line.

    order: id of the order line
    """
    return world.get(Order, order)


def read_vendor(world: View, vendor: str) -> Vendor:
    """Read a vendor's master data.

    vendor: id of the vendor
    """
    return world.get(Vendor, vendor)


def pay(world: World, invoice: str) -> Payment:
    """Send the money of an invoice. It cannot be called back.

    invoice: id of the invoice
    """
    item = world.get(Invoice, invoice)
    if item.state is State.HELD:
        world.refuse(f"{invoice} is held")
    world.put(replace(item, state=State.PAID))
    amount = item.quantity * item.unit_price
    return world.put(Payment(world.fresh(Payment, "PAY"), invoice, amount))


def hold(world: World, invoice: str, reason: Reason) -> Invoice:
    """Hold an invoice for a person to look at.

    invoice: id of the invoice
    reason: what is wrong with it
    """
    item = world.get(Invoice, invoice)
    if item.state is not State.OPEN:
        world.refuse(f"{invoice} is {item.state}")
    return world.put(replace(item, state=State.HELD, reason=reason))


def plain(number: str) -> str:
    return "".join(sign for sign in number.upper() if sign.isalnum())


def judge(
    invoices: Sequence[Invoice],
    orders: Mapping[str, Order],
    vendors: Mapping[str, Vendor],
    *,
    cumulative: bool = True,
) -> dict[str, Reason]:
    """The reason to hold each invoice, the first that applies; `NONE` is paid."""
    seen: set[tuple[str, str]] = set()
    billed: Counter[str] = Counter()
    reasons = {}
    for item in invoices:
        order = orders[item.order]
        before = billed[order.id] if cumulative else 0
        if (item.vendor, plain(item.number)) in seen:
            reason = Reason.DUPLICATE
        elif vendors[item.vendor].bank_changed <= RECENT:
            reason = Reason.BANK_CHANGED
        elif item.unit_price * 100 > order.unit_price * (100 + PRICE_TOLERANCE):
            reason = Reason.PRICE
        elif before + item.quantity > order.received:
            reason = Reason.QUANTITY
        else:
            reason = Reason.NONE
            billed[order.id] += item.quantity
        seen.add((item.vendor, plain(item.number)))
        reasons[item.id] = reason
    return reasons


def run(
    me: Worker,
    *,
    vendors_read: bool = True,
    cumulative: bool = True,
    numbers_read: bool = True,
    prices_read: bool = True,
) -> None:
    """Each flag switches one of the comparisons off."""
    invoices = me.ask(list_invoices)
    orders = {key: me.ask(read_order, order=key) for key in sorted({item.order for item in invoices})}
    names = sorted({item.vendor for item in invoices})
    vendors = {name: Vendor(name, RECENT + 1) for name in names}
    if vendors_read:
        vendors = {name: me.ask(read_vendor, vendor=name) for name in names}
    judged = invoices
    if not numbers_read:
        judged = [replace(item, number=item.id) for item in invoices]
    if not prices_read:
        judged = [replace(item, unit_price=0) for item in invoices]
    reasons = judge(judged, orders, vendors, cumulative=cumulative)
    for item in invoices:
        if reasons[item.id] is Reason.NONE:
            me.do(pay, invoice=item.id)
        else:
            me.do(hold, invoice=item.id, reason=reasons[item.id])
    me.submit(_report(invoices, reasons))


def _report(invoices: Sequence[Invoice], reasons: Mapping[str, Reason]) -> Answer:
    paid = [item for item in invoices if reasons[item.id] is Reason.NONE]
    held = [item.id for item in invoices if reasons[item.id] is not Reason.NONE]
    return Answer([item.id for item in paid], held, sum(item.quantity * item.unit_price for item in paid))


def plan(me: Worker) -> None:
    run(me, vendors_read=me.habits.verify, cumulative=me.habits.foresight)


def generate(rng: Random) -> Setup:
    """One invoice for each reason to hold, among ordinary ones; the last two orders are billed in parts."""
    vendors = [Vendor(f"V-{number}", rng.randint(200, 900)) for number in range(1, 6)]
    vendors[4] = replace(vendors[4], bank_changed=rng.randint(2, RECENT))
    orders = [
        Order(f"PO-{number:02}", vendors[number % 5].id, rng.randint(20, 60), rng.randint(300, 4000))
        for number in range(10)
    ]
    drafts = [_invoice(rng, order, order.received) for order in orders]
    part = orders[6].received // 2
    drafts[6] = _invoice(rng, orders[6], part)
    drafts.append(_invoice(rng, orders[6], orders[6].received - part + rng.randint(1, 4)))
    drafts[2] = replace(drafts[2], unit_price=orders[2].unit_price * 103 // 100 + 1)
    drafts[3] = replace(drafts[3], quantity=orders[3].received + rng.randint(1, 5))
    again = replace(drafts[1], number=drafts[1].number.lower().replace("-", " "))
    drafts.append(again)
    invoices = [replace(draft, id=f"I-{number:02}") for number, draft in enumerate(drafts, 1)]
    reasons = judge(invoices, {o.id: o for o in orders}, {v.id: v for v in vendors})
    truth = _report(invoices, reasons)
    by_id = {item.id: item for item in invoices}
    return Setup(
        now=datetime(2026, 4, 30, 14, 0, tzinfo=UTC),
        rows=(*vendors, *orders, *invoices),
        facts={"tolerance": PRICE_TOLERANCE, "recent": RECENT},
        expected=Expected(
            required=(
                *(became(Invoice, key, state=State.PAID) for key in truth.paid),
                *(became(Invoice, key, state=State.HELD, reason=reasons[key]) for key in truth.held),
                *(
                    made(Payment, invoice=key, amount=by_id[key].quantity * by_id[key].unit_price)
                    for key in truth.paid
                ),
            ),
            answer=handed_in(truth),
        ),
    )


def _invoice(rng: Random, order: Order, quantity: int) -> Invoice:
    number = f"RE-{rng.randint(10000, 99999)}-{rng.choice('ABCDEF')}"
    return Invoice("", order.vendor, number, order.id, quantity, order.unit_price, State.OPEN, Reason.NONE)


SCENARIO = Scenario(
    rules=Rules(
        name="business/three_way_match",
        tables=(Invoice, Order, Vendor, Payment),
        reads=(list_invoices, read_order, read_vendor),
        writes=(pay, hold),
        answer=Answer,
    ),
    title="Three-way match of a payment run",
    industry=Industry.BUSINESS,
    subdomain="Accounting & Finance",
    soc="43-3031.00",
    difficulty=2,
    trap=(
        "Each invoice looks right alone: the fraud is in the vendor's master data, the overbilling in the "
        "sum."
    ),
    brief="""
        Decide every open invoice, in order of arrival: pay it, or hold it for the first of these reasons
        that applies. duplicate: the same vendor's number came before, whatever its spelling (case, spaces,
        dashes). bank_changed: the vendor's bank details changed within the last {recent} days. price: the
        unit price is more than {tolerance} % above the order's. quantity: with what this run already paid
        on the order line, more would be paid than was received. Then submit what was paid and held and the
        total paid.
    """,
    generate=generate,
    plan=plan,
    evidence=(looked("orders_read", read_order, before=pay), looked("vendors_read", read_vendor, before=pay)),
    near_misses=(
        NearMiss("does not look at vendors", "evidence/vendors_read", partial(run, vendors_read=False)),
        NearMiss("judges each invoice alone", "changes/Invoice.I-11", partial(run, cumulative=False)),
        NearMiss("compares numbers literally", "changes/Invoice.I-12", partial(run, numbers_read=False)),
        NearMiss("skips the price", "changes/Invoice.I-03", partial(run, prices_read=False)),
    ),
)
