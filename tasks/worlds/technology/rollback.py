"""On call: errors rise after a morning of deployments. Which was it, can it be undone, is that enough?

A deployment whose migration cannot be undone is never rolled back; its feature flag is switched off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from random import Random

from practicum.infra.world.rules import Rules
from practicum.infra.world.units import Minutes, Percent
from practicum.infra.world.world import View, World
from practicum.tasks.worlds.evidence import looked, looked_after
from practicum.tasks.worlds.expected import Expected, became, handed_in, made
from practicum.tasks.worlds.scenario import Industry, NearMiss, Scenario, Setup
from practicum.tasks.worlds.worker import Stuck, Worker

OBJECTIVE = 1.0
"""The error rate, in percent, that a service stays under."""


@dataclass(frozen=True, slots=True)
class Service:
    """`needs` names the service whose interface it calls, `none` for none."""

    id: str
    needs: str


@dataclass(frozen=True, slots=True)
class Deployment:
    """`active` until it is rolled back or its flag is off; `uses_new` if it needs the newest of `needs`."""

    id: str
    service: str
    minutes_ago: Minutes
    flag: str
    uses_new: bool
    active: bool


@dataclass(frozen=True, slots=True)
class Migration:
    """What a deployment did to the database; `none` did nothing."""

    id: str
    change: str
    reversible: bool


@dataclass(frozen=True, slots=True)
class Cause:
    """How much a deployment adds to which service's error rate. Nobody sees this."""

    id: str
    victim: str
    adds: Percent


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """Of a service now, and among its requests that ran through a deployment."""

    id: str
    rate: Percent


@dataclass(frozen=True, slots=True)
class Note:
    """An entry in the incident's timeline."""

    id: str
    deployment: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Report the incident.

    causes: ids of the deployments that caused errors
    rolled_back: ids of the deployments that were rolled back
    flags_off: names of the flags that were switched off
    """

    causes: list[str]
    rolled_back: list[str]
    flags_off: list[str]


def list_services(world: View) -> list[Service]:
    """List the services and whom each calls."""
    return world.all(Service)


def list_deployments(world: View) -> list[Deployment]:
    """List today's deployments."""
    return world.all(Deployment)


def read_migration(world: View, deployment: str) -> Migration:
    """Read what a deployment did to the database.

    deployment: id of the deployment
    """
    return world.get(Migration, deployment)


def read_error_rate(world: View, service: str) -> ErrorRate:
    """Read the error rate of a service over the last minute.

    service: id of the service
    """
    world.get(Service, service)
    return ErrorRate(service, rate(world, service))


def trace_errors(world: View, deployment: str) -> ErrorRate:
    """Read, from traces, what share of requests through a deployment fail because of it.

    deployment: id of the deployment
    """
    cause = world.get(Cause, deployment)
    return ErrorRate(deployment, cause.adds if world.get(Deployment, deployment).active else 0.0)


def roll_back(world: World, deployment: str) -> Deployment:
    """Put a service back to what it was before a deployment; takes 4 minutes.

    deployment: id of the deployment
    """
    item = _active(world, deployment)
    world.advance(4)
    return world.put(replace(item, active=False))


def switch_off(world: World, flag: str) -> Deployment:
    """Switch a feature flag off, which takes its deployment out of use without undoing it.

    flag: name of the flag
    """
    item = next((d for d in world.all(Deployment) if d.flag == flag), None)
    if item is None:
        world.refuse(f"there is no flag {flag!r}")
    _active(world, item.id)
    return world.put(replace(item, active=False, flag=f"{flag} (off)"))


def note(world: World, deployment: str) -> Note:
    """Write into the timeline that a deployment was taken out of use.

    deployment: id of the deployment
    """
    world.get(Deployment, deployment)
    return world.put(Note(world.fresh(Note, "TL"), deployment))


def _active(world: World, key: str) -> Deployment:
    item = world.get(Deployment, key)
    if not item.active:
        world.refuse(f"{key} is out of use already")
    return item


def rate(world: View, service: str) -> float:
    adds = (c.adds for c in world.all(Cause) if c.victim == service and world.get(Deployment, c.id).active)
    return round(0.2 + sum(adds), 1)


def data_safe(world: View) -> str | None:
    """Rolled back, rather than switched off, only where the migration can be undone."""
    wrong = [
        d.id
        for d in world.all(Deployment)
        if not d.active and not d.flag.endswith("(off)") and not world.get(Migration, d.id).reversible
    ]
    return f"rolled back over a migration that cannot be undone: {wrong}" if wrong else None


def callers_first(world: View) -> str | None:
    """No caller is left that needs what was taken from the service it calls."""
    calls = {service.id: service.needs for service in world.all(Service)}
    gone = {d.service for d in world.all(Deployment) if not d.active}
    left = [d.id for d in world.all(Deployment) if d.active and d.uses_new and calls[d.service] in gone]
    return f"left without the interface they call: {left}" if left else None


def out_of_use(
    me: Worker, item: Deployment, *, migrations: bool = True, rolled: list[str], flags: list[str]
) -> None:
    """Take one deployment out of use, in the way its migration allows."""
    if not migrations or me.ask(read_migration, deployment=item.id).reversible:
        me.do(roll_back, deployment=item.id)
        rolled.append(item.id)
    else:
        me.do(switch_off, flag=item.flag)
        flags.append(item.flag)
    me.do(note, deployment=item.id)


def handle(
    me: Worker, *, traces: bool = True, migrations: bool = True, ahead: bool = True, stop: bool = True
) -> None:
    """`traces` looks for the cause instead of taking the newest, `ahead` takes callers first, `stop` False
    goes on after the errors are gone."""
    services = {service.id: service for service in me.ask(list_services)}
    deployments = me.ask(list_deployments)
    newest = sorted(deployments, key=lambda item: item.minutes_ago)
    causes = newest[:1]
    if traces:
        causes = [d for d in newest if me.ask(trace_errors, deployment=d.id).rate > 0]
    rolled, flags = list[str](), list[str]()
    for item in causes:
        callers = [d for d in newest if d.uses_new and services[d.service].needs == item.service]
        for caller in callers if ahead else ():
            out_of_use(me, caller, migrations=migrations, rolled=rolled, flags=flags)
        out_of_use(me, item, migrations=migrations, rolled=rolled, flags=flags)
    for item in newest if not stop else ():
        if item.id not in rolled and item.flag not in flags:
            out_of_use(me, item, migrations=migrations, rolled=rolled, flags=flags)
    for service in services:
        if me.ask(read_error_rate, service=service).rate >= OBJECTIVE and traces:
            raise Stuck(f"{service} still fails")
    me.submit(Answer([item.id for item in causes], rolled, flags))


def plan(me: Worker) -> None:
    handle(me, traces=me.habits.verify, migrations=me.habits.verify, ahead=me.habits.foresight)


def generate(rng: Random) -> Setup:
    """Five deployments. The newest is innocent; one cause is called by another deployment that needs it, one
    cannot be rolled back."""
    names = rng.sample(["basket", "ledger", "catalogue", "profile", "search", "shipping"], 5)
    services = [
        Service(names[0], "none"), Service(names[1], names[0]), Service(names[2], "none"),
        Service(names[3], "none"), Service(names[4], names[2]),
    ]  # fmt: skip
    ages = sorted(rng.sample(range(15, 240, 5), 5), reverse=True)
    order = [0, 1, 2, 4, 3]
    keys = [f"d-{number}" for number in rng.sample(range(1000, 9999), 5)]
    deployments = [
        Deployment(key, name, ages[order.index(at)], f"{name}-next", at == 1, True)
        for at, (key, name) in enumerate(zip(keys, names, strict=True))
    ]
    migrations = [
        Migration(key, change, reversible)
        for key, (change, reversible) in zip(
            keys,
            [
                ("none", True),
                ("index added", True),
                ("column dropped", False),
                ("none", True),
                ("none", True),
            ],
            strict=True,
        )
    ]
    adds = [round(rng.uniform(2, 6), 1), 0.0, round(rng.uniform(2, 6), 1), 0.0, 0.0]
    victims = [names[1], names[1], names[4], names[3], names[4]]
    causes = [Cause(*row) for row in zip(keys, victims, adds, strict=True)]
    flag = deployments[2].flag
    return Setup(
        now=datetime(2026, 3, 19, 13, 20, tzinfo=UTC),
        rows=(*services, *deployments, *migrations, *causes),
        facts={"objective": f"{OBJECTIVE:g}"},
        expected=Expected(
            required=(
                became(Deployment, keys[0], active=False),
                became(Deployment, keys[1], active=False),
                became(Deployment, keys[2], active=False, flag=f"{flag} (off)"),
                *(made(Note, deployment=key) for key in keys[:3]),
            ),
            answer=handed_in(Answer([keys[0], keys[2]], keys[:2], [flag])),
        ),
    )


SCENARIO = Scenario(
    rules=Rules(
        name="technology/rollback",
        tables=(Service, Deployment, Migration, Cause, Note),
        reads=(list_services, list_deployments, read_migration, read_error_rate, trace_errors),
        writes=(roll_back, switch_off, note),
        answer=Answer,
    ),
    title="Rollback of what broke production",
    industry=Industry.TECHNOLOGY,
    subdomain="Infrastructure & Cloud Ops",
    soc="15-1244.00",
    difficulty=3,
    trap=(
        "The newest deployment is innocent, one cause cannot be rolled back, and one has a caller that "
        "needs it."
    ),
    brief="""
        Error rates rose today and must come back under {objective} % for every service. Take out of use the
        deployments that cause errors and nothing more, but for this: before a deployment goes, any
        deployment that uses the new interface of its service goes first. Roll back where the migration can
        be undone (no migration counts as that); otherwise switch the feature flag off. Note each deployment
        that you take out of use once in the timeline. When all rates are fine again, submit the causes,
        what was rolled back and which flags are off.
    """,
    generate=generate,
    plan=plan,
    always=(data_safe, callers_first),
    evidence=(
        looked("traced", trace_errors, before=note),
        looked_after("rates_read_again", read_error_rate, after=note),
    ),
    near_misses=(
        NearMiss("takes the newest", "answer/causes", partial(handle, traces=False)),
        NearMiss("rolls a migration back", "always/data_safe", partial(handle, migrations=False)),
        NearMiss("forgets the caller", "always/callers_first", partial(handle, ahead=False)),
        NearMiss("does not stop", "changes/nothing_else", partial(handle, stop=False)),
    ),
)
