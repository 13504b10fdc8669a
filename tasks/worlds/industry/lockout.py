"""Lockout before maintenance: every energy source, also the one the placard forgets, proven dead before work.

An accumulator builds its pressure up again after it was released once, so only a test tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from random import Random

from practicum.infra.world.rules import Rules
from practicum.infra.world.units import Percent
from practicum.infra.world.world import View, World
from practicum.tasks.worlds.evidence import looked, looked_after
from practicum.tasks.worlds.expected import Expected, became, handed_in, made, may
from practicum.tasks.worlds.scenario import Industry, NearMiss, Scenario, Setup
from practicum.tasks.worlds.worker import Stuck, Worker

DEAD = 1.0


class Kind(StrEnum):
    ELECTRICAL = "electrical"
    HYDRAULIC = "hydraulic"
    PNEUMATIC = "pneumatic"
    GRAVITY = "gravity"


@dataclass(frozen=True, slots=True)
class Machine:
    id: str
    running: bool
    area_told: bool


@dataclass(frozen=True, slots=True)
class Point:
    """An energy source. `energy` is what a gauge would show; `returns` is how often pressure builds up
    again.
    """

    id: str
    machine: str
    kind: Kind
    isolated: bool
    locked: bool
    energy: Percent
    returns: int
    on_placard: bool


@dataclass(frozen=True, slots=True)
class Source:
    """An energy source as placard or drawing name it."""

    id: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Gauge:
    """What is left in an energy source, in percent of its working energy."""

    id: str
    energy: Percent


@dataclass(frozen=True, slots=True)
class Status:
    id: str
    isolated: bool
    locked: bool


@dataclass(frozen=True, slots=True)
class Permit:
    id: str
    machine: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Report the lockout.

    locked: ids of the energy sources under lock
    permit: id of the permit
    """

    locked: list[str]
    permit: str


def read_placard(world: View) -> list[Source]:
    """Read the energy sources on the placard of the machine, as it was delivered."""
    return [Source(point.id, point.kind) for point in world.all(Point) if point.on_placard]


def read_drawing(world: View) -> list[Source]:
    """Read the energy sources on the current drawing, with all later changes of the machine."""
    return [Source(point.id, point.kind) for point in world.all(Point)]


def gauge(world: View, point: str) -> Gauge:
    """Test what energy is left in a source; below 1 percent it is dead.

    point: id of the energy source
    """
    return Gauge(point, world.get(Point, point).energy)


def tell_area(world: World) -> Machine:
    """Tell everybody who works at the machine that it will be shut down."""
    return world.put(replace(world.one(Machine), area_told=True))


def stop_machine(world: World) -> Machine:
    """Shut the machine down by its normal procedure."""
    return world.put(replace(world.one(Machine), running=False))


def isolate(world: World, point: str) -> Status:
    """Operate the isolating device of an energy source.

    point: id of the energy source
    """
    return _put(world, replace(world.get(Point, point), isolated=True))


def lock(world: World, point: str) -> Status:
    """Hang your lock on an isolating device.

    point: id of an isolated energy source
    """
    source = world.get(Point, point)
    if not source.isolated:
        world.refuse(f"{point} is not isolated")
    return _put(world, replace(source, locked=True))


def release(world: World, point: str) -> Status:
    """Bleed, discharge or block what is stored in an energy source.

    point: id of the energy source
    """
    source = world.get(Point, point)
    left = 12.0 if source.returns > 0 else 0.0
    return _put(world, replace(source, energy=left, returns=max(0, source.returns - 1)))


def issue_permit(world: World) -> Permit:
    """Issue the permit that lets the fitters begin."""
    if world.all(Permit):
        world.refuse("the permit is issued already")
    return world.put(Permit("PTW-1", world.one(Machine).id))


def _put(world: World, point: Point) -> Status:
    world.put(point)
    return Status(point.id, point.isolated, point.locked)


def told_before_stop(world: View) -> str | None:
    machine = world.one(Machine)
    return None if machine.running or machine.area_told else "the machine was stopped without a word"


def stopped_before_isolation(world: View) -> str | None:
    early = [point.id for point in world.all(Point) if point.isolated and world.one(Machine).running]
    return f"isolated under load: {early}" if early else None


def locked_before_release(world: View) -> str | None:
    early = [point.id for point in world.all(Point) if point.energy < 100.0 and not point.locked]
    return f"released before it was locked: {early}" if early else None


def dead_before_permit(world: View) -> str | None:
    if not world.all(Permit):
        return None
    live = [point.id for point in world.all(Point) if not point.locked or point.energy >= DEAD]
    return f"a permit while energy is left in {live}" if live else None


def lock_out(
    me: Worker, *, drawing: bool = True, test: bool = True, in_order: bool = True, tell: bool = True
) -> None:
    """`in_order` follows the steps for the whole machine; without it each source is done on its own first."""
    sources = me.ask(read_drawing) if drawing else me.ask(read_placard)
    if tell:
        me.do(tell_area)
    if in_order:
        me.do(stop_machine)
    for source in sources:
        me.do(isolate, point=source.id)
        me.do(lock, point=source.id)
    if not in_order:
        me.do(stop_machine)
    for source in sources:
        me.do(release, point=source.id)
        if test:
            bleed(me, source.id)
    permit = me.do(issue_permit)
    me.submit(Answer([source.id for source in sources], permit.id))


def bleed(me: Worker, point: str) -> None:
    """Release again until the gauge shows nothing."""
    for _ in range(6):
        if me.ask(gauge, point=point).energy < DEAD:
            return
        me.do(release, point=point)
    raise Stuck(f"{point} does not get dead")


def plan(me: Worker) -> None:
    lock_out(me, drawing=me.habits.verify, test=me.habits.verify, in_order=me.habits.foresight)


def generate(rng: Random) -> Setup:
    """Four to six sources; one is only on the drawing, one accumulator builds up again once or twice."""
    machine = f"{rng.choice(['press', 'baler', 'mixer', 'saw'])}-{rng.randint(1, 9)}"
    points = [
        Point(f"E-{number}", machine, rng.choice(list(Kind)), False, False, 100.0, 0, True)
        for number in range(1, rng.randint(5, 7))
    ]
    hidden, stubborn = rng.sample(range(len(points)), 2)
    points[hidden] = replace(points[hidden], on_placard=False)
    points[stubborn] = replace(points[stubborn], kind=Kind.HYDRAULIC, returns=rng.randint(1, 2))
    return Setup(
        now=datetime(2026, 7, 21, 6, 15, tzinfo=UTC),
        rows=(Machine(machine, True, False), *points),
        facts={"machine": machine},
        expected=_expected(machine, points),
    )


def _expected(machine: str, points: Sequence[Point]) -> Expected:
    ids = [point.id for point in points]
    return Expected(
        required=(
            became(Machine, machine, running=False, area_told=True),
            *(became(Point, key, isolated=True, locked=True, energy=0.0) for key in ids),
            made(Permit, machine=machine),
        ),
        allowed=(may(Point, "*", "returns"),),
        answer=handed_in(Answer(ids, "PTW-1")),
    )


SCENARIO = Scenario(
    rules=Rules(
        name="industry/lockout",
        tables=(Machine, Point, Permit),
        reads=(read_placard, read_drawing, gauge),
        writes=(tell_area, stop_machine, isolate, lock, release, issue_permit),
        answer=Answer,
    ),
    title="Lockout and permit to work",
    industry=Industry.INDUSTRY,
    subdomain="Manufacturing & Industrial Systems",
    soc="49-9041.00",
    difficulty=2,
    trap="One energy source is missing on the placard, and one builds its pressure up again after release.",
    brief="""
        The machine {machine} needs maintenance. Prepare it: tell the area, stop the machine, isolate and
        lock every energy source it has, release what is stored, and issue the permit only when each source
        is proven dead. The steps are taken in this order: nothing is isolated under load, and nothing is
        released before its lock hangs. Then submit which sources are under lock and the permit.
    """,
    generate=generate,
    plan=plan,
    always=(told_before_stop, stopped_before_isolation, locked_before_release, dead_before_permit),
    evidence=(
        looked("drawing_read", read_drawing, before=issue_permit),
        looked("tested_after_release", gauge, before=issue_permit, since=(release,)),
        looked_after("gauged", gauge, after=release),
    ),
    near_misses=(
        NearMiss("believes the placard", "always/dead_before_permit", partial(lock_out, drawing=False)),
        NearMiss("does not test", "always/dead_before_permit", partial(lock_out, test=False)),
        NearMiss("isolates under load", "always/stopped_before_isolation", partial(lock_out, in_order=False)),
        NearMiss("tells nobody", "always/told_before_stop", partial(lock_out, tell=False)),
    ),
    sources=("29 CFR 1910.147(d): application of lockout, steps (1) to (6)",),
)
