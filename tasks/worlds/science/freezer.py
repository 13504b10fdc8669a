"""Freezer failure: sample boxes to other freezers, by how cold each must stay and how cold it really is.

Scanned out, carried, scanned in: a box is under way for a few minutes, and only one at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from random import Random

from practicum.infra.world.rules import Rules
from practicum.infra.world.units import Celsius, Count
from practicum.infra.world.world import View, World
from practicum.tasks.worlds.evidence import looked
from practicum.tasks.worlds.expected import Expected, became, handed_in, made, may
from practicum.tasks.worlds.scenario import Industry, NearMiss, Scenario, Setup
from practicum.tasks.worlds.worker import Worker

CARRIED = "carried"
BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Box:
    """A box of samples. `warmest` is the highest temperature it bears; the rank says whom it would hurt."""

    id: str
    warmest: Celsius
    rank: Count
    place: str


@dataclass(frozen=True, slots=True)
class Freezer:
    """A freezer with its set point; `slots` is the number of free places."""

    id: str
    set_point: Celsius
    slots: Count


@dataclass(frozen=True, slots=True)
class Probe:
    """An independent probe in a freezer."""

    id: str
    temperature: Celsius


@dataclass(frozen=True, slots=True)
class Custody:
    """One entry of the chain of custody."""

    id: str
    box: str
    freezer: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Report the rescue.

    saved: ids of the boxes that are in a freezer cold enough
    lost: ids of the boxes for which there was no place
    """

    saved: list[str]
    lost: list[str]


def list_boxes(world: View) -> list[Box]:
    """List the boxes of the broken freezer; `place` is where each is now."""
    return world.all(Box)


def list_freezers(world: View) -> list[Freezer]:
    """List the freezers that work, with their set points and free places."""
    return world.all(Freezer)


def read_probe(world: View, freezer: str) -> Probe:
    """Read the probe in a freezer.

    freezer: id of the freezer
    """
    return world.get(Probe, freezer)


def scan_out(world: World, box: str) -> Box:
    """Take a box out of the broken freezer; carry one box at a time.

    box: id of the box
    """
    item = world.get(Box, box)
    if item.place != BROKEN:
        world.refuse(f"{box} is not in the broken freezer")
    if any(other.place == CARRIED for other in world.all(Box)):
        world.refuse("there is a box in your hands")
    return world.put(replace(item, place=CARRIED))


def scan_in(world: World, box: str, freezer: str) -> Custody:
    """Put the carried box into a freezer; takes 3 minutes and writes the chain of custody.

    box: id of the box
    freezer: id of a freezer with a free place
    """
    item, target = world.get(Box, box), world.get(Freezer, freezer)
    if item.place != CARRIED:
        world.refuse(f"{box} is not in your hands")
    if target.slots == 0:
        world.refuse(f"{freezer} is full")
    world.put(replace(item, place=freezer))
    world.put(replace(target, slots=target.slots - 1))
    world.advance(3)
    return world.put(Custody(world.fresh(Custody, "CC"), box, freezer))


def cold_enough(world: View) -> str | None:
    warm = [
        box.id
        for box in world.all(Box)
        if box.place not in (BROKEN, CARRIED) and world.get(Probe, box.place).temperature > box.warmest
    ]
    return f"in a freezer that is too warm: {warm}" if warm else None


def nothing_in_hand(world: View) -> str | None:
    held = [box.id for box in world.all(Box) if box.place == CARRIED]
    return f"left out of any freezer: {held}" if held else None


def rescue_order(boxes: Sequence[Box]) -> list[Box]:
    """Irreplaceable boxes first."""
    return sorted(boxes, key=lambda box: (box.rank, box.id))


def assign(
    boxes: Sequence[Box], freezers: Sequence[Freezer], cold: Mapping[str, float], *, warmest: bool = True
) -> dict[str, str]:
    """Each box into the warmest freezer that is cold enough, or without `warmest` into the first such."""
    free = Counter({freezer.id: freezer.slots for freezer in freezers})
    homes = {}
    for box in boxes:
        fit = [f.id for f in freezers if free[f.id] and cold[f.id] <= box.warmest]
        if fit:
            home = max(fit, key=lambda key: cold[key]) if warmest else fit[0]
            free[home] -= 1
            homes[box.id] = home
    return homes


def rescue(
    me: Worker, *, probes: bool = True, ahead: bool = True, ranks: bool = True, limits: bool = True
) -> None:
    """`probes` trusts no set point, `ahead` keeps cold places for those in need, `ranks` their order."""
    boxes, freezers = me.ask(list_boxes), me.ask(list_freezers)
    cold = {freezer.id: freezer.set_point for freezer in freezers}
    if probes:
        cold = {freezer.id: me.ask(read_probe, freezer=freezer.id).temperature for freezer in freezers}
    order = rescue_order(boxes) if ranks else list(boxes)
    asked = order if limits else [replace(box, warmest=0.0) for box in order]
    homes = assign(asked, freezers, cold, warmest=ahead)
    for box in order:
        if box.id in homes:
            me.do(scan_out, box=box.id)
            me.do(scan_in, box=box.id, freezer=homes[box.id])
    me.submit(Answer(list(homes), [box.id for box in boxes if box.id not in homes]))


def plan(me: Worker) -> None:
    rescue(me, probes=me.habits.verify, ahead=me.habits.foresight)


def generate(rng: Random) -> Setup:
    """Deep-cold places are one too few; the first freezer in the list is deep-cold, and one deep-cold freezer
    is much warmer than its set point. The box that must stay behind has the last rank."""
    deep, mild = -65.0, -15.0
    kinds = [mild, deep, mild, deep, mild, deep]
    ranks = [2, 1, 3, 2, 3, 9]
    names = [f"BX-{number}" for number in sorted(rng.sample(range(100, 999), 6))]
    swap = rng.random() < 0.5
    order = [5, 1, 0, 3, 2, 4] if swap else [0, 5, 2, 1, 4, 3]
    boxes = [Box(name, kinds[at], ranks[at], BROKEN) for name, at in zip(names, order, strict=True)]
    labels = [f"FZ-{number}" for number in sorted(rng.sample(range(10, 99), 3))]
    freezers = [Freezer(labels[0], -80.0, 2), Freezer(labels[1], -80.0, 3), Freezer(labels[2], -20.0, 3)]
    probes = [
        Probe(labels[0], -78.0 + rng.randint(0, 3)), Probe(labels[1], -50.0 + rng.randint(0, 9)),
        Probe(labels[2], -21.0 + rng.randint(0, 3)),
    ]  # fmt: skip
    cold = {probe.id: probe.temperature for probe in probes}
    homes = assign(rescue_order(boxes), freezers, cold)
    lost = [box.id for box in boxes if box.id not in homes]
    return Setup(
        now=datetime(2026, 12, 1, 23, 10, tzinfo=UTC),
        rows=(*boxes, *freezers, *probes),
        facts={},
        expected=Expected(
            required=(
                *(became(Box, key, place=home) for key, home in homes.items()),
                *(made(Custody, box=key, freezer=home) for key, home in homes.items()),
            ),
            allowed=(may(Freezer, "*", "slots"),),
            answer=handed_in(Answer(list(homes), lost)),
        ),
    )


SCENARIO = Scenario(
    rules=Rules(
        name="science/freezer",
        tables=(Box, Freezer, Probe, Custody),
        reads=(list_boxes, list_freezers, read_probe),
        writes=(scan_out, scan_in),
        answer=Answer,
    ),
    title="Samples out of a broken freezer",
    industry=Industry.SCIENCE,
    subdomain="Systems & Microbial Biology",
    soc="19-4021.00",
    difficulty=2,
    trap="One freezer is far warmer than its set point, so the really cold places are too few for everybody.",
    brief="""
        A freezer failed. Carry its boxes to freezers whose probe shows that they are cold enough for the
        box. Take boxes by rank, 1 first, equal ranks by id; each goes to the warmest freezer that is cold
        enough for it and has a place, so that colder places stay free. A box for which there is no such
        place stays where it is. Scan each box out and in, one at a time. Then submit which boxes are saved
        and which are lost.
    """,
    generate=generate,
    plan=plan,
    always=(cold_enough,),
    at_end=(nothing_in_hand,),
    evidence=(looked("probe_read", read_probe, before=scan_in, same={"freezer": "freezer"}),),
    near_misses=(
        NearMiss("believes the set point", "always/cold_enough", partial(rescue, probes=False)),
        NearMiss("fills the coldest first", "changes", partial(rescue, ahead=False)),
        NearMiss("takes boxes as they stand", "answer/lost", partial(rescue, ranks=False)),
        NearMiss("ignores what boxes bear", "always/cold_enough", partial(rescue, limits=False)),
    ),
)
