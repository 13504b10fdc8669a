"""Returns desk: which returns are taken, and what is paid back.

The window runs from delivery, and delivery is what the carrier scanned, not what the order page estimates.
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

GUARANTEE = 730


class Condition(StrEnum):
    SEALED = "sealed"
    OPENED = "opened"
    DEFECTIVE = "defective"


class State(StrEnum):
    OPEN = "open"
    REFUNDED = "refunded"
    REFUSED = "refused"


class Reason(StrEnum):
    NONE = "none"
    TOO_LATE = "too_late"
    FINAL_SALE = "final_sale"
    TOO_MANY = "too_many"


@dataclass(frozen=True, slots=True)
class Return:
    id: str
    line: str
    quantity: Count
    condition: Condition
    state: State
    reason: Reason


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an order; `paid` is what one piece cost after discounts, `estimated` when it was due."""

    id: str
    category: str
    quantity: Count
    paid: Cents
    estimated: Days


@dataclass(frozen=True, slots=True)
class Tracking:
    """The carrier's record: how many days ago the parcel was handed over."""

    id: str
    delivered: Days


@dataclass(frozen=True, slots=True)
class Policy:
    """The terms of a category: a window of 0 days is a final sale; opened goods lose `restocking` percent."""

    id: str
    window: Days
    restocking: Count


@dataclass(frozen=True, slots=True)
class Refund:
    id: str
    claim: str
    amount: Cents


@dataclass(frozen=True, slots=True)
class Answer:
    """Report the desk's work.

    refunded: ids of the returns that were refunded
    refused: ids of the returns that were refused
    total: sum of the refunds
    """

    refunded: list[str]
    refused: list[str]
    total: Cents


def list_returns(world: View) -> list[Return]:
    """List the returns in the order in which they came in."""
    return world.all(Return)


def read_line(world: View, line: str) -> Line:
    """Read an order line; `estimated` is how many days ago it was due to arrive.

    line: id of the order line
    """
    return world.get(Line, line)


def read_tracking(world: View, line: str) -> Tracking:
    """Read from the carrier how many days ago an order line was handed over.

    line: id of the order line
    """
    return world.get(Tracking, line)


def list_policies(world: View) -> list[Policy]:
    """List the return terms of all categories."""
    return world.all(Policy)


def refund(world: World, claim: str, amount: Cents) -> Refund:
    """Pay money back. It cannot be called back.

    claim: id of the return
    amount: to pay back
    """
    item = world.get(Return, claim)
    if item.state is State.REFUSED:
        world.refuse(f"{claim} was refused")
    if amount <= 0:
        world.refuse("a refund is more than 0 cents")
    world.put(replace(item, state=State.REFUNDED))
    return world.put(Refund(world.fresh(Refund, "RF"), claim, amount))


def refuse(world: World, claim: str, reason: Reason) -> Return:
    """Refuse a return.

    claim: id of the return
    reason: why
    """
    item = world.get(Return, claim)
    if item.state is not State.OPEN:
        world.refuse(f"{claim} is {item.state}")
    return world.put(replace(item, state=State.REFUSED, reason=reason))


def judge(
    claims: Sequence[Return],
    lines: Mapping[str, Line],
    delivered: Mapping[str, int],
    policies: Mapping[str, Policy],
    *,
    together: bool = True,
    restock: bool = True,
) -> dict[str, tuple[Reason, int]]:
    """Reason to refuse (or `NONE`) and cents to pay back, in the order of the claims."""
    back: Counter[str] = Counter()
    found = {}
    for claim in claims:
        line = lines[claim.line]
        policy = policies[line.category]
        window = GUARANTEE if claim.condition is Condition.DEFECTIVE else policy.window
        before = back[line.id] if together else 0
        if window == 0:
            found[claim.id] = (Reason.FINAL_SALE, 0)
        elif delivered[line.id] > window:
            found[claim.id] = (Reason.TOO_LATE, 0)
        elif before + claim.quantity > line.quantity:
            found[claim.id] = (Reason.TOO_MANY, 0)
        else:
            back[line.id] += claim.quantity
            kept = policy.restocking if restock and claim.condition is Condition.OPENED else 0
            found[claim.id] = (Reason.NONE, claim.quantity * line.paid * (100 - kept) // 100)
    return found


def serve(me: Worker, *, tracking: bool = True, together: bool = True, restock: bool = True) -> None:
    """`tracking` asks the carrier, `together` counts earlier returns of a line, `restock` keeps the fee."""
    claims = me.ask(list_returns)
    policies = {policy.id: policy for policy in me.ask(list_policies)}
    keys = sorted({claim.line for claim in claims})
    lines = {key: me.ask(read_line, line=key) for key in keys}
    delivered = {key: line.estimated for key, line in lines.items()}
    if tracking:
        delivered = {key: me.ask(read_tracking, line=key).delivered for key in keys}
    verdicts = judge(claims, lines, delivered, policies, together=together, restock=restock)
    for key, (reason, amount) in verdicts.items():
        if reason is Reason.NONE:
            me.do(refund, claim=key, amount=amount)
        else:
            me.do(refuse, claim=key, reason=reason)
    me.submit(report(verdicts))


def report(verdicts: Mapping[str, tuple[Reason, int]]) -> Answer:
    paid = [key for key, (reason, _) in verdicts.items() if reason is Reason.NONE]
    refused = [key for key in verdicts if key not in paid]
    return Answer(paid, refused, sum(amount for _, amount in verdicts.values()))


def plan(me: Worker) -> None:
    serve(me, tracking=me.habits.verify, together=me.habits.foresight)


def generate(rng: Random) -> Setup:
    """Delivered late but within the window, early and out of it, and one line claimed twice."""
    policies = [
        Policy("electronics", 14, rng.choice([10, 15])), Policy("clothing", 30, 0),
        Policy("clearance", 0, 0), Policy("kitchen", 30, rng.choice([5, 20])),
    ]  # fmt: skip
    plans = [
        ("electronics", 1, Condition.OPENED, 14 + rng.randint(1, 3), 14 - rng.randint(0, 3)),
        ("clothing", 2, Condition.SEALED, 30 - rng.randint(0, 2), 30 + rng.randint(1, 4)),
        ("clearance", 1, Condition.SEALED, 3, 3), ("kitchen", 3, Condition.SEALED, 20, 20),
        ("clothing", 2, Condition.DEFECTIVE, 200, 199), ("electronics", 1, Condition.SEALED, 5, 4),
    ]  # fmt: skip
    lines, tracking, claims = list[Line](), list[Tracking](), list[Return]()
    for number, (category, quantity, condition, estimated, delivered) in enumerate(plans, 1):
        key = f"OL-{rng.randint(100, 999)}{number}"
        lines.append(Line(key, category, quantity, rng.randint(1500, 25000), estimated))
        tracking.append(Tracking(key, delivered))
        pieces = 2 if category == "kitchen" else quantity
        claims.append(Return(f"RT-{number}", key, pieces, condition, State.OPEN, Reason.NONE))
    claims.append(replace(claims[3], id="RT-7"))
    verdicts = judge(
        claims,
        {line.id: line for line in lines},
        {item.id: item.delivered for item in tracking},
        {policy.id: policy for policy in policies},
    )
    refused = {key: reason for key, (reason, _) in verdicts.items() if reason is not Reason.NONE}
    paid = {key: amount for key, (reason, amount) in verdicts.items() if reason is Reason.NONE}
    return Setup(
        now=datetime(2026, 8, 17, 11, 0, tzinfo=UTC),
        rows=(*policies, *lines, *tracking, *claims),
        facts={"guarantee": GUARANTEE},
        expected=Expected(
            required=(
                *(became(Return, key, state=State.REFUSED, reason=why) for key, why in refused.items()),
                *(became(Return, key, state=State.REFUNDED) for key in paid),
                *(made(Refund, claim=key, amount=amount) for key, amount in paid.items()),
            ),
            answer=handed_in(report(verdicts)),
        ),
    )


SCENARIO = Scenario(
    rules=Rules(
        name="commerce/returns",
        tables=(Return, Line, Tracking, Policy, Refund),
        reads=(list_returns, read_line, read_tracking, list_policies),
        writes=(refund, refuse),
        answer=Answer,
    ),
    title="Returns desk with a return window",
    industry=Industry.COMMERCE,
    subdomain="Sales & Marketing",
    soc="43-4051.00",
    difficulty=1,
    trap=(
        "The order page shows the estimated delivery; the window runs from the real one, which the "
        "carrier knows."
    ),
    brief="""
        Decide every return, in the order in which they came in. The window of the category counts from the
        day of delivery as the carrier recorded it, that day included; defective goods may come back within
        {guarantee} days whatever the category, and in full. Refuse as final_sale where there is no window,
        as too_late after it, and as too_many where more pieces of the line would come back than were
        bought, refunded earlier returns included; in this order. Otherwise refund what was paid, less the
        restocking fee on opened goods, rounded down to a cent. Then submit what was refunded and refused
        and the total.
    """,
    generate=generate,
    plan=plan,
    evidence=(looked("carrier_asked", read_tracking, before=refund),),
    near_misses=(
        NearMiss("counts from the estimate", "changes/Return.RT-1", partial(serve, tracking=False)),
        NearMiss("judges each return alone", "changes/Return.RT-7", partial(serve, together=False)),
        NearMiss("pays opened goods in full", "answer/total", partial(serve, restock=False)),
    ),
    sources=("Directive (EU) 2019/771, Article 10: two years for a lack of conformity",),
)
