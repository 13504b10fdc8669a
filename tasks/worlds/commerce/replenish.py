"""Replenishment: order up to the target, in whole packs, from the stock that is really there.

Position is what was counted, less what is reserved, plus what is on its way. A supplier takes no order below
its minimum.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from random import Random

from practicum.infra.world.rules import Rules
from practicum.infra.world.units import Cents, Count, Days
from practicum.infra.world.world import View, World
from practicum.tasks.worlds.evidence import looked
from practicum.tasks.worlds.expected import Expected, handed_in, made
from practicum.tasks.worlds.scenario import Industry, NearMiss, Scenario, Setup
from practicum.tasks.worlds.worker import Worker


@dataclass(frozen=True, slots=True)
class Article:
    """`night_stock` is what the nightly report shows. Order when the position falls to `reorder_at`."""

    id: str
    supplier: str
    night_stock: Count
    reorder_at: Count
    target: Count
    pack: Count
    price: Cents


@dataclass(frozen=True, slots=True)
class Stock:
    """What is on the shelf right now, and how much of it is promised to customers."""

    id: str
    on_shelf: Count
    reserved: Count


@dataclass(frozen=True, slots=True)
class Inbound:
    """Goods on order that have not come in; `cancelled` ones never will."""

    id: str
    article: str
    quantity: Count
    due_in: Days
    cancelled: bool


@dataclass(frozen=True, slots=True)
class Supplier:
    id: str
    minimum: Cents


@dataclass(frozen=True, slots=True)
class Order:
    id: str
    article: str
    quantity: Count


@dataclass(frozen=True, slots=True)
class Answer:
    """Report the orders.

    ordered: ids of the articles that were ordered
    skipped: ids of the articles that needed an order but whose supplier's minimum was not met
    total: value of all orders
    """

    ordered: list[str]
    skipped: list[str]
    total: Cents


def list_articles(world: View) -> list[Article]:
    """List the articles with their order terms; prices are for one piece."""
    return world.all(Article)


def read_stock(world: View, article: str) -> Stock:
    """Read what is on the shelf of an article now.

    article: id of the article
    """
    return world.get(Stock, article)


def list_inbound(world: View) -> list[Inbound]:
    """List the goods on order."""
    return world.all(Inbound)


def list_suppliers(world: View) -> list[Supplier]:
    """List the suppliers with the least value of one day's orders."""
    return world.all(Supplier)


def order(world: World, article: str, quantity: Count) -> Order:
    """Order an article at its supplier; a second order of it is one more order.

    article: id of the article
    quantity: in pieces, whole packs
    """
    item = world.get(Article, article)
    if quantity <= 0 or quantity % item.pack:
        world.refuse(f"{article} comes in packs of {item.pack}")
    return world.put(Order(world.fresh(Order, "PO"), article, quantity))


def needs(
    articles: Sequence[Article], stock: Mapping[str, Stock], inbound: Sequence[Inbound]
) -> dict[str, int]:
    """Pieces to order of each article whose position has fallen to its reorder point."""
    coming: defaultdict[str, int] = defaultdict(int)
    for item in inbound:
        coming[item.article] += 0 if item.cancelled else item.quantity
    found = {}
    for article in articles:
        shelf = stock[article.id]
        position = shelf.on_shelf - shelf.reserved + coming[article.id]
        if position <= article.reorder_at:
            found[article.id] = math.ceil((article.target - position) / article.pack) * article.pack
    return found


def decide(
    articles: Sequence[Article], wanted: Mapping[str, int], suppliers: Sequence[Supplier]
) -> tuple[dict[str, int], list[str], int]:
    """Orders that reach their supplier's minimum, articles left out, and the value of the orders."""
    by_id = {article.id: article for article in articles}
    value: defaultdict[str, int] = defaultdict(int)
    for key, pieces in wanted.items():
        value[by_id[key].supplier] += pieces * by_id[key].price
    met = {supplier.id for supplier in suppliers if value[supplier.id] >= supplier.minimum}
    orders = {key: pieces for key, pieces in wanted.items() if by_id[key].supplier in met}
    left = [key for key in wanted if key not in orders]
    return orders, left, sum(value[supplier] for supplier in met)


def restock(
    me: Worker, *, shelf: bool = True, ahead: bool = True, reserved: bool = True, cancelled: bool = True
) -> None:
    """`shelf` looks at the stock of now, `ahead` weighs the minimum first, the others mind what they name."""
    articles, suppliers, inbound = me.ask(list_articles), me.ask(list_suppliers), me.ask(list_inbound)
    stock = {article.id: Stock(article.id, article.night_stock, 0) for article in articles}
    if shelf:
        stock = {article.id: me.ask(read_stock, article=article.id) for article in articles}
    if not reserved:
        stock = {key: Stock(key, item.on_shelf, 0) for key, item in stock.items()}
    if not cancelled:
        inbound = [Inbound(i.id, i.article, i.quantity, i.due_in, False) for i in inbound]
    wanted = needs(articles, stock, inbound)
    terms = suppliers if ahead else [Supplier(supplier.id, 0) for supplier in suppliers]
    orders, left, total = decide(articles, wanted, terms)
    for key, pieces in orders.items():
        me.do(order, article=key, quantity=pieces)
    me.submit(Answer(list(orders), left, total))


def plan(me: Worker) -> None:
    restock(me, shelf=me.habits.verify, ahead=me.habits.foresight)


def generate(rng: Random) -> Setup:
    """Article 1 sold since the night, 2 is reserved, 3 waits for a cancelled delivery, 4 is fine only with
    what is on its way, 5 needs an order below its supplier's minimum."""
    names = rng.sample(["batteries", "candles", "envelopes", "filters", "gloves", "hooks", "kettles"], 6)
    articles, stock = list[Article](), list[Stock]()
    for number, name in enumerate(sorted(names)):
        reorder, pack = rng.randint(30, 50), rng.choice([6, 8, 12])
        supplier = "S-2" if number == 4 else "S-1"
        night = reorder + rng.randint(5, 20)
        shelf, held = night, 0
        if number in (0, 3, 4):
            shelf = reorder - rng.randint(3, 12)
        if number == 1:
            held = night - reorder + rng.randint(2, 9)
        if number == 2:
            shelf = night = reorder - rng.randint(3, 9)
        price = rng.randint(150, 900)
        articles.append(Article(name, supplier, night, reorder, reorder * 2 + 10, pack, price))
        stock.append(Stock(name, shelf, held))
    keys = [article.id for article in articles]
    inbound = [
        Inbound("IN-1", keys[2], rng.randint(30, 40), rng.randint(1, 9), True),
        Inbound("IN-2", keys[3], rng.randint(30, 40), rng.randint(1, 9), False),
    ]
    wanted = needs(articles, {item.id: item for item in stock}, inbound)
    small = wanted[keys[4]] * articles[4].price
    suppliers = [Supplier("S-1", 10_000), Supplier("S-2", small + rng.randint(500, 4000))]
    orders, left, total = decide(articles, wanted, suppliers)
    return Setup(
        now=datetime(2026, 1, 26, 6, 30, tzinfo=UTC),
        rows=(*articles, *stock, *inbound, *suppliers),
        facts={},
        expected=Expected(
            required=tuple(made(Order, article=key, quantity=pieces) for key, pieces in orders.items()),
            answer=handed_in(Answer(list(orders), left, total)),
        ),
    )


SCENARIO = Scenario(
    rules=Rules(
        name="commerce/replenish",
        tables=(Article, Stock, Inbound, Supplier, Order),
        reads=(list_articles, read_stock, list_inbound, list_suppliers),
        writes=(order,),
        answer=Answer,
    ),
    title="Replenishment in whole packs",
    industry=Industry.COMMERCE,
    subdomain="Enterprise Analytics & Planning",
    soc="13-1081.00",
    difficulty=1,
    trap=(
        "The nightly report is hours old, and an order that a supplier will not take is found only at the "
        "end."
    ),
    brief="""
        Order what the shop needs. The position of an article is what is on the shelf now, less reserved
        pieces, plus goods on order that were not cancelled. Where it has fallen to the reorder point or
        below, order up to the target at least, in the fewest whole packs. If all orders at a supplier
        together stay below its minimum value, order nothing there. Order each article once, then submit
        what was ordered, what was skipped for the minimum, and the total value.
    """,
    generate=generate,
    plan=plan,
    evidence=(looked("shelf_read", read_stock, before=order, same={"article": "article"}),),
    near_misses=(
        NearMiss("orders from the nightly report", "evidence/shelf_read", partial(restock, shelf=False)),
        NearMiss("forgets the minimum", "answer/skipped", partial(restock, ahead=False)),
        NearMiss("sells reserved goods", "answer/ordered", partial(restock, reserved=False)),
        NearMiss("waits for a cancelled delivery", "answer/ordered", partial(restock, cancelled=False)),
    ),
)
