"""Incident dispatch: crews of three skill tiers, response times, and a technical crew kept in reserve.

The status board lags behind: a crew that it shows as free may be out of hours.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from random import Random
from typing import Annotated

from msgspec import Meta

from practicum.infra.world.rules import Rules
from practicum.infra.world.units import Minutes
from practicum.infra.world.world import View, World
from practicum.tasks.worlds.evidence import looked
from practicum.tasks.worlds.expected import Expected, became, handed_in, may
from practicum.tasks.worlds.scenario import Industry, NearMiss, Scenario, Setup
from practicum.tasks.worlds.worker import Stuck, Worker

TECHNICAL = 3
Tier = Annotated[int, Meta(ge=1, le=3, description="1 basic, 2 advanced, 3 technical")]


@dataclass(frozen=True, slots=True)
class Incident:
    """`crew` is empty until one is sent."""

    id: str
    zone: str
    tier: Tier
    within: Minutes
    crew: str
    reached: bool


@dataclass(frozen=True, slots=True)
class Crew:
    """A crew as the status board shows it."""

    id: str
    zone: str
    tier: Tier
    busy: bool


@dataclass(frozen=True, slots=True)
class Log:
    """What the crew itself reports: the time left in its shift."""

    id: str
    minutes_left: Minutes


@dataclass(frozen=True, slots=True)
class Road:
    id: str
    start: str
    end: str
    minutes: Minutes


@dataclass(frozen=True, slots=True)
class Answer:
    """Report the dispatch.

    sent: ids of the crews that were sent
    reserve: ids of the technical crews kept free
    """

    sent: list[str]
    reserve: list[str]


def list_incidents(world: View) -> list[Incident]:
    """List the incidents; `tier` is the least skill needed, `within` the longest response time."""
    return world.all(Incident)


def list_crews(world: View) -> list[Crew]:
    """List the crews on the status board."""
    return world.all(Crew)


def read_crew_log(world: View, crew: str) -> Log:
    """Call a crew for the time that is left in its shift.

    crew: id of the crew
    """
    return world.get(Log, crew)


def list_roads(world: View) -> list[Road]:
    """List the driving times between zones, usable both ways; within a zone it is 4 minutes."""
    return world.all(Road)


def send(world: World, incident: str, crew: str) -> Incident:
    """Send a crew to an incident. It cannot be called back.

    incident: id of the incident
    crew: id of a crew that is not busy
    """
    job, team = world.get(Incident, incident), world.get(Crew, crew)
    if job.crew:
        world.refuse(f"{job.crew} is on its way to {incident}")
    if team.busy:
        world.refuse(f"{crew} is busy")
    world.put(replace(team, busy=True))
    reached = driving(team.zone, job.zone, world.all(Road)) <= job.within
    return world.put(replace(job, crew=crew, reached=reached))


def driving(start: str, end: str, roads: Sequence[Road]) -> int:
    if start == end:
        return 4
    by_ends = {frozenset((road.start, road.end)): road.minutes for road in roads}
    return by_ends[frozenset((start, end))]


def skill_suffices(world: View) -> str | None:
    weak = [i.id for i in world.all(Incident) if i.crew and world.get(Crew, i.crew).tier < i.tier]
    return f"crews below the tier that is needed: {weak}" if weak else None


def shift_suffices(world: View) -> str | None:
    """A job takes its driving and an hour on scene out of the crew's shift."""
    tired = [
        job.crew
        for job in world.all(Incident)
        if job.crew and world.get(Log, job.crew).minutes_left < job.within + 60
    ]
    return f"crews out of hours: {tired}" if tired else None


def technical_reserve(world: View) -> str | None:
    free = [
        crew.id
        for crew in world.all(Crew)
        if crew.tier == TECHNICAL and not crew.busy and world.get(Log, crew.id).minutes_left >= 60
    ]
    return None if free else "no technical crew in reserve"


Sending = list[tuple[Incident, Crew]]


def sendings(
    incidents: Sequence[Incident], crews: Sequence[Crew], left: Mapping[str, int], roads: Sequence[Road]
) -> Iterator[Sending]:
    """Every sending that keeps tiers, times, shifts and the reserve."""
    fit = {job.id: [crew for crew in crews if suits(job, crew, left, roads)] for job in incidents}
    rested = [crew.id for crew in crews if crew.tier == TECHNICAL and left[crew.id] >= 60]
    for team in itertools.product(*(fit[job.id] for job in incidents)):
        ids = {crew.id for crew in team}
        if len(ids) == len(team) and set(rested) - ids:
            yield list(zip(incidents, team, strict=True))


def suits(job: Incident, crew: Crew, left: Mapping[str, int], roads: Sequence[Road]) -> bool:
    return (
        not crew.busy
        and crew.tier >= job.tier
        and driving(crew.zone, job.zone, roads) <= job.within
        and left[crew.id] >= job.within + 60
    )


def nearest(
    incidents: Sequence[Incident], crews: Sequence[Crew], left: Mapping[str, int], roads: Sequence[Road]
) -> Sending:
    """Each incident takes the nearest crew that suits it."""
    free, sending = list(crews), Sending()
    for job in incidents:
        fit = [crew for crew in free if suits(job, crew, left, roads)]
        if fit:
            crew = min(fit, key=lambda crew: driving(crew.zone, job.zone, roads))
            free.remove(crew)
            sending.append((job, crew))
    return sending


def dispatch(me: Worker, *, logs: bool = True, ahead: bool = True, tiers: bool = True) -> None:
    """`logs` calls the crews, `ahead` weighs all incidents at once, `tiers` minds the needed skill."""
    incidents, crews, roads = me.ask(list_incidents), me.ask(list_crews), me.ask(list_roads)
    left = {crew.id: 480 for crew in crews}
    if logs:
        left = {c.id: me.ask(read_crew_log, crew=c.id).minutes_left for c in crews if not c.busy}
        left |= {crew.id: 0 for crew in crews if crew.busy}
    if not tiers:
        incidents = [replace(job, tier=1) for job in incidents]
    choice = next(sendings(incidents, crews, left, roads), None) if ahead else None
    if ahead and choice is None:
        raise Stuck("no sending keeps all rules")
    choice = choice or nearest(incidents, crews, left, roads)
    for job, crew in choice:
        me.do(send, incident=job.id, crew=crew.id)
    sent = [crew.id for _, crew in choice]
    spare = [c.id for c in crews if c.tier == TECHNICAL and not c.busy and c.id not in sent]
    me.submit(Answer(sent, spare))


def plan(me: Worker) -> None:
    dispatch(me, logs=me.habits.verify, ahead=me.habits.foresight)


def generate(rng: Random) -> Setup:
    """Nearest-first uses the advanced crew for a basic incident; the best-placed basic crew is out of hours.

    Of the others, one basic crew has hours enough only for the incident that needs a technical one.
    """
    zones = rng.sample(["Harbour", "Old Town", "Heights", "Mills", "Station"], 3)
    roads = [
        Road(f"R-{number}", start, end, rng.randint(11, 14))
        for number, (start, end) in enumerate(itertools.combinations(zones, 2), 1)
    ]
    names = [f"C-{number}" for number in sorted(rng.sample(range(10, 99), 7))]
    posts = [(0, 1), (1, 1), (0, 2), (2, 1), (2, 3), (1, 3), (0, 2)]
    crews = [
        Crew(name, zones[zone], tier, name == names[6])
        for name, (zone, tier) in zip(names, posts, strict=True)
    ]
    hours = [rng.randint(15, 50), *(rng.randint(150, 400) for _ in posts[1:])]
    hours[3] = rng.randint(70, 74)
    incidents = [
        Incident("I-1", zones[0], 1, rng.randint(15, 20), "", False),
        Incident("I-2", zones[0], 2, rng.randint(6, 9), "", False),
        Incident("I-3", zones[2], 3, rng.randint(6, 9), "", False),
    ]
    logs = [Log(name, minutes) for name, minutes in zip(names, hours, strict=True)]
    return Setup(
        now=datetime(2026, 11, 20, 22, 5, tzinfo=UTC),
        rows=(*incidents, *crews, *logs, *roads),
        facts={},
        expected=Expected(
            required=(
                became(Incident, "I-1", crew=names[1], reached=True),
                became(Incident, "I-2", crew=names[2], reached=True),
                became(Incident, "I-3", crew=names[4], reached=True),
            ),
            allowed=(may(Crew, "*", "busy"),),
            answer=handed_in(Answer([names[1], names[2], names[4]], [names[5]])),
        ),
    )


SCENARIO = Scenario(
    rules=Rules(
        name="public/dispatch",
        tables=(Incident, Crew, Log, Road),
        reads=(list_incidents, list_crews, read_crew_log, list_roads),
        writes=(send,),
        answer=Answer,
    ),
    title="Incident dispatch with skill tiers",
    industry=Industry.PUBLIC,
    subdomain="Fire Science & Public Safety",
    soc="43-5031.00",
    difficulty=2,
    trap="The nearest crew is the only one for the next incident, and a crew shown as free is out of hours.",
    brief="""
        Send one crew to every incident: of at least the tier that is needed, there within the response
        time, and with at least that time and an hour more left in its shift, which only the crew itself can
        tell. At no time may the last rested technical crew be sent: one that is free and has an hour left
        stays in reserve. Then submit which crews were sent and which technical crews are still free.
    """,
    generate=generate,
    plan=plan,
    always=(skill_suffices, shift_suffices, technical_reserve),
    evidence=(looked("crew_called", read_crew_log, before=send, same={"crew": "crew"}),),
    near_misses=(
        NearMiss("believes the board", "always/shift_suffices", partial(dispatch, logs=False)),
        NearMiss("sends the nearest", "changes/Incident.I-2", partial(dispatch, ahead=False)),
        NearMiss("forgets the tiers", "always/skill_suffices", partial(dispatch, tiers=False)),
    ),
)
