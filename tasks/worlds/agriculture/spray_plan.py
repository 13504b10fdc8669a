"""Spraying: label limits for wind and harvest interval, and a morning in which the wind rises.

What was read an hour ago says nothing about now: look at the wind before every single application.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from random import Random
from typing import Annotated

from msgspec import Meta

from practicum.infra.world.rules import Rules
from practicum.infra.world.units import Celsius, Count, Days, Minutes
from practicum.infra.world.world import View, World
from practicum.tasks.worlds.evidence import looked
from practicum.tasks.worlds.expected import Expected, became, handed_in, made, may
from practicum.tasks.worlds.scenario import Industry, NearMiss, Scenario, Setup
from practicum.tasks.worlds.worker import Worker

DAY = datetime(2026, 6, 18, tzinfo=UTC)
MetresPerSecond = Annotated[float, Meta(description="metres per second")]
SPRAYING = 60


@dataclass(frozen=True, slots=True)
class Block:
    """An orchard block. Bees fly in it from `bees_from` on (minutes after midnight)."""

    id: str
    pest: str
    harvest_in: Days
    bees_from: Minutes
    treated: bool


@dataclass(frozen=True, slots=True)
class Product:
    """A label: what it is against, the most wind, days before harvest, and the uses left this season."""

    id: str
    pest: str
    most_wind: MetresPerSecond
    interval: Days
    uses_left: Count


@dataclass(frozen=True, slots=True)
class Hour:
    """The weather from `minute` on, until the next entry."""

    id: str
    minute: Minutes
    wind: MetresPerSecond
    temperature: Celsius


@dataclass(frozen=True, slots=True)
class Application:
    """A treatment as it was done."""

    id: str
    block: str
    product: str
    minute: Minutes
    wind: MetresPerSecond


@dataclass(frozen=True, slots=True)
class Now:
    """The weather station at this moment; `minute` is after midnight."""

    id: str
    minute: Minutes
    wind: MetresPerSecond
    temperature: Celsius


@dataclass(frozen=True, slots=True)
class Answer:
    """Report the morning.

    treated: ids of the blocks that were treated
    put_off: ids of the blocks that were not
    """

    treated: list[str]
    put_off: list[str]


def minute(world: View) -> int:
    return world.minutes_since(DAY)


def current(world: View) -> Hour:
    return max((h for h in world.all(Hour) if h.minute <= minute(world)), key=lambda hour: hour.minute)


def list_blocks(world: View) -> list[Block]:
    """List the blocks that wait for a treatment."""
    return world.all(Block)


def list_products(world: View) -> list[Product]:
    """List the labels of the products in store."""
    return world.all(Product)


def read_weather(world: View) -> Now:
    """Read wind and temperature as they are now."""
    hour = current(world)
    return Now("station", minute(world), hour.wind, hour.temperature)


def spray(world: World, block: str, product: str) -> Application:
    """Treat a block with a product; takes an hour.

    block: id of the block
    product: id of the product
    """
    plot, label = world.get(Block, block), world.get(Product, product)
    if label.uses_left == 0:
        world.refuse(f"{product} may not be used any more this season")
    world.put(replace(plot, treated=True))
    world.put(replace(label, uses_left=label.uses_left - 1))
    done = Application(world.fresh(Application, "AP"), block, product, minute(world), current(world).wind)
    world.put(done)
    world.advance(SPRAYING)
    return done


def wind_kept(world: View) -> str | None:
    wrong = [a.id for a in world.all(Application) if a.wind > world.get(Product, a.product).most_wind]
    return f"sprayed in too much wind: {wrong}" if wrong else None


def harvest_kept(world: View) -> str | None:
    wrong = [
        a.block
        for a in world.all(Application)
        if world.get(Block, a.block).harvest_in < world.get(Product, a.product).interval
    ]
    return f"sprayed too near to the harvest: {wrong}" if wrong else None


def bees_kept(world: View) -> str | None:
    wrong = [
        a.block for a in world.all(Application) if a.minute + SPRAYING > world.get(Block, a.block).bees_from
    ]
    return f"sprayed while bees fly: {wrong}" if wrong else None


def pest_hit(world: View) -> str | None:
    wrong = [
        a.block
        for a in world.all(Application)
        if world.get(Block, a.block).pest != world.get(Product, a.product).pest
    ]
    return f"sprayed with a product against something else: {wrong}" if wrong else None


def product_for(block: Block, products: Sequence[Product], *, interval: bool = True) -> Product | None:
    """The label against the block's pest that allows most wind and keeps the harvest interval."""
    fit = [
        product
        for product in products
        if product.pest == block.pest and (not interval or product.interval <= block.harvest_in)
    ]
    return max(fit, key=lambda product: product.most_wind, default=None)


def morning(
    me: Worker, *, look: bool = True, ahead: bool = True, interval: bool = True, bees: bool = True
) -> None:
    """`look` reads the wind before each block, `ahead` orders blocks by when bees fly and wind they bear."""
    blocks, products = me.ask(list_blocks), me.ask(list_products)
    chosen = {block.id: product_for(block, products, interval=interval) for block in blocks}
    weather = me.ask(read_weather)
    treated = list[str]()
    for block in in_order(blocks, chosen) if ahead else blocks:
        product = chosen[block.id]
        if look:
            weather = me.ask(read_weather)
        else:
            weather = replace(weather, minute=weather.minute + SPRAYING * bool(treated))
        late = weather.minute + SPRAYING > block.bees_from and bees
        if product is None or weather.wind > product.most_wind or late:
            continue
        me.do(spray, block=block.id, product=product.id)
        treated.append(block.id)
    me.submit(Answer(treated, [block.id for block in blocks if block.id not in treated]))


def in_order(blocks: Sequence[Block], chosen: Mapping[str, Product | None]) -> list[Block]:
    """First where bees fly first, then where the label bears least wind."""

    def key(block: Block) -> tuple[int, float]:
        product = chosen[block.id]
        return block.bees_from, product.most_wind if product else 0.0

    return sorted(blocks, key=key)


def plan(me: Worker) -> None:
    morning(me, look=me.habits.verify, ahead=me.habits.foresight)


def generate(rng: Random) -> Setup:
    """Bees fly first in the block listed fourth; the wind rises above one label after two hours, and above
    all of them before the last block."""
    start, noon = 5 * 60 + 30, 13 * 60
    pests = rng.sample(["aphid", "codling moth", "scab", "mildew"], 3)
    early = start + SPRAYING + rng.randint(5, 40)
    blocks = [
        Block("B-1", pests[0], rng.randint(20, 40), noon, False),
        Block("B-2", pests[1], rng.randint(3, 6), noon, False),
        Block("B-3", pests[2], rng.randint(20, 40), noon, False),
        Block("B-4", pests[0], rng.randint(25, 45), early, False),
        Block("B-5", pests[0], rng.randint(20, 40), noon, False),
    ]
    products = [
        Product("PR-1", pests[0], 5.0, 14, rng.randint(3, 5)),
        Product("PR-2", pests[1], 8.0, 14, rng.randint(1, 3)),
        Product("PR-3", pests[1], 5.0, 3, rng.randint(1, 3)),
        Product("PR-4", pests[2], 4.0, 14, rng.randint(1, 3)),
    ]
    hours = [
        Hour("H-1", start, round(rng.uniform(1.0, 3.0), 1), 12.0),
        Hour("H-2", start + 2 * SPRAYING + rng.randint(10, 50), round(rng.uniform(4.2, 4.9), 1), 17.0),
        Hour("H-3", start + 4 * SPRAYING - rng.randint(5, 40), round(rng.uniform(5.4, 7.0), 1), 20.0),
    ]
    used = {"B-1": "PR-1", "B-2": "PR-3", "B-3": "PR-4", "B-4": "PR-1"}
    return Setup(
        now=DAY + timedelta(minutes=start),
        rows=(*blocks, *products, *hours),
        facts={"spraying": SPRAYING},
        expected=Expected(
            required=(
                *(became(Block, key, treated=True) for key in used),
                *(made(Application, block=key, product=product) for key, product in used.items()),
            ),
            allowed=(may(Product, "*", "uses_left"),),
            answer=handed_in(Answer(list(used), ["B-5"])),
        ),
    )


SCENARIO = Scenario(
    rules=Rules(
        name="agriculture/spray_plan",
        tables=(Block, Product, Hour, Application),
        reads=(list_blocks, list_products, read_weather),
        writes=(spray,),
        answer=Answer,
    ),
    title="Spraying before the wind rises",
    industry=Industry.AGRICULTURE,
    subdomain="Precision Agriculture",
    soc="45-2091.00",
    difficulty=2,
    trap="The wind rises during the work: a reading from before the last block is worth nothing.",
    brief="""
        Treat the orchard blocks that wait, each with a product against its pest whose interval before
        harvest is kept; of several, the one whose label bears most wind. Never spray in more wind than the
        label allows at the start, nor so that bees fly in the block before its {spraying} minutes are over.
        Take first the block in which bees fly first, then blocks by the wind their label bears, least
        first, equal ones as listed. A block that may not be sprayed when its turn comes is put off. Submit
        what was treated and put off.
    """,
    generate=generate,
    plan=plan,
    always=(wind_kept, harvest_kept, bees_kept, pest_hit),
    evidence=(looked("wind_read", read_weather, before=spray, since=(spray,)),),
    near_misses=(
        NearMiss("reads the wind once", "always/wind_kept", partial(morning, look=False)),
        NearMiss("takes blocks as listed", "answer/put_off", partial(morning, ahead=False)),
        NearMiss("forgets the harvest", "always/harvest_kept", partial(morning, interval=False)),
        NearMiss("forgets the bees", "always/bees_kept", partial(morning, ahead=False, bees=False)),
    ),
)
