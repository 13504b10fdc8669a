"""Release of a bioanalytical run: calibration, quality controls, and which results may be reported.

Controls must hold over the run and at each level; a result outside the calibrated range is not a result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from random import Random
from typing import Annotated

from msgspec import Meta

from practicum.infra.world.rules import Rules
from practicum.infra.world.units import Percent, Ratio
from practicum.infra.world.world import View, World
from practicum.tasks.worlds.evidence import looked
from practicum.tasks.worlds.expected import Expected, became, handed_in
from practicum.tasks.worlds.scenario import Industry, NearMiss, Scenario, Setup
from practicum.tasks.worlds.worker import Worker

Nanograms = Annotated[float, Meta(description="nanograms per millilitre")]


class State(StrEnum):
    OPEN = "open"
    REPORTED = "reported"
    REPEAT = "repeat"


@dataclass(frozen=True, slots=True)
class Run:
    id: str
    accepted: bool
    decided: bool


@dataclass(frozen=True, slots=True)
class Standard:
    """A calibration standard: nominal and back-calculated concentration."""

    id: str
    run: str
    nominal: Nanograms
    found: Nanograms


@dataclass(frozen=True, slots=True)
class Control:
    """A quality control sample."""

    id: str
    run: str
    level: str
    nominal: Nanograms
    found: Nanograms


@dataclass(frozen=True, slots=True)
class Sample:
    """A study sample as measured, before any dilution is undone; `result` is 0 until it is reported."""

    id: str
    run: str
    measured: Nanograms
    standard_recovery: Percent
    state: State
    result: Nanograms


@dataclass(frozen=True, slots=True)
class Dilution:
    """The bench sheet of a sample: by how much it was diluted before it was measured."""

    id: str
    factor: Ratio


@dataclass(frozen=True, slots=True)
class Answer:
    """Report the release.

    accepted: ids of the runs that are accepted
    reported: ids of the samples with a reported result
    repeats: ids of the samples that are measured again
    """

    accepted: list[str]
    reported: list[str]
    repeats: list[str]


def list_runs(world: View) -> list[Run]:
    """List the runs that wait for a decision."""
    return world.all(Run)


def list_standards(world: View, run: str) -> list[Standard]:
    """List the calibration standards of a run.

    run: id of the run
    """
    world.get(Run, run)
    return [item for item in world.all(Standard) if item.run == run]


def list_controls(world: View, run: str) -> list[Control]:
    """List the quality controls of a run.

    run: id of the run
    """
    world.get(Run, run)
    return [item for item in world.all(Control) if item.run == run]


def list_samples(world: View, run: str) -> list[Sample]:
    """List the study samples of a run.

    run: id of the run
    """
    world.get(Run, run)
    return [item for item in world.all(Sample) if item.run == run]


def read_bench_sheet(world: View, sample: str) -> Dilution:
    """Read the bench sheet of a sample.

    sample: id of the sample
    """
    return world.get(Dilution, sample)


def decide_run(world: World, run: str, accepted: bool) -> Run:
    """Accept a run or reject it, for good.

    run: id of the run
    accepted: whether it is accepted
    """
    item = world.get(Run, run)
    if item.decided:
        world.refuse(f"{run} is decided")
    return world.put(replace(item, accepted=accepted, decided=True))


def report_result(world: World, sample: str, result: Nanograms) -> Sample:
    """Report the concentration of a sample of an accepted run.

    sample: id of the sample
    result: in the undiluted sample
    """
    item = world.get(Sample, sample)
    if not world.get(Run, item.run).accepted:
        world.refuse(f"{item.run} is not accepted")
    if item.state is not State.OPEN:
        world.refuse(f"{sample} is settled")
    return world.put(replace(item, state=State.REPORTED, result=result))


def order_repeat(world: World, sample: str) -> Sample:
    """Have a sample measured again.

    sample: id of the sample
    """
    item = world.get(Sample, sample)
    if item.state is not State.OPEN:
        world.refuse(f"{sample} is settled")
    return world.put(replace(item, state=State.REPEAT))


def within(item: Standard | Control, percent: float) -> bool:
    return abs(item.found - item.nominal) <= percent / 100 * item.nominal + 1e-9


def calibrated(standards: Sequence[Standard]) -> bool:
    """At least three quarters, and six, of the standards within 15 %, the lowest within 20 %."""
    lowest = min(item.nominal for item in standards)
    good = sum(within(item, 20 if item.nominal == lowest else 15) for item in standards)
    return good >= 6 and good * 4 >= len(standards) * 3


def controlled(controls: Sequence[Control], *, by_level: bool = True) -> bool:
    """Two thirds of the controls within 15 %, and half of those at each level."""
    levels = {item.level for item in controls}
    if by_level:
        for level in levels:
            same = [item for item in controls if item.level == level]
            if sum(within(item, 15) for item in same) * 2 < len(same):
                return False
    return sum(within(item, 15) for item in controls) * 3 >= len(controls) * 2


def reportable(sample: Sample, standards: Sequence[Standard]) -> bool:
    """Measured inside the calibrated range, with an internal standard between half and one and a half."""
    inside = min(s.nominal for s in standards) <= sample.measured <= max(s.nominal for s in standards)
    return inside and 50 <= sample.standard_recovery <= 150


def release(
    me: Worker, *, sheets: bool = True, by_level: bool = True, in_range: bool = True, curves: bool = True
) -> None:
    """`sheets` undoes dilutions, `by_level` judges controls at each level, the others what they name."""
    accepted, reported, repeats = list[str](), list[str](), list[str]()
    for run in me.ask(list_runs):
        standards = me.ask(list_standards, run=run.id)
        controls = me.ask(list_controls, run=run.id)
        good = controlled(controls, by_level=by_level) and (calibrated(standards) or not curves)
        me.do(decide_run, run=run.id, accepted=good)
        accepted += [run.id] if good else []
        for sample in me.ask(list_samples, run=run.id):
            if good and (reportable(sample, standards) or not in_range):
                factor = me.ask(read_bench_sheet, sample=sample.id).factor if sheets else 1.0
                me.do(report_result, sample=sample.id, result=round(sample.measured * factor, 1))
                reported.append(sample.id)
            else:
                me.do(order_repeat, sample=sample.id)
                repeats.append(sample.id)
    me.submit(Answer(accepted, reported, repeats))


def plan(me: Worker) -> None:
    release(me, sheets=me.habits.verify, by_level=me.habits.foresight)


NOMINAL = (1.0, 2.0, 5.0, 10.0, 50.0, 100.0, 400.0, 500.0)
LEVELS = (("low", 3.0), ("middle", 60.0), ("high", 380.0))


def generate(rng: Random) -> Setup:
    """Run 1 is good, run 2 fails both low controls and no others, run 3 has a curve that does not hold."""
    runs = [f"RUN-{number}" for number in sorted(rng.sample(range(100, 999), 3))]
    standards, controls = list[Standard](), list[Control]()
    samples, sheets = list[Sample](), list[Dilution]()
    for number, run in enumerate(runs):
        bad = rng.sample(range(1, 8), 3) if number == 2 else []
        for at, nominal in enumerate(NOMINAL):
            found = _near(rng, nominal, 22, 30) if at in bad else _near(rng, nominal, 0, 12)
            standards.append(Standard(f"{run}/S{at + 1}", run, nominal, found))
        for at in range(6):
            level, nominal = LEVELS[at // 2]
            off = number == 1 and level == "low"
            found = _near(rng, nominal, 18, 26) if off else _near(rng, nominal, 0, 12)
            controls.append(Control(f"{run}/Q{at + 1}", run, level, nominal, found))
        for at in range(4):
            key = f"{run}/P{at + 1}"
            measured = round(rng.uniform(520, 640), 1) if at == 1 else round(rng.uniform(4, 480), 1)
            recovery = float(rng.randint(20, 45) if at == 2 else rng.randint(85, 112))
            samples.append(Sample(key, run, measured, recovery, State.OPEN, 0.0))
            sheets.append(Dilution(key, float(rng.choice([5, 10])) if at == 3 else 1.0))
    settled = {
        s.id: round(s.measured * sheet.factor, 1)
        for s, sheet in zip(samples, sheets, strict=True)
        if s.run == runs[0] and reportable(s, standards[:8])
    }
    repeats = [sample.id for sample in samples if sample.id not in settled]
    return Setup(
        now=datetime(2026, 4, 8, 16, 0, tzinfo=UTC),
        rows=(*(Run(run, False, False) for run in runs), *standards, *controls, *samples, *sheets),
        facts={},
        expected=Expected(
            required=(
                became(Run, runs[0], accepted=True, decided=True),
                *(became(Run, run, decided=True) for run in runs[1:]),
                *(
                    became(Sample, key, {"result": 0.11}, state=State.REPORTED, result=value)
                    for key, value in settled.items()
                ),
                *(became(Sample, key, state=State.REPEAT) for key in repeats),
            ),
            answer=handed_in(Answer([runs[0]], list(settled), repeats)),
        ),
    )


def _near(rng: Random, nominal: float, least: int, most: int) -> float:
    """A value between so many percent off, to either side."""
    return round(nominal * (1 + rng.choice([-1, 1]) * rng.uniform(least, most) / 100), 3)


SCENARIO = Scenario(
    rules=Rules(
        name="science/assay_release",
        tables=(Run, Standard, Control, Sample, Dilution),
        reads=(list_runs, list_standards, list_controls, list_samples, read_bench_sheet),
        writes=(decide_run, report_result, order_repeat),
        answer=Answer,
    ),
    title="Release of bioanalytical runs",
    industry=Industry.SCIENCE,
    subdomain="Chemistry & Materials Computation",
    soc="19-2031.00",
    difficulty=2,
    trap="Four of six controls hold although one level failed; a dilution stands only on the bench sheet.",
    brief="""
        Decide every run and settle every sample. A run is accepted if at least 75 % and at least six of its
        standards are within 15 % of nominal (20 % for the lowest one), and at least two thirds of its
        controls, and half of those at each level, are within 15 %. In an accepted run report a sample if it
        was measured within the range of the standards, limits included, and its internal standard recovered
        50 to 150 %: what was measured times the dilution of its bench sheet, one decimal. All other samples
        are measured again. Submit accepted runs, reported samples and repeats.
    """,
    generate=generate,
    plan=plan,
    evidence=(
        looked("controls_seen", list_controls, before=decide_run, same={"run": "run"}),
        looked("sheet_read", read_bench_sheet, before=report_result, same={"sample": "sample"}),
    ),
    near_misses=(
        NearMiss("reads no bench sheet", "evidence/sheet_read", partial(release, sheets=False)),
        NearMiss("adds the levels up", "answer/accepted", partial(release, by_level=False)),
        NearMiss("reports beyond the range", "answer/reported", partial(release, in_range=False)),
        NearMiss("does not check the curve", "answer/accepted", partial(release, curves=False)),
    ),
    sources=("ICH M10 (2022), Bioanalytical Method Validation and Study Sample Analysis, section 3.3.2",),
)
