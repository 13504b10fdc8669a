"""Emergency department: who goes into which room, by the early warning score of the present vital signs.

A patient's state moves while others are being placed, and a room that the board calls free may not be clean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import partial
from random import Random

from practicum.infra.world.rules import Rules
from practicum.infra.world.units import Celsius, Count, Minutes, Percent
from practicum.infra.world.world import View, World
from practicum.tasks.worlds.evidence import looked
from practicum.tasks.worlds.expected import Expected, became, handed_in, may
from practicum.tasks.worlds.scenario import Industry, NearMiss, Scenario, Setup
from practicum.tasks.worlds.worker import Stuck, Worker

DAY = datetime(2026, 2, 11, tzinfo=UTC)
PLACING = 5


class Care(StrEnum):
    RESUSCITATION = "resuscitation"
    MONITORED = "monitored"
    STANDARD = "standard"


@dataclass(frozen=True, slots=True)
class Patient:
    """`room` and `care` are empty until the patient is placed."""

    id: str
    arrived: Minutes
    airborne: bool
    room: str
    care: str


@dataclass(frozen=True, slots=True)
class Vitals:
    """One set of vital signs, valid from `taken` until the next set of the same patient."""

    id: str
    patient: str
    taken: Minutes
    respiration: Count
    saturation: Percent
    oxygen: bool
    systolic: Count
    pulse: Count
    alert: bool
    temperature: Celsius


@dataclass(frozen=True, slots=True)
class Room:
    """A room as the board shows it."""

    id: str
    care: Care
    negative_pressure: bool
    occupied: bool


@dataclass(frozen=True, slots=True)
class Cleaning:
    """Whether a room is really ready for the next patient."""

    id: str
    clean: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """Report the placements.

    resuscitation: ids of the patients placed in resuscitation
    monitored: ids of the patients placed in monitored rooms
    standard: ids of the patients placed in standard rooms
    """

    resuscitation: list[str]
    monitored: list[str]
    standard: list[str]


def minute(world: View) -> int:
    return world.minutes_since(DAY)


def latest(world: View, patient: str) -> Vitals:
    now = minute(world)
    sets = [item for item in world.all(Vitals) if item.patient == patient and item.taken <= now]
    return max(sets, key=lambda item: item.taken)


def list_patients(world: View) -> list[Patient]:
    """List the patients in the waiting room and where they were placed."""
    return world.all(Patient)


def read_vitals(world: View, patient: str) -> Vitals:
    """Read the newest vital signs of a patient: respiration and pulse per minute, systolic in mmHg.

    patient: id of the patient
    """
    world.get(Patient, patient)
    return latest(world, patient)


def list_rooms(world: View) -> list[Room]:
    """List the rooms as the board shows them."""
    return world.all(Room)


def read_cleaning(world: View, room: str) -> Cleaning:
    """Read from housekeeping whether a room is clean.

    room: id of the room
    """
    return world.get(Cleaning, room)


def place(world: World, patient: str, room: str) -> Patient:
    """Bring a patient into a room; takes 5 minutes and cannot be taken back.

    patient: id of the patient
    room: id of a room that is not occupied
    """
    person, space = world.get(Patient, patient), world.get(Room, room)
    if person.room:
        world.refuse(f"{patient} is in {person.room} already")
    if space.occupied:
        world.refuse(f"{room} is occupied")
    world.put(replace(space, occupied=True))
    world.put(replace(person, room=room, care=space.care))
    world.advance(PLACING)
    return world.get(Patient, patient)


def points(value: float, bands: Sequence[tuple[float, int]], above: int) -> int:
    """The points of the first band whose upper bound is not exceeded."""
    return next((score for bound, score in bands if value <= bound), above)


def parts(vitals: Vitals) -> tuple[int, ...]:
    """The seven parts of the National Early Warning Score 2, saturation on scale 1."""
    return (
        points(vitals.respiration, ((8, 3), (11, 1), (20, 0), (24, 2)), 3),
        points(vitals.saturation, ((91, 3), (93, 2), (95, 1)), 0),
        2 if vitals.oxygen else 0,
        points(vitals.systolic, ((90, 3), (100, 2), (110, 1), (219, 0)), 3),
        points(vitals.pulse, ((40, 3), (50, 1), (90, 0), (110, 1), (130, 2)), 3),
        0 if vitals.alert else 3,
        points(vitals.temperature, ((35.0, 3), (36.0, 1), (38.0, 0), (39.0, 1)), 2),
    )


def care_for(vitals: Vitals) -> Care:
    """7 points and more: resuscitation; 5 and 6, or 3 in one part: monitored; else standard."""
    score = parts(vitals)
    if sum(score) >= 7:
        return Care.RESUSCITATION
    return Care.MONITORED if sum(score) >= 5 or 3 in score else Care.STANDARD


def critical_first(world: View) -> str | None:
    """No one is placed while a critical patient waits, other than critical patients."""
    critical = {p.id for p in world.all(Patient) if care_for(_first(world, p.id)) is Care.RESUSCITATION}
    waiting = [p.id for p in world.all(Patient) if p.id in critical and not p.room]
    early = [p.id for p in world.all(Patient) if p.id not in critical and p.room]
    return f"{early} placed while {waiting} waited" if waiting and early else None


def _first(world: View, patient: str) -> Vitals:
    return min((v for v in world.all(Vitals) if v.patient == patient), key=lambda item: item.taken)


def clean_rooms(world: View) -> str | None:
    dirty = [p.room for p in world.all(Patient) if p.room and not world.get(Cleaning, p.room).clean]
    return f"patients in rooms that were not clean: {dirty}" if dirty else None


def airborne_contained(world: View) -> str | None:
    open_air = [
        p.id
        for p in world.all(Patient)
        if p.airborne and p.room and not world.get(Room, p.room).negative_pressure
    ]
    return f"airborne patients without negative pressure: {open_air}" if open_air else None


def choose(rooms: Sequence[Room], care: Care, airborne: bool, kept: Counter[Care]) -> Room | None:
    """A room of this care; one with negative pressure only where it is needed or nobody else needs it."""
    fit = [room for room in rooms if room.care is care and (room.negative_pressure or not airborne)]
    plain = [room for room in fit if not room.negative_pressure]
    if airborne or (not plain and not kept[care]):
        return fit[0] if fit else None
    return plain[0] if plain else None


def treat(
    me: Worker, *, again: bool = True, housekeeping: bool = True, ahead: bool = True, isolate: bool = True
) -> None:
    """`again` reads vitals right before placing, `ahead` places by need, `isolate` minds the airborne."""
    waiting = me.ask(list_patients)
    needs = {p.id: care_for(me.ask(read_vitals, patient=p.id)) for p in waiting}
    if ahead:
        waiting = sorted(waiting, key=lambda p: (list(Care).index(needs[p.id]), p.arrived))
    kept = Counter(needs[p.id] for p in waiting if p.airborne)
    rooms = [room for room in me.ask(list_rooms) if not room.occupied]
    if housekeeping:
        rooms = [room for room in rooms if me.ask(read_cleaning, room=room.id).clean]
    for person in waiting:
        care = care_for(me.ask(read_vitals, patient=person.id)) if again else needs[person.id]
        airborne = person.airborne and isolate
        kept[needs[person.id]] -= person.airborne
        room = choose(rooms, care, airborne, kept) if ahead else next(iter(rooms), None)
        if room is None:
            raise Stuck(f"no {care} room for {person.id}")
        rooms.remove(room)
        me.do(place, patient=person.id, room=room.id)
    _report(me)


def _report(me: Worker) -> None:
    placed: Mapping[Care, list[str]] = {care: [] for care in Care}
    for person in me.ask(list_patients):
        if person.care:
            placed[Care(person.care)].append(person.id)
    me.submit(Answer(*placed.values()))


def plan(me: Worker) -> None:
    treat(me, again=me.habits.verify, housekeeping=me.habits.verify, ahead=me.habits.foresight)


WELL = {
    "respiration": 16, "saturation": 97.0, "oxygen": False, "systolic": 128, "pulse": 78, "alert": True,
    "temperature": 37.0,
}  # fmt: skip


def generate(rng: Random) -> Setup:
    start = 19 * 60
    numbers = sorted(rng.sample(range(100, 999), 5))
    rest = rng.sample(numbers[:4], 4)
    ids = [f"PT-{number}" for number in (numbers[4], *rest)]
    critical, serious, turning, well, airborne = ids
    sets = [
        _vitals(critical, start - 9, respiration=rng.randint(25, 32), saturation=90.0, pulse=118),
        _vitals(serious, start - 7, respiration=rng.randint(21, 24), systolic=99, pulse=95),
        _vitals(turning, start - 6, pulse=rng.randint(91, 110), temperature=38.4),
        _vitals(turning, start + rng.randint(2, PLACING), systolic=rng.randint(78, 89), pulse=104),
        _vitals(well, start - 5, temperature=round(rng.uniform(38.1, 38.9), 1)),
        _vitals(airborne, start - 4, saturation=rng.choice([94.0, 95.0]), temperature=38.2),
    ]
    arrivals = [*rng.sample(range(start - 40, start - 10), 4), start - rng.randint(41, 60)]
    people = [
        Patient(key, arrived, key == airborne, "", "") for key, arrived in zip(ids, arrivals, strict=True)
    ]
    rooms, cleaning = _rooms(rng)
    cares = {
        critical: Care.RESUSCITATION, serious: Care.MONITORED, turning: Care.MONITORED,
        well: Care.STANDARD, airborne: Care.STANDARD,
    }  # fmt: skip
    return Setup(
        now=DAY + timedelta(minutes=19 * 60),
        rows=(*people, *(replace(item, id=f"VS-{n}") for n, item in enumerate(sets, 1)), *rooms, *cleaning),
        facts={"placing": PLACING},
        expected=Expected(
            required=tuple(became(Patient, key, care=care) for key, care in cares.items()),
            allowed=(may(Patient, "*", "room"), may(Room, "*", "occupied")),
            answer=handed_in(Answer([critical], [serious, turning], [well, airborne])),
        ),
    )


def _vitals(patient: str, taken: int, **signs: float) -> Vitals:
    return Vitals(id="", patient=patient, taken=taken, **{**WELL, **signs})  # type: ignore[arg-type]  # mixed


def _rooms(rng: Random) -> tuple[list[Room], list[Cleaning]]:
    """As many clean rooms of each care as are needed; the first of each kind is dirty or isolates."""
    kinds = [
        (Care.RESUSCITATION, False, False, True), (Care.RESUSCITATION, False, False, False),
        (Care.MONITORED, False, False, False), (Care.MONITORED, False, False, True),
        (Care.MONITORED, False, False, True), (Care.MONITORED, False, True, True),
        (Care.STANDARD, True, False, True), (Care.STANDARD, False, False, True),
        (Care.STANDARD, False, False, False), (Care.STANDARD, False, True, True),
    ]  # fmt: skip
    numbers = sorted(rng.sample(range(1, 60), len(kinds)))
    rooms = [
        Room(f"R-{number:02}", care, negative, occupied)
        for number, (care, negative, occupied, _) in zip(numbers, kinds, strict=True)
    ]
    return rooms, [Cleaning(room.id, kind[3]) for room, kind in zip(rooms, kinds, strict=True)]


SCENARIO = Scenario(
    rules=Rules(
        name="healthcare/triage",
        tables=(Patient, Vitals, Room, Cleaning),
        reads=(list_patients, read_vitals, list_rooms, read_cleaning),
        writes=(place,),
        answer=Answer,
    ),
    title="Emergency-department triage with a room board",
    industry=Industry.HEALTHCARE,
    subdomain="Clinical Informatics & Care Ops",
    soc="29-1141.00",
    difficulty=3,
    trap=(
        "One patient gets worse while the first is placed, and the board does not know which rooms are clean."
    ),
    brief="""
        Place every waiting patient. Care follows the National Early Warning Score 2 (saturation scale 1) of
        the vital signs at the moment of placing: 7 or more needs resuscitation; 5 or 6, or 3 in any single
        part, a monitored room; anything else a standard room. Nobody else is placed while a patient who
        needs resuscitation waits. Use clean rooms only; an airborne patient needs negative pressure. Each
        placing takes {placing} minutes. Then submit who went where.
    """,
    generate=generate,
    plan=plan,
    always=(critical_first, clean_rooms, airborne_contained),
    evidence=(looked("vitals_before_placing", read_vitals, before=place, same={"patient": "patient"}),),
    near_misses=(
        NearMiss("does not look again", "answer/monitored", partial(treat, again=False)),
        NearMiss("believes the board", "always/clean_rooms", partial(treat, housekeeping=False)),
        NearMiss("forgets the airborne patient", "always/airborne_contained", partial(treat, isolate=False)),
        NearMiss("takes rooms as they come", "always/critical_first", partial(treat, ahead=False)),
    ),
    sources=("Royal College of Physicians (2017), National Early Warning Score (NEWS) 2",),
)
