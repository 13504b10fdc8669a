"""A small shop: enough rules to test the engine with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest

from practicum.infra.world.engine import WorldEnvironment
from practicum.infra.world.rules import Rules
from practicum.infra.world.units import Cents, Count, Minutes
from practicum.infra.world.world import View, World


@dataclass(frozen=True, slots=True)
class Good:
    id: str
    stock: Count
    title: str


@dataclass(frozen=True, slots=True)
class Sale:
    id: str
    good: str
    amount: Count


@dataclass(frozen=True, slots=True)
class Answer:
    """Report.

    sold: ids of sales
    """

    sold: list[str]
    cash: Cents = 0


def list_goods(world: View) -> list[Good]:
    """List goods."""
    return world.all(Good)


def read_good(world: View, good: str) -> Good:
    """Read a good.

    good: its id
    """
    return world.get(Good, good)


def sell(world: World, good: str, amount: Count, rush: bool = False) -> Sale:
    """Sell some of a good.

    good: its id
    amount: pieces
    rush: whether it is urgent
    """
    item = world.get(Good, good)
    world.put(replace(item, stock=item.stock - amount))
    sale = world.put(Sale(world.fresh(Sale, "S"), good, amount))
    if amount == 7:
        world.refuse("seven is unlucky")
    return sale


def drop_good(world: World, good: str) -> Good:
    """Take a good out of the range.

    good: its id
    """
    item = world.get(Good, good)
    world.drop(item)
    return item


def wait(world: World, minutes: Minutes) -> Good:
    """Let time pass.

    minutes: how long
    """
    if not 0 <= minutes < 1000:
        world.refuse("not that long")
    world.advance(minutes)
    return world.all(Good)[0] if world.all(Good) else Good("none", 0, "none")


def explode(world: World) -> Good:
    """Fail after a write."""
    world.put(Good("x", 1, "x"))
    raise ZeroDivisionError


def stock_not_negative(world: View) -> str | None:
    low = [good.id for good in world.all(Good) if good.stock < 0]
    return f"stock below zero: {low}" if low else None


SHOP = Rules(
    name="test/shop",
    tables=(Good, Sale),
    reads=(list_goods, read_good),
    writes=(sell, drop_good, wait, explode),
    answer=Answer,
    invariants=(stock_not_negative,),
)


def _open() -> WorldEnvironment:
    goods = [Good("pen", 10, "A pen"), Good("ink", 4, "Ink"), Good("cap", 0, "Cap")]
    return WorldEnvironment.at(SHOP, datetime(2026, 1, 5, 9, 0, tzinfo=UTC), goods)


@pytest.fixture
def shop() -> WorldEnvironment:
    return _open()


@pytest.fixture
def open_shop() -> object:
    return _open
