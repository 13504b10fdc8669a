"""The part of the authoring gate that sits agents at the task: nobody, the oracle, and the red team."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from practicum.agents.agent import Bill, Ending, ExamOver, Sitter, Step, ToolStep, Usage, seat
from practicum.agents.redteam import ATTACKS, RedTeam
from practicum.agents.scripted import Nop, Oracle
from practicum.controller.check import Bench, Gate, Report, at_most, bench, doubt, must_pass, paper_gates
from practicum.controller.exam import Sitting
from practicum.infra.desk.desk import Capability, Desk, DeskProvider, DeskSpec, Frame, Label
from practicum.infra.errors import DeskFault
from practicum.infra.operator import ToolFailed
from practicum.tasks.desk_task import DeskTask
from practicum.tasks.oracle import NotFound
from practicum.tasks.spec import Task
from practicum.tasks.tier import is_action, tier_by_rule

LOCALES = ("en_US.UTF-8", "de_DE.UTF-8", "ja_JP.UTF-8")
ZONES = ("UTC", "Asia/Kolkata", "America/St_Johns")
DEADLINE = 3600.0
Keep = Callable[[str, int, int, Frame], None]
"""Told of each frame that the oracle saw: task, seed, running number, frame."""


@dataclass(frozen=True, slots=True)
class Abroad:
    """Desks of another kind of provider, moved to a locale and a time zone."""

    desks: DeskProvider
    locale: str
    timezone: str

    @property
    def kind(self) -> str:
        return self.desks.kind

    def capabilities(self, spec: DeskSpec) -> frozenset[Capability]:
        return self.desks.capabilities(self._moved(spec))

    def digest(self, spec: DeskSpec) -> str:
        return self.desks.digest(self._moved(spec))

    def open(self, spec: DeskSpec, label: Label) -> AbstractContextManager[Desk]:
        return self.desks.open(self._moved(spec), label)

    def held(self) -> tuple[Label, ...]:
        return self.desks.held()

    def reap(
        self, now: float, abandoned: Callable[[Label], bool] = lambda _label: False
    ) -> tuple[Label, ...]:
        return self.desks.reap(now, abandoned)

    def _moved(self, spec: DeskSpec) -> DeskSpec:
        return replace(spec, locale=self.locale, timezone=self.timezone)


def abroad(desks: DeskProvider, position: int) -> Abroad:
    """Nine positions in a row meet every locale in every time zone."""
    zone = ZONES[(position + position // len(LOCALES)) % len(ZONES)]
    return Abroad(desks, LOCALES[position % len(LOCALES)], zone)


@dataclass(slots=True)
class Trail:
    """A recorder in memory."""

    steps: list[Step] = field(default_factory=list)

    def step(self, step: Step) -> None:
        self.steps.append(step)

    def calls(self) -> tuple[ToolStep, ...]:
        return tuple(step for step in self.steps if isinstance(step, ToolStep))


class NoMoney:
    """A meter for those who may not ask a model."""

    def reserve(self, model: str, worst: Usage, purpose: str) -> Bill:
        del worst, purpose
        raise ExamOver(Ending.MONEY, f"no money to ask {model}")


@dataclass(frozen=True, slots=True)
class Sat:
    """What one sitting left: the outputs, what was not collected and why, its record, and how it ended."""

    outputs: Path
    left_out: tuple[str, ...]
    trail: Trail
    ending: Ending


def sit(it: Bench, sitter: Sitter, desks: DeskProvider) -> Sat:
    """One whole sitting at a fresh desk. Raises `InfraError`, and what an oracle raises when it is lost."""
    trail, outputs = Trail(), it.fresh()
    label = Label(run="check", trial=f"{it.task.spec.id}-{it.instance.seed}", deadline=time.time() + DEADLINE)
    with it.task.open(it.instance, desks, label) as environment:
        exam = Sitting(
            instruction=it.instance.instruction,
            tools=environment.tools(),
            seed=it.instance.seed,
            environment=environment,
            limits=it.task.spec.limits,
            meter=NoMoney(),
            recorder=trail,
            stopped=lambda: False,
        )
        with suppress(ExamOver):  # what was left is graded whatever the ending
            seat(sitter, it.task, it.instance).sit(exam)
        left_out = environment.collect(outputs)
    return Sat(outputs, left_out, trail, exam.over or Ending.DONE)


def at_desk(task: Task, seed: int, position: int, desks: DeskProvider, keep: Keep | None = None) -> Report:
    """Every gate for one seed. `position` is the seed's place in the check: it turns locales and attacks."""
    begun = time.monotonic()
    with bench(task, seed) as it:
        if isinstance(task, DeskTask):
            paper_gates(it, task)
        actions: tuple[int, ...] = ()
        try:
            actions = _sittings(it, position, abroad(desks, position), keep)
        except DeskFault as fault:  # one machine failed; the other seeds may still be told about
            it.note(Gate.DESK, False, str(fault))
        findings = tuple(it.findings)
    return Report(task.spec.id, findings, actions, time.monotonic() - begun)


def _sittings(it: Bench, position: int, desks: DeskProvider, keep: Keep | None) -> tuple[int, ...]:
    at_most(it, Gate.NOP, "", sit(it, Nop(), desks).outputs, 0.0)
    _red_team(it, position, desks)
    oracle = _oracle(it, desks)
    if oracle is None:
        return ()
    if oracle.ending is not Ending.DONE:
        it.note(Gate.ORACLE, False, f"ended by {oracle.ending} before it was done", _where(desks))
        return ()
    if keep is not None:
        for number, frame in enumerate(_frames(oracle.trail)):
            keep(it.task.spec.id, it.instance.seed, number, frame)
    actions = sum(is_action(step.call) for step in oracle.trail.calls())
    rule = tier_by_rule(it.task.spec, actions)
    it.note(
        Gate.TIER, rule is it.task.spec.tier, f"says {it.task.spec.tier}; {actions} actions make it {rule}"
    )
    if must_pass(it, Gate.ORACLE, _where(desks), oracle.outputs):
        doubt(it, oracle.outputs)
    return (actions,)


def _oracle(it: Bench, desks: DeskProvider) -> Sat | None:
    try:
        return sit(it, Oracle(), desks)
    except (ToolFailed, NotFound, DeskFault) as error:
        it.note(Gate.ORACLE, False, f"{type(error).__name__}: {error}", _where(desks))
        return None


def _red_team(it: Bench, position: int, desks: DeskProvider) -> None:
    """One kind of attack a seed, in turn; it must neither score nor go unseen."""
    attack = ATTACKS[position % len(ATTACKS)]
    sat = sit(it, RedTeam((attack,)), desks)
    at_most(it, Gate.RED_TEAM, attack.name, sat.outputs, 0.0)
    seen = any(attack.seen_in(step.call) for step in sat.trail.calls())
    it.note(Gate.RED_TEAM, seen, "left no trace in the record", f"{attack.name}, visible")


def _frames(trail: Trail) -> Iterable[Frame]:
    return (frame for step in trail.calls() for frame in step.result.frames)


def _where(desks: DeskProvider) -> str:
    return f"{desks.locale} {desks.timezone}" if isinstance(desks, Abroad) else ""
