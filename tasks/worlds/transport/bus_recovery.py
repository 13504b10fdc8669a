"""Bus timetable recovery: a bus broke down, and its trips need another bus and a driver who may still drive.

Driving without a break of 45 minutes is limited to four and a half hours, counted from the tachograph and not
from the roster.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from random import Random

from practicum.infra.world.rules import Rules
from practicum.infra.world.units import Minutes
from practicum.infra.world.world import View, World
from practicum.tasks.worlds.evidence import looked
from practicum.tasks.worlds.expected import Expected, became, handed_in, made, may
from practicum.tasks.worlds.scenario import Industry, NearMiss, Scenario, Setup
from practicum.tasks.worlds.worker import Stuck, Worker

LIMIT = 270


@dataclass(frozen=True, slots=True)
class Trip:
    """A trip of the broken bus; `bus` and `driver` are empty until it is covered."""

    id: str
    departs: Minutes
    minutes: Minutes
    wheelchair: bool
    bus: str
    driver: str
    covered: bool


@dataclass(frozen=True, slots=True)
class Bus:
    id: str
    low_floor: bool


@dataclass(frozen=True, slots=True)
class Driver:
    """`rostered` is the driving since the last break as the roster planned it."""

    id: str
    rostered: Minutes
    duty_ends: Minutes


@dataclass(frozen=True, slots=True)
class Tachograph:
    """`driven` is the driving since the last break as it really was."""

    id: str
    driven: Minutes


@dataclass(frozen=True, slots=True)
class Notice:
    id: str
    trip: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Report the recovery.

    covered: ids of the trips that run
    cancelled: ids of the trips that do not run
    """

    covered: list[str]
    cancelled: list[str]


def list_trips(world: View) -> list[Trip]:
    """List the trips of the broken bus; `departs` counts from midnight."""
    return world.all(Trip)


def list_buses(world: View) -> list[Bus]:
    """List the spare buses."""
    return world.all(Bus)


def list_drivers(world: View) -> list[Driver]:
    """List the drivers on standby as the roster has them; `duty_ends` counts from midnight."""
    return world.all(Driver)


def read_tachograph(world: View, driver: str) -> Tachograph:
    """Read how long a driver has driven since the last break.

    driver: id of the driver
    """
    return world.get(Tachograph, driver)


def assign(world: World, trip: str, bus: str, driver: str) -> Trip:
    """Give a trip a bus and a driver. Each of them takes one trip today.

    trip: id of the trip
    bus: id of a spare bus
    driver: id of a driver on standby
    """
    job, _, _ = world.get(Trip, trip), world.get(Bus, bus), world.get(Driver, driver)
    if job.covered:
        world.refuse(f"{trip} is covered already")
    for other in world.all(Trip):
        if other.covered and (other.bus == bus or other.driver == driver):
            world.refuse(f"{other.id} has that bus or that driver")
    return world.put(replace(job, bus=bus, driver=driver, covered=True))


def announce(world: World, trip: str) -> Notice:
    """Tell passengers at the stops that a trip runs after all.

    trip: id of a covered trip
    """
    if not world.get(Trip, trip).covered:
        world.refuse(f"{trip} is not covered")
    return world.put(Notice(world.fresh(Notice, "N"), trip))


def driving_limit(world: View) -> str | None:
    for trip in world.all(Trip):
        if trip.covered:
            driven = world.get(Tachograph, trip.driver).driven + trip.minutes
            if driven > LIMIT:
                return f"{trip.driver} drives {driven} minutes without a break"
    return None


def duty_kept(world: View) -> str | None:
    late = [t.id for t in world.all(Trip) if t.covered and ends(t) > world.get(Driver, t.driver).duty_ends]
    return f"trips end after the driver's duty: {late}" if late else None


def wheelchair_promise(world: View) -> str | None:
    wrong = [
        t.id for t in world.all(Trip) if t.covered and t.wheelchair and not world.get(Bus, t.bus).low_floor
    ]
    return f"trips with a wheelchair booking on a bus with steps: {wrong}" if wrong else None


def ends(trip: Trip) -> int:
    return trip.departs + trip.minutes


Cover = tuple[Trip, Bus, Driver]


def fits(trip: Trip, bus: Bus, driver: Driver, driven: int) -> bool:
    return (
        (bus.low_floor or not trip.wheelchair)
        and driven + trip.minutes <= LIMIT
        and ends(trip) <= driver.duty_ends
    )


def covers(
    trips: Sequence[Trip], buses: Sequence[Bus], drivers: Sequence[Driver], driven: Mapping[str, int]
) -> Iterator[list[Cover]]:
    """Every way to cover all trips."""
    for fleet in itertools.permutations(buses, len(trips)):
        for crew in itertools.permutations(drivers, len(trips)):
            cover = list(zip(trips, fleet, crew, strict=True))
            if all(fits(trip, bus, driver, driven[driver.id]) for trip, bus, driver in cover):
                yield cover


def first_come(
    trips: Sequence[Trip], buses: Sequence[Bus], drivers: Sequence[Driver], driven: Mapping[str, int]
) -> list[Cover]:
    """Each trip takes the first pair that fits it, whatever the later ones need."""
    fleet, crew, cover = list(buses), list(drivers), list[Cover]()
    for trip in trips:
        pairs = itertools.product(fleet, crew)
        pair = next((p for p in pairs if fits(trip, p[0], p[1], driven[p[1].id])), None)
        if pair is not None:
            fleet.remove(pair[0])
            crew.remove(pair[1])
            cover.append((trip, *pair))
    return cover


def recover(
    me: Worker, *, tachographs: bool = True, ahead: bool = True, low_floor: bool = True, tell: bool = True
) -> None:
    """`low_floor` False forgets the wheelchair bookings, `tell` False the passengers."""
    trips, buses, drivers = me.ask(list_trips), me.ask(list_buses), me.ask(list_drivers)
    driven = {driver.id: driver.rostered for driver in drivers}
    if tachographs:
        driven = {driver.id: me.ask(read_tachograph, driver=driver.id).driven for driver in drivers}
    if not low_floor:
        trips = [replace(trip, wheelchair=not trip.wheelchair) for trip in trips]
    if ahead:
        cover = next(covers(trips, buses, drivers, driven), None)
    else:
        cover = first_come(trips, buses, drivers, driven)
    if cover is None:
        raise Stuck("not all trips can be covered")
    for trip, bus, driver in cover:
        me.do(assign, trip=trip.id, bus=bus.id, driver=driver.id)
        if tell:
            me.do(announce, trip=trip.id)
    done = [trip.id for trip, _, _ in cover]
    me.submit(Answer(done, [trip.id for trip in trips if trip.id not in done]))


def plan(me: Worker) -> None:
    recover(me, tachographs=me.habits.verify, ahead=me.habits.foresight)


def generate(rng: Random) -> Setup:
    """The first driver of the roster is the one whose tachograph forbids it; low-floor buses come first."""
    start = rng.randint(13 * 60, 15 * 60)
    lengths = sorted((rng.randint(55, 95) for _ in range(3)), reverse=True)
    trips = [
        Trip(f"T-{number + 1}", start + 12 * number, minutes, number > 0, "", "", False)
        for number, minutes in enumerate(lengths)
    ]
    buses = [Bus(f"B-{rng.randint(10, 49)}", True), Bus(f"B-{rng.randint(50, 59)}", True)]
    buses.append(Bus(f"B-{rng.randint(60, 99)}", False))
    late = start + 300
    driven = [LIMIT - lengths[2] + rng.randint(10, 40), *(LIMIT - n - rng.randint(5, 20) for n in lengths)]
    drivers = [Driver(f"D-{number + 1}", minutes, late) for number, minutes in enumerate(driven)]
    drivers[0] = replace(drivers[0], rostered=LIMIT - lengths[0] - rng.randint(5, 20))
    logs = [Tachograph(driver.id, minutes) for driver, minutes in zip(drivers, driven, strict=True)]
    ids = [trip.id for trip in trips]
    return Setup(
        now=datetime(2026, 5, 6, 12, 50, tzinfo=UTC),
        rows=(*trips, *buses, *drivers, *logs),
        facts={"limit": LIMIT, "line": rng.randint(11, 89)},
        expected=Expected(
            required=(
                *(became(Trip, key, covered=True) for key in ids),
                *(made(Notice, trip=key) for key in ids),
            ),
            allowed=(may(Trip, "*", "bus", "driver"),),
            answer=handed_in(Answer(ids, [])),
        ),
    )


SCENARIO = Scenario(
    rules=Rules(
        name="transport/bus_recovery",
        tables=(Trip, Bus, Driver, Tachograph, Notice),
        reads=(list_trips, list_buses, list_drivers, read_tachograph),
        writes=(assign, announce),
        answer=Answer,
    ),
    title="Bus timetable recovery after a breakdown",
    industry=Industry.TRANSPORT,
    subdomain="Aviation & Airspace",
    soc="43-5032.00",
    difficulty=2,
    trap="The roster says who may drive, the tachograph knows; and the first bus that fits is needed later.",
    brief="""
        A bus of line {line} broke down. Cover all of its remaining trips with spare buses and drivers on
        standby. No driver may drive more than {limit} minutes without a break, counted from the tachograph
        and including the trip, nor beyond the end of the duty. A trip with a wheelchair booking needs a
        low-floor bus. Announce each covered trip once, then submit which trips run and which do not.
    """,
    generate=generate,
    plan=plan,
    always=(driving_limit, duty_kept, wheelchair_promise),
    evidence=(looked("tachograph_read", read_tachograph, before=assign, same={"driver": "driver"}),),
    near_misses=(
        NearMiss("trusts the roster", "always/driving_limit", partial(recover, tachographs=False)),
        NearMiss("takes the first bus that fits", "changes/Trip.T-3", partial(recover, ahead=False)),
        NearMiss("forgets the wheelchairs", "always/wheelchair_promise", partial(recover, low_floor=False)),
        NearMiss("tells nobody", "changes", partial(recover, tell=False)),
    ),
    sources=("Regulation (EC) No 561/2006, Article 7: a break of 45 minutes after four and a half hours",),
)
