"""Control room of a pressurised-water reactor: which alarms are real, and whether the answer to them worked.

Order follows the critical safety functions; a parameter is off only if two of its three channels say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from random import Random

from practicum.infra.world.rules import Rules
from practicum.infra.world.units import Count
from practicum.infra.world.world import View, World
from practicum.tasks.worlds.evidence import looked, looked_after
from practicum.tasks.worlds.expected import Expected, became, gone, handed_in, made, may
from practicum.tasks.worlds.scenario import Industry, NearMiss, Scenario, Setup
from practicum.tasks.worlds.worker import Worker


class SafetyFunction(StrEnum):
    """In the order in which they are answered."""

    SUBCRITICALITY = "subcriticality"
    CORE_COOLING = "core cooling"
    HEAT_SINK = "heat sink"
    INTEGRITY = "integrity"
    CONTAINMENT = "containment"
    INVENTORY = "inventory"


class Position(StrEnum):
    STANDBY = "standby"
    RUNNING = "running"


@dataclass(frozen=True, slots=True)
class Alarm:
    """An alarm on the panel; answering or tagging it clears it."""

    id: str
    function: SafetyFunction
    parameter: str


@dataclass(frozen=True, slots=True)
class Channel:
    """One of the three sensors of a parameter, in percent of its range."""

    id: str
    parameter: str
    reading: Count


@dataclass(frozen=True, slots=True)
class Procedure:
    """The parameter is off below `low`. Start `first`, and `backup` only if that does not help."""

    id: str
    function: SafetyFunction
    low: Count
    first: str
    backup: str


@dataclass(frozen=True, slots=True)
class Pump:
    id: str
    position: Position


@dataclass(frozen=True, slots=True)
class Effect:
    """What starting a pump really does to a parameter: it adds `gain` to each working channel."""

    id: str
    parameter: str
    gain: Count


@dataclass(frozen=True, slots=True)
class Tag:
    """A work request on a channel that reads wrong."""

    id: str
    channel: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Report the shift.

    real: ids of the alarms that were real
    spurious: ids of the alarms that were not
    started: ids of the pumps that were started
    """

    real: list[str]
    spurious: list[str]
    started: list[str]


def list_alarms(world: View) -> list[Alarm]:
    """List the alarms on the panel, in no order."""
    return world.all(Alarm)


def read_channels(world: View, parameter: str) -> list[Channel]:
    """Read the three channels of a parameter, in percent of range.

    parameter: name of the parameter
    """
    world.get(Procedure, parameter)
    return _channels(world, parameter)


def read_procedure(world: View, parameter: str) -> Procedure:
    """Read the alarm response procedure of a parameter.

    parameter: name of the parameter
    """
    return world.get(Procedure, parameter)


def start_pump(world: World, pump: str) -> Pump:
    """Start a pump that is on standby; it settles before you read on.

    pump: id of the pump
    """
    machine, effect = world.get(Pump, pump), world.get(Effect, pump)
    if machine.position is Position.RUNNING:
        world.refuse(f"{pump} is running already")
    for channel in _channels(world, effect.parameter):
        if channel.reading > 0:
            world.put(replace(channel, reading=min(100, channel.reading + effect.gain)))
    world.advance(2)
    return world.put(replace(machine, position=Position.RUNNING))


def clear_alarm(world: World, alarm: str) -> Alarm:
    """Take an alarm off the panel after it was answered, or found spurious.

    alarm: id of the alarm
    """
    item = world.get(Alarm, alarm)
    world.drop(item)
    return item


def tag_channel(world: World, channel: str) -> Tag:
    """Write a work request for a channel that reads wrong.

    channel: id of the channel
    """
    world.get(Channel, channel)
    return world.put(Tag(world.fresh(Tag, "WR"), channel))


def _channels(world: View, parameter: str) -> list[Channel]:
    return [channel for channel in world.all(Channel) if channel.parameter == parameter]


def rank(item: Alarm | Procedure) -> int:
    return list(SafetyFunction).index(item.function)


def off(channels: Sequence[Channel], low: int) -> bool:
    return sum(channel.reading < low for channel in channels) >= 2


def answered_in_order(world: View) -> str | None:
    """No pump of a later function runs while an earlier parameter is still off."""
    procedures = sorted(world.all(Procedure), key=rank)
    for number, item in enumerate(procedures):
        if off(_channels(world, item.id), item.low):
            for later in procedures[number + 1 :]:
                if _runs(world, later.first) or _runs(world, later.backup):
                    return f"{later.id} was answered before {item.id}"
    return None


def no_needless_start(world: View) -> str | None:
    """A backup runs only where the first pump did not help."""
    for item in world.all(Procedure):
        helped = next(e for e in world.all(Effect) if e.id == item.first).gain > 20
        if helped and _runs(world, item.first) and _runs(world, item.backup):
            return f"{item.backup} was started although {item.first} was enough"
    return None


def _runs(world: View, pump: str) -> bool:
    return world.get(Pump, pump).position is Position.RUNNING


def respond(
    me: Worker, *, channels: bool = True, recheck: bool = True, by_function: bool = True, tag: bool = True
) -> None:
    """`channels` asks all three before acting, `recheck` again after it, `tag` reports the wrong one."""
    alarms = me.ask(list_alarms)
    real, spurious, started = list[str](), list[str](), list[str]()
    for alarm in sorted(alarms, key=rank) if by_function else alarms:
        procedure = me.ask(read_procedure, parameter=alarm.parameter)
        readings = me.ask(read_channels, parameter=alarm.parameter) if channels else []
        if channels and not off(readings, procedure.low):
            spurious.append(alarm.id)
            wrong = [channel.id for channel in readings if channel.reading < procedure.low]
            for channel in wrong if tag else ():
                me.do(tag_channel, channel=channel)
        else:
            real.append(alarm.id)
            started.append(me.do(start_pump, pump=procedure.first).id)
            if recheck and off(me.ask(read_channels, parameter=alarm.parameter), procedure.low):
                started.append(me.do(start_pump, pump=procedure.backup).id)
                me.ask(read_channels, parameter=alarm.parameter)
        me.do(clear_alarm, alarm=alarm.id)
    me.submit(Answer(real, spurious, started))


def plan(me: Worker) -> None:
    respond(me, channels=me.habits.verify, recheck=me.habits.verify, by_function=me.habits.foresight)


PARAMETERS = {
    SafetyFunction.SUBCRITICALITY: ("boron flow", "BA"),
    SafetyFunction.CORE_COOLING: ("subcooling margin", "SI"),
    SafetyFunction.HEAT_SINK: ("steam generator level", "AF"),
    SafetyFunction.CONTAINMENT: ("containment spray pressure", "CS"),
    SafetyFunction.INVENTORY: ("pressuriser level", "CV"),
}


def generate(rng: Random) -> Setup:
    """Four alarms, numbered against their order: one spurious, one whose first pump does not help."""
    functions = sorted(rng.sample(list(PARAMETERS), 4), key=list(PARAMETERS).index, reverse=True)
    spurious, weak = rng.sample(functions, 2)
    rows: list[Alarm | Channel | Procedure | Pump | Effect] = []
    real, started, wrong = list[str](), list[str](), ""
    for number, function in enumerate(functions, 1):
        parameter, prefix = PARAMETERS[function]
        low = rng.randint(40, 55)
        first, backup = f"{prefix}-{rng.randint(1, 4)}A", f"{prefix}-{rng.randint(5, 9)}B"
        sound = rng.randint(70, 85) if function is spurious else rng.randint(18, 30)
        channels = [
            Channel(f"{parameter} {letter}", parameter, sound + rng.randint(-3, 3)) for letter in "ABC"
        ]
        broken = rng.randrange(3)
        if function is spurious:
            channels[broken] = replace(channels[broken], reading=0)
            wrong = channels[broken].id
        else:
            real.append(f"A-{number}")
            started += [first, backup] if function is weak else [first]
        rows += [
            Alarm(f"A-{number}", function, parameter),
            Procedure(parameter, function, low, first, backup),
        ]
        rows += [*channels, Pump(first, Position.STANDBY), Pump(backup, Position.STANDBY)]
        rows += [Effect(first, parameter, 3 if function is weak else 45), Effect(backup, parameter, 45)]
    false_alarm = f"A-{functions.index(spurious) + 1}"
    return Setup(
        now=datetime(2026, 9, 3, 2, 40, tzinfo=UTC),
        rows=tuple(rows),
        facts={},
        expected=Expected(
            required=(
                *(gone(Alarm, key) for key in (*real, false_alarm)),
                *(became(Pump, key, position=Position.RUNNING) for key in started),
                made(Tag, channel=wrong),
            ),
            allowed=(may(Channel, "*", "reading"),),
            answer=handed_in(Answer(real, [false_alarm], started)),
        ),
    )


SCENARIO = Scenario(
    rules=Rules(
        name="industry/alarm_response",
        tables=(Alarm, Channel, Procedure, Pump, Effect, Tag),
        reads=(list_alarms, read_channels, read_procedure),
        writes=(start_pump, clear_alarm, tag_channel),
        answer=Answer,
    ),
    title="Alarm response in a reactor control room",
    industry=Industry.INDUSTRY,
    subdomain="Energy, Power & Nuclear",
    soc="51-8011.00",
    difficulty=3,
    trap="One alarm is a failed sensor, and one pump starts without helping: look before acting, and again.",
    brief="""
        Answer every alarm of this shift, in the order of the critical safety functions: subcriticality,
        core cooling, heat sink, integrity, containment, inventory. An alarm is real if at least two of the
        parameter's three channels are below the procedure's low limit. Answer a real alarm by starting the
        first pump of its procedure; only if the parameter is still off afterwards start the backup. Start
        nothing for an alarm that is not real: write a work request for the channel that reads wrong. Clear
        each alarm when it is dealt with, then submit the shift report.
    """,
    generate=generate,
    plan=plan,
    always=(answered_in_order, no_needless_start),
    evidence=(
        looked("procedure_read", read_procedure, before=start_pump),
        looked_after("looked_again", read_channels, after=start_pump),
    ),
    near_misses=(
        NearMiss("believes every alarm", "changes/nothing_else", partial(respond, channels=False)),
        NearMiss("does not look again", "answer/started", partial(respond, recheck=False)),
        NearMiss("takes them as listed", "always/answered_in_order", partial(respond, by_function=False)),
        NearMiss("reports no broken sensor", "changes", partial(respond, tag=False)),
    ),
    sources=("Westinghouse Owners Group Emergency Response Guidelines: order of critical safety functions",),
)
