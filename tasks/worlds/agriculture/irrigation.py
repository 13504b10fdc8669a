"""Irrigation scheduling by the soil water balance, under a water right too small for all fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from random import Random
from typing import Annotated

from msgspec import Meta

from practicum.infra.world.rules import Rules
from practicum.infra.world.units import Hectares, Millimetres, Ratio
from practicum.infra.world.world import View, World
from practicum.tasks.worlds.evidence import looked
from practicum.tasks.worlds.expected import Expected, became, handed_in
from practicum.tasks.worlds.scenario import Industry, NearMiss, Scenario, Setup
from practicum.tasks.worlds.worker import Worker

CubicMetres = Annotated[float, Meta(description="cubic metres")]
PER_MILLIMETRE = 10.0
"""Cubic metres on a hectare in a millimetre of water."""


@dataclass(frozen=True, slots=True)
class Field:
    """`depletion` is yesterday evening's; `sensitivity` is the yield response factor of the present stage."""

    id: str
    area: Hectares
    available_water: Millimetres
    depletion_fraction: Ratio
    depletion: Millimetres
    crop_coefficient: Ratio
    sensitivity: Ratio
    irrigated: Millimetres


@dataclass(frozen=True, slots=True)
class Weather:
    """Of today, for the whole farm: reference evapotranspiration, and the rain the station counted."""

    id: str
    evapotranspiration: Millimetres
    station_rain: Millimetres


@dataclass(frozen=True, slots=True)
class RainGauge:
    """The gauge in one field: today's rain there."""

    id: str
    rain: Millimetres


@dataclass(frozen=True, slots=True)
class WaterRight:
    id: str
    left: CubicMetres


@dataclass(frozen=True, slots=True)
class Answer:
    """Report the day.

    irrigated: ids of the fields that got water
    waiting: ids of the fields that needed water and got none
    water_used: in all
    """

    irrigated: list[str]
    waiting: list[str]
    water_used: CubicMetres


def list_fields(world: View) -> list[Field]:
    """List the fields; depletion is below field capacity, as of yesterday evening."""
    return world.all(Field)


def read_weather(world: View) -> Weather:
    """Read today's weather from the station at the farmyard."""
    return world.one(Weather)


def read_rain_gauge(world: View, field: str) -> RainGauge:
    """Read the rain gauge in a field.

    field: id of the field
    """
    return world.get(RainGauge, field)


def read_water_right(world: View) -> WaterRight:
    """Read how much water may still be drawn today."""
    return world.one(WaterRight)


def irrigate(world: World, field: str, depth: Millimetres) -> Field:
    """Irrigate a whole field, once a day.

    field: id of the field
    depth: of water to apply
    """
    plot, right = world.get(Field, field), world.one(WaterRight)
    volume = round(depth * plot.area * PER_MILLIMETRE, 1)
    if plot.irrigated > 0:
        world.refuse(f"{field} was irrigated today")
    if not 0 < volume <= right.left:
        world.refuse(f"{volume} cubic metres are not within the right of {right.left}")
    world.put(replace(right, left=round(right.left - volume, 1)))
    return world.put(replace(plot, irrigated=depth))


def depletion(field: Field, evapotranspiration: float, rain: float) -> float:
    """Root zone depletion this evening: never below 0, in millimetres."""
    used = field.crop_coefficient * evapotranspiration
    return round(max(0.0, field.depletion + used - rain), 1)


def thirsty(
    fields: Sequence[Field], evapotranspiration: float, rain: Mapping[str, float]
) -> dict[str, float]:
    """Depth that each field needs whose depletion exceeds the readily available water."""
    needs = {field.id: depletion(field, evapotranspiration, rain[field.id]) for field in fields}
    return {f.id: needs[f.id] for f in fields if needs[f.id] > f.depletion_fraction * f.available_water}


def allot(fields: Sequence[Field], needs: Mapping[str, float], left: float) -> tuple[list[Field], float]:
    """Fields that get their full depth, in the order given, as far as the right goes; the water used."""
    served, used = list[Field](), 0.0
    for field in fields:
        if field.id in needs:
            volume = round(needs[field.id] * field.area * PER_MILLIMETRE, 1)
            if used + volume <= left:
                served.append(field)
                used = round(used + volume, 1)
    return served, used


def by_sensitivity(fields: Sequence[Field]) -> list[Field]:
    return sorted(fields, key=lambda field: -field.sensitivity)


def water(me: Worker, *, gauges: bool = True, ahead: bool = True, coefficients: bool = True) -> None:
    """`gauges` reads rain in each field, `ahead` serves the sensitive first, `coefficients` minds crops."""
    fields, today, right = me.ask(list_fields), me.ask(read_weather), me.ask(read_water_right)
    rain = {field.id: today.station_rain for field in fields}
    if gauges:
        rain = {field.id: me.ask(read_rain_gauge, field=field.id).rain for field in fields}
    crops = fields if coefficients else [replace(field, crop_coefficient=1.0) for field in fields]
    needs = thirsty(crops, today.evapotranspiration, rain)
    served, used = allot(by_sensitivity(fields) if ahead else fields, needs, right.left)
    for field in served:
        me.do(irrigate, field=field.id, depth=needs[field.id])
    done = [field.id for field in served]
    me.submit(Answer(done, [key for key in needs if key not in done], used))


def plan(me: Worker) -> None:
    water(me, gauges=me.habits.verify, ahead=me.habits.foresight)


def generate(rng: Random) -> Setup:
    """A shower missed the station: one field got rain enough. The right covers all thirsty fields but one,
    and the sensitive ones come last in the list."""
    today = Weather("today", round(rng.uniform(5.5, 7.0), 1), 0.0)
    fields = []
    for number in range(5):
        available = float(rng.randint(90, 140))
        fraction = rng.choice([0.45, 0.5, 0.55])
        fields.append(
            Field(
                id=f"F-{number + 1}",
                area=round(rng.uniform(3.0, 4.0) if number < 2 else rng.uniform(4.0, 6.0), 1),
                available_water=available,
                depletion_fraction=fraction,
                depletion=round(fraction * available - rng.uniform(1.0, 2.0), 1),
                crop_coefficient=rng.choice([1.15, 1.2, 1.25]) if number != 3 else 0.4,
                sensitivity=round(0.4 + 0.2 * number + rng.uniform(0, 0.15), 2),
                irrigated=0.0,
            )
        )
    fields[3] = replace(fields[3], depletion=round(fields[3].depletion - 3.0, 1))
    wet = rng.choice([0, 1])
    rain = {field.id: 0.0 for field in fields}
    rain[fields[wet].id] = round(rng.uniform(12.0, 18.0), 1)
    needs = thirsty(fields, today.evapotranspiration, rain)
    order = by_sensitivity([field for field in fields if field.id in needs])
    _, enough = allot(order[:-1], needs, float("inf"))
    right = WaterRight("right", round(enough + 1.0, 1))
    served, used = allot(by_sensitivity(fields), needs, right.left)
    done = [field.id for field in served]
    return Setup(
        now=datetime(2026, 7, 2, 18, 0, tzinfo=UTC),
        rows=(*fields, today, *(RainGauge(*pair) for pair in rain.items()), right),
        facts={},
        expected=Expected(
            required=(
                *(became(Field, key, {"irrigated": 0.1}, irrigated=needs[key]) for key in done),
                became(WaterRight, "right", {"left": 1.0}, left=round(right.left - used, 1)),
            ),
            answer=handed_in(
                Answer(done, [key for key in needs if key not in done], used), within={"water_used": 1.0}
            ),
        ),
    )


SCENARIO = Scenario(
    rules=Rules(
        name="agriculture/irrigation",
        tables=(Field, Weather, RainGauge, WaterRight),
        reads=(list_fields, read_weather, read_rain_gauge, read_water_right),
        writes=(irrigate,),
        answer=Answer,
    ),
    title="Irrigation under a short water right",
    industry=Industry.AGRICULTURE,
    subdomain="Precision Agriculture",
    soc="19-1013.00",
    difficulty=2,
    trap="The shower fell on one field and not on the station; and the water is short, so the order matters.",
    brief="""
        Decide today's irrigation. Each field's depletion this evening is yesterday's, plus crop coefficient
        times reference evapotranspiration, less the rain in that field, never below 0, to one decimal. A
        field needs water if its depletion exceeds depletion fraction times available water; it then gets
        its whole depletion as depth (1 mm on 1 ha is 10 cubic metres). Serve fields by sensitivity, highest
        first; a field whose volume is more than what is left gets none, and the next one is tried. Submit
        what was irrigated, what needs water and waits, and the water used.
    """,
    generate=generate,
    plan=plan,
    evidence=(looked("gauge_read", read_rain_gauge, before=irrigate, same={"field": "field"}),),
    near_misses=(
        NearMiss("trusts the station", "evidence/gauge_read", partial(water, gauges=False)),
        NearMiss("serves fields as listed", "answer/irrigated", partial(water, ahead=False)),
        NearMiss("takes all crops for grass", "changes", partial(water, coefficients=False)),
    ),
    sources=(
        "Allen et al. (1998), FAO Irrigation and Drainage Paper 56, chapter 8: soil water balance, RAW",
        "Doorenbos and Kassam (1979), FAO Irrigation and Drainage Paper 33: yield response factor",
    ),
)
