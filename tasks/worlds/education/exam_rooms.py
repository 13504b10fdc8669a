"""Exam rooms: a hall is closed, and its exams need other rooms at the same hour.

Head counts on the plan are from before late registration; extra time needs a room that stays free for longer.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from random import Random

from practicum.infra.world.rules import Rules
from practicum.infra.world.units import Count, Minutes
from practicum.infra.world.world import View, World
from practicum.tasks.worlds.evidence import looked
from practicum.tasks.worlds.expected import Expected, became, handed_in, made
from practicum.tasks.worlds.scenario import Industry, NearMiss, Scenario, Setup
from practicum.tasks.worlds.worker import Stuck, Worker


@dataclass(frozen=True, slots=True)
class Exam:
    """An exam of the closed hall; `planned` is the head count of the plan, `extra` the longest extra time."""

    id: str
    starts: Minutes
    minutes: Minutes
    planned: Count
    extra: Minutes
    step_free: bool
    room: str


@dataclass(frozen=True, slots=True)
class Register:
    """The candidates registered for an exam today."""

    id: str
    candidates: Count


@dataclass(frozen=True, slots=True)
class Room:
    """A room and until when it is free."""

    id: str
    seats: Count
    step_free: bool
    free_until: Minutes


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice on the door of the closed hall."""

    id: str
    exam: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Report the new plan.

    moved: ids of the exams that were moved
    rooms: ids of the rooms in use now
    """

    moved: list[str]
    rooms: list[str]


def list_exams(world: View) -> list[Exam]:
    """List the exams of the closed hall; times count from midnight."""
    return world.all(Exam)


def read_register(world: View, exam: str) -> Register:
    """Read how many candidates are registered for an exam, late registrations included.

    exam: id of the exam
    """
    return world.get(Register, exam)


def list_rooms(world: View) -> list[Room]:
    """List the rooms that are free when the exams start; times count from midnight."""
    return world.all(Room)


def move(world: World, exam: str, room: str) -> Exam:
    """Move an exam to a room, for good.

    exam: id of the exam
    room: id of a room without another exam
    """
    paper, _ = world.get(Exam, exam), world.get(Room, room)
    if paper.room:
        world.refuse(f"{exam} is in {paper.room} already")
    if any(other.room == room for other in world.all(Exam)):
        world.refuse(f"{room} is taken")
    return world.put(replace(paper, room=room))


def post_notice(world: World, exam: str) -> Notice:
    """Post where an exam takes place now.

    exam: id of a moved exam
    """
    if not world.get(Exam, exam).room:
        world.refuse(f"{exam} was not moved")
    return world.put(Notice(world.fresh(Notice, "N"), exam))


def everyone_sits(world: View) -> str | None:
    tight = [
        exam.id
        for exam in world.all(Exam)
        if exam.room and world.get(Register, exam.id).candidates > world.get(Room, exam.room).seats
    ]
    return f"more candidates than seats: {tight}" if tight else None


def extra_time_kept(world: View) -> str | None:
    cut = [e.id for e in world.all(Exam) if e.room and ends(e) > world.get(Room, e.room).free_until]
    return f"the room is needed before extra time is over: {cut}" if cut else None


def step_free_kept(world: View) -> str | None:
    stairs = [
        e.id for e in world.all(Exam) if e.room and e.step_free and not world.get(Room, e.room).step_free
    ]
    return f"candidates who cannot climb stairs: {stairs}" if stairs else None


def ends(exam: Exam) -> int:
    return exam.starts + exam.minutes + exam.extra


def fits(exam: Exam, room: Room, candidates: int) -> bool:
    return (
        candidates <= room.seats and ends(exam) <= room.free_until and (room.step_free or not exam.step_free)
    )


Placing = list[tuple[Exam, Room]]


def placings(exams: Sequence[Exam], rooms: Sequence[Room], heads: Mapping[str, int]) -> Iterator[Placing]:
    for choice in itertools.permutations(rooms, len(exams)):
        pairs = list(zip(exams, choice, strict=True))
        if all(fits(exam, room, heads[exam.id]) for exam, room in pairs):
            yield pairs


def first_fit(exams: Sequence[Exam], rooms: Sequence[Room], heads: Mapping[str, int]) -> Placing:
    free, placing = list(rooms), Placing()
    for exam in exams:
        room = next((room for room in free if fits(exam, room, heads[exam.id])), None)
        if room is not None:
            free.remove(room)
            placing.append((exam, room))
    return placing


def relocate(
    me: Worker, *, registers: bool = True, ahead: bool = True, extra: bool = True, tell: bool = True
) -> None:
    """`registers` asks for today's head count, `extra` minds extra time, `tell` posts the notices."""
    exams, rooms = me.ask(list_exams), me.ask(list_rooms)
    heads = {exam.id: exam.planned for exam in exams}
    if registers:
        heads = {exam.id: me.ask(read_register, exam=exam.id).candidates for exam in exams}
    asked = exams if extra else [replace(exam, extra=-exam.minutes) for exam in exams]
    placing = next(placings(asked, rooms, heads), None) if ahead else first_fit(asked, rooms, heads)
    if placing is None:
        raise Stuck("the rooms do not suffice")
    for exam, room in placing:
        me.do(move, exam=exam.id, room=room.id)
        if tell:
            me.do(post_notice, exam=exam.id)
    me.submit(Answer([exam.id for exam, _ in placing], [room.id for _, room in placing]))


def plan(me: Worker) -> None:
    relocate(me, registers=me.habits.verify, ahead=me.habits.foresight)


def generate(rng: Random) -> Setup:
    """One way only: the smallest exam comes first and fits everywhere, one exam outgrew its plan, one needs
    its room for longer than the first that has the seats."""
    start = 9 * 60
    heads = [rng.randint(18, 24), rng.randint(40, 46), rng.randint(58, 64), rng.randint(80, 90)]
    extras = [0, 30, 0, 0]
    exams = [
        Exam(f"EX-{number}", start, 120, count, extra, number == 1, "")
        for number, (count, extra) in enumerate(zip(heads, extras, strict=True), 1)
    ]
    late = rng.randint(5, 7)
    exams[2] = replace(exams[2], planned=heads[2] - late)
    names = [f"H-{number}" for number in sorted(rng.sample(range(100, 400), 5))]
    noon = start + 180
    rooms = [
        Room(names[0], heads[2] - rng.randint(1, 3), False, start + 130),
        Room(names[1], heads[1] + rng.randint(1, 4), True, noon),
        Room(names[2], heads[2] + rng.randint(1, 4), True, noon),
        Room(names[3], heads[3] + rng.randint(1, 6), True, noon),
        Room(names[4], heads[0] + rng.randint(1, 3), True, noon),
    ]
    homes = {"EX-1": names[4], "EX-2": names[1], "EX-3": names[2], "EX-4": names[3]}
    return Setup(
        now=datetime(2026, 5, 28, 7, 45, tzinfo=UTC),
        rows=(*exams, *(Register(f"EX-{n}", count) for n, count in enumerate(heads, 1)), *rooms),
        facts={"hall": rng.choice(["The Great Hall", "The Old Gymnasium", "The Aula"])},
        expected=Expected(
            required=(
                *(became(Exam, key, room=room) for key, room in homes.items()),
                *(made(Notice, exam=key) for key in homes),
            ),
            answer=handed_in(Answer(list(homes), list(homes.values()))),
        ),
    )


SCENARIO = Scenario(
    rules=Rules(
        name="education/exam_rooms",
        tables=(Exam, Register, Room, Notice),
        reads=(list_exams, read_register, list_rooms),
        writes=(move, post_notice),
        answer=Answer,
    ),
    title="Exams out of a closed hall",
    industry=Industry.EDUCATION,
    subdomain="Educational Technology",
    soc="11-9033.00",
    difficulty=1,
    trap=(
        "Head counts on the plan are from before late registration; the first room that fits is needed later."
    ),
    brief="""
        {hall} is closed this morning. Move each of its exams to another room at the same hour: a seat for
        every candidate registered today, free until the end of the longest extra time, step-free where the
        exam needs it, one exam to a room. Post one notice for each moved exam, then submit the moved exams
        and the rooms.
    """,
    generate=generate,
    plan=plan,
    always=(everyone_sits, extra_time_kept, step_free_kept),
    evidence=(looked("register_read", read_register, before=move, same={"exam": "exam"}),),
    near_misses=(
        NearMiss("counts heads on the plan", "always/everyone_sits", partial(relocate, registers=False)),
        NearMiss("takes the first room", "changes/Exam.EX-4", partial(relocate, ahead=False)),
        NearMiss("forgets extra time", "always/extra_time_kept", partial(relocate, extra=False)),
        NearMiss("tells nobody", "changes", partial(relocate, tell=False)),
    ),
)
