"""Last-mile delivery: an electric van, delivery windows, and a battery that must never fall below its floor.

Consumption is rated for mild weather; today's is the rated one times a factor that the fleet desk publishes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from random import Random

from practicum.infra.world.rules import Rules
from practicum.infra.world.units import Minutes, Percent, Ratio
from practicum.infra.world.world import View, World
from practicum.tasks.worlds.evidence import looked
from practicum.tasks.worlds.expected import Expected, became, cell, handed_in, may
from practicum.tasks.worlds.scenario import Industry, NearMiss, Scenario, Setup
from practicum.tasks.worlds.worker import Stuck, Worker

DAY = datetime(2026, 1, 14, tzinfo=UTC)
START = 8 * 60
DEPOT = "depot"
HUB = "hub"
FLOOR = 20.0
PLACES = ("Alder Row", "Birch Court", "Cedar Lane", "Dune Street", "Elm Yard", "Fern Hill")


@dataclass(frozen=True, slots=True)
class Van:
    id: str
    place: str
    battery: Percent


@dataclass(frozen=True, slots=True)
class Parcel:
    """`delivered_at` means nothing before it is delivered."""

    id: str
    place: str
    opens: Minutes
    closes: Minutes
    delivered: bool
    delivered_at: Minutes


@dataclass(frozen=True, slots=True)
class Leg:
    id: str
    start: str
    end: str
    minutes: Minutes
    rated: Percent


@dataclass(frozen=True, slots=True)
class Conditions:
    id: str
    consumption_factor: Ratio
    charge_minutes_per_percent: Ratio


@dataclass(frozen=True, slots=True)
class Position:
    """Where the van is, when (minutes after midnight), and its charge."""

    id: str
    place: str
    battery: Percent
    minute: Minutes


@dataclass(frozen=True, slots=True)
class Answer:
    """Report the end of the round.

    delivered: ids of the parcels delivered
    battery: charge of the van on its return to the depot
    """

    delivered: list[str]
    battery: Percent


def minute(world: View) -> int:
    return world.minutes_since(DAY)


def read_van(world: View) -> Position:
    """Read where the van is, its charge and the time (minutes after midnight)."""
    van = world.one(Van)
    return Position(van.id, van.place, van.battery, minute(world))


def list_parcels(world: View) -> list[Parcel]:
    """List the parcels of the round with their delivery windows (minutes after midnight)."""
    return world.all(Parcel)


def list_legs(world: View) -> list[Leg]:
    """List the legs of the road map, usable both ways; `rated` is the charge used in mild weather."""
    return world.all(Leg)


def read_conditions(world: View) -> Conditions:
    """Read today's conditions: every leg uses its rated charge times `consumption_factor`."""
    return world.one(Conditions)


def drive_to(world: World, place: str) -> Position:
    """Drive straight to a place.

    place: depot, hub or the place of a parcel
    """
    van = world.one(Van)
    leg = next((leg for leg in world.all(Leg) if {leg.start, leg.end} == {van.place, place}), None)
    if leg is None:
        world.refuse(f"no leg from {van.place} to {place}")
    battery = round(van.battery - used(leg, world.one(Conditions)), 1)
    if battery < 0:
        world.refuse("the battery would be empty on the way")
    world.advance(leg.minutes)
    world.put(replace(van, place=place, battery=battery))
    return read_van(world)


def charge(world: World, percent: Percent) -> Position:
    """Charge the van at the depot or the hub; takes today's minutes for each percent, rounded up.

    percent: charge to add
    """
    van, today = world.one(Van), world.one(Conditions)
    if van.place not in (DEPOT, HUB):
        world.refuse(f"there is no charger at {van.place}")
    if not 0 < percent <= round(100 - van.battery, 1):
        world.refuse(f"between 0 and {round(100 - van.battery, 1)} percent fit into the battery")
    world.advance(charging_minutes(percent, today))
    world.put(replace(van, battery=round(van.battery + percent, 1)))
    return read_van(world)


def wait(world: World, minutes: Minutes) -> Position:
    """Stand still for some time."""
    if not 0 < minutes <= 240:
        world.refuse("wait between 1 and 240 minutes")
    world.advance(minutes)
    return read_van(world)


def deliver(world: World, parcel: str) -> Parcel:
    """Hand over a parcel at its place; takes 4 minutes. Nobody opens before the window does.

    parcel: id of the parcel
    """
    item = world.get(Parcel, parcel)
    if item.place != world.one(Van).place:
        world.refuse(f"{parcel} is for {item.place}")
    if item.delivered:
        world.refuse(f"{parcel} is delivered already")
    if minute(world) < item.opens:
        world.refuse(f"nobody opens before minute {item.opens}")
    world.put(replace(item, delivered=True, delivered_at=minute(world)))
    world.advance(4)
    return world.get(Parcel, parcel)


def used(leg: Leg, today: Conditions) -> float:
    return round(leg.rated * today.consumption_factor, 1)


def charging_minutes(percent: float, today: Conditions) -> int:
    return math.ceil(percent * today.charge_minutes_per_percent)


def battery_floor(world: View) -> str | None:
    battery = world.one(Van).battery
    return None if battery >= FLOOR else f"the battery is at {battery} %, below {FLOOR:g} %"


def windows_kept(world: View) -> str | None:
    late = [p.id for p in world.all(Parcel) if p.delivered and p.delivered_at > p.closes]
    return f"delivered after the window closed: {late}" if late else None


def home_again(world: View) -> str | None:
    place = world.one(Van).place
    return None if place == DEPOT else f"the van ended at {place}"


@dataclass(frozen=True, slots=True)
class Tour:
    """Places in order, with the charge to add at the depot first and at the hub on the way."""

    stops: tuple[str, ...]
    at_depot: float
    at_hub: float


def tours(places: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Every order of the places, straight or with the hub somewhere in it."""
    for order in itertools.permutations(places):
        yield order
        for at in range(1, len(order) + 1):
            yield (*order[:at], HUB, *order[at:])


Roads = Mapping[frozenset[str], Leg]


def by_ends(legs: Sequence[Leg]) -> Roads:
    return {frozenset((leg.start, leg.end)): leg for leg in legs}


def route(places: Sequence[str], roads: Roads) -> list[Leg]:
    """The legs from the depot through the places and back."""
    return [roads[frozenset(pair)] for pair in itertools.pairwise((DEPOT, *places, DEPOT))]


def plan_tour(
    van: Position, parcels: Sequence[Parcel], legs: Sequence[Leg], today: Conditions
) -> Tour | None:
    """The tour that keeps windows and floor and is home first."""
    by_place, roads = {parcel.place: parcel for parcel in parcels}, by_ends(legs)
    best: tuple[int, Tour] | None = None
    for order in tours(sorted(by_place)):
        path = route(order, roads)
        uses = [used(leg, today) for leg in path]
        cut = order.index(HUB) + 1 if HUB in order else len(uses)
        at_depot = max(0.0, round(FLOOR + sum(uses[:cut]) - van.battery, 1))
        arrived = round(van.battery + at_depot - sum(uses[:cut]), 1)
        at_hub = max(0.0, round(FLOOR + sum(uses[cut:]) - arrived, 1)) if HUB in order else 0.0
        tour = Tour(order, at_depot, at_hub)
        if max(van.battery + at_depot, arrived + at_hub) > 100:
            continue
        home = arrival(van.minute, tour, path, by_place, today)
        if home is not None and (best is None or home < best[0]):
            best = (home, tour)
    return best[1] if best else None


def arrival(
    now: int, tour: Tour, path: Sequence[Leg], parcels: dict[str, Parcel], today: Conditions
) -> int | None:
    """Minute of the return; `None` when a window is missed."""
    if tour.at_depot:
        now += charging_minutes(tour.at_depot, today)
    for leg, place in zip(path, (*tour.stops, DEPOT), strict=True):
        now += leg.minutes
        if place == HUB and tour.at_hub:
            now += charging_minutes(tour.at_hub, today)
        if (parcel := parcels.get(place)) is not None:
            now = max(now, parcel.opens)
            if now > parcel.closes:
                return None
            now += 4
    return now


def careful_tour(me: Worker) -> Tour:
    today = me.ask(read_conditions) if me.habits.verify else Conditions("today", 1.0, 1.0)
    van, parcels, legs = me.ask(read_van), me.ask(list_parcels), me.ask(list_legs)
    tour = plan_tour(van, parcels, legs, today)
    if tour is None:
        raise Stuck("no tour keeps all windows")
    return tour


def nearest_first(me: Worker) -> Tour:
    roads = by_ends(me.ask(list_legs))
    left = [parcel.place for parcel in me.ask(list_parcels)]
    order = [DEPOT]
    while left:
        order.append(min(left, key=lambda place: roads[frozenset((order[-1], place))].minutes))
        left.remove(order[-1])
    return Tour(tuple(order[1:]), 0.0, 0.0)


def drive(me: Worker, tour: Tour, *, home: bool = True) -> Position:
    """Follow a tour; `home` False stops at the last parcel."""
    me.ask(read_conditions)
    parcels = {parcel.place: parcel for parcel in me.ask(list_parcels)}
    if tour.at_depot:
        me.do(charge, percent=tour.at_depot)
    for place in tour.stops:
        van = me.do(drive_to, place=place)
        if place == HUB and tour.at_hub:
            me.do(charge, percent=tour.at_hub)
        if (parcel := parcels.get(place)) is not None:
            if van.minute < parcel.opens:
                me.do(wait, minutes=parcel.opens - van.minute)
            me.do(deliver, parcel=parcel.id)
    if home:
        me.do(drive_to, place=DEPOT)
    return me.ask(read_van)


def deliver_all(
    me: Worker, *, ahead: bool = True, charged: bool = True, home: bool = True, fresh: bool = True
) -> None:
    """`charged` False drives without charging; `fresh` False reports the charge of the morning."""
    before = me.ask(read_van)
    tour = careful_tour(me) if ahead else nearest_first(me)
    after = drive(me, tour if charged else replace(tour, at_depot=0.0, at_hub=0.0), home=home)
    done = [parcel.id for parcel in me.ask(list_parcels) if parcel.delivered]
    me.submit(Answer(done, after.battery if fresh else before.battery))


def plan(me: Worker) -> None:
    deliver_all(me, ahead=me.habits.foresight)


def generate(rng: Random) -> Setup:
    while True:
        places = rng.sample(PLACES, 4)
        legs = _road_map(rng, places)
        today = Conditions("today", rng.choice([1.25, 1.3, 1.35, 1.4]), rng.choice([1.0, 1.2, 1.5]))
        van, parcels = _round(rng, places, legs)
        tour = plan_tour(van, parcels, legs, today)
        if tour is not None and tour.at_hub and _floor_shows(van, route(tour.stops, by_ends(legs)), today):
            break
    ids = [parcel.id for parcel in parcels]
    return Setup(
        now=DAY + timedelta(minutes=START),
        rows=(Van(van.id, DEPOT, van.battery), today, *parcels, *legs),
        facts={"floor": f"{FLOOR:g}"},
        expected=Expected(
            required=tuple(became(Parcel, key, delivered=True) for key in ids),
            allowed=(may(Van), may(Parcel, "*", "delivered_at")),
            answer=handed_in(Answer(ids, 0.0), told={"battery": cell(Van, van.id, "battery")}),
        ),
    )


def _floor_shows(van: Position, path: Sequence[Leg], today: Conditions) -> bool:
    """Without charging the battery falls below its floor before it would be empty."""
    left = [van.battery - total for total in itertools.accumulate(used(leg, today) for leg in path)]
    return next(battery for battery in left if battery < FLOOR) >= 0


def _round(rng: Random, places: Sequence[str], legs: Sequence[Leg]) -> tuple[Position, list[Parcel]]:
    """A van that could just do the round in mild weather, and windows that the order of `places` keeps."""
    path = route(places, by_ends(legs))
    battery = round(FLOOR + sum(leg.rated for leg in path) + rng.uniform(0.5, 2.0), 1)
    parcels, now = [], START
    for number, (leg, place) in enumerate(zip(path, places, strict=False)):
        now += leg.minutes + (rng.randint(25, 40) if number == 2 else 0)
        opens = max(START, now - rng.randint(5, 12))
        closes = opens + (rng.randint(13, 16) if number == 0 else rng.randint(50, 70))
        parcels.append(Parcel(f"P-{rng.randint(100, 199) * 10 + number}", place, opens, closes, False, 0))
        now += 4
    return Position("V-1", DEPOT, battery, START), parcels


def _road_map(rng: Random, places: Sequence[str]) -> list[Leg]:
    spots = {place: (rng.uniform(-6, 6), rng.uniform(-6, 6)) for place in (*places, HUB)}
    spots[DEPOT] = (0.0, 0.0)
    legs: list[Leg] = []
    for start, end in itertools.combinations(sorted(spots), 2):
        (x, y), (u, v) = spots[start], spots[end]
        length = abs(x - u) + abs(y - v) + 1.0
        legs.append(Leg(f"L-{len(legs) + 1:02}", start, end, round(2 * length), round(1.6 * length, 1)))
    return legs


SCENARIO = Scenario(
    rules=Rules(
        name="transport/last_mile",
        tables=(Van, Parcel, Leg, Conditions),
        reads=(read_van, list_parcels, list_legs, read_conditions),
        writes=(drive_to, charge, wait, deliver),
        answer=Answer,
    ),
    title="Last-mile delivery on a cold day",
    industry=Industry.TRANSPORT,
    subdomain="Fire Science & Public Safety",
    soc="53-3033.00",
    difficulty=2,
    trap="Rated consumption is for mild weather; the day's factor must be read before the tour is chosen.",
    brief="""
        You drive an electric delivery van. Deliver every parcel of the round within its window (both ends
        included) and bring the van back to the depot. At no time may the battery be below {floor} %. You
        can charge at the depot and at the hub. Then submit which parcels you delivered and the final
        charge.
    """,
    generate=generate,
    plan=plan,
    always=(battery_floor, windows_kept),
    at_end=(home_again,),
    evidence=(looked("conditions_first", read_conditions, before=drive_to),),
    near_misses=(
        NearMiss("trusts the rated consumption", "always/battery_floor", partial(deliver_all, charged=False)),
        NearMiss("does not come home", "changes/home_again", partial(deliver_all, home=False)),
        NearMiss("reports the charge of the morning", "answer/battery", partial(deliver_all, fresh=False)),
    ),
)
