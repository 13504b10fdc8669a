"""The audit of a simulated world: what it says, beside what the executable world says on the same calls."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from practicum.agents.policies import HABITS, wander
from practicum.controller.statistics.wilson import Interval, wilson
from practicum.infra.environment import Environment, ToolCall, ToolResult
from practicum.infra.errors import WorldFault
from practicum.infra.world.differences import Kind
from practicum.infra.world.engine import WorldEnvironment
from practicum.infra.world.metamorphic import Violation, examine
from practicum.infra.world.shadow import Shadowed
from practicum.tasks.worlds import grade
from practicum.tasks.worlds.catalog import write_reference
from practicum.tasks.worlds.scenario import Scenario, Setup

POLICIES = ("oracle", "no-verify", "random-valid")
_RANDOM_CALLS = 24

Subject = Callable[[Scenario, Setup, int], Environment]
"""Opens the simulator under audit for one situation. Called anew for each policy."""


def executable(scenario: Scenario, setup: Setup, seed: int) -> Environment:
    """The true world itself: the control that must show nothing."""
    del seed
    return scenario.open(setup)


@dataclass(frozen=True, slots=True)
class Sitting:
    """One policy in one situation of the subject. `flipped` when the verdict is not the true world's."""

    world: str
    seed: int
    policy: str
    calls: int
    kinds: Mapping[Kind, int]
    flipped: bool
    fault: str = ""
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rate:
    """Calls that showed a kind of difference, per 1,000, with a Wilson interval."""

    found: int
    per_thousand: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Audit:
    """All of it. `violations` are what the subject contradicts itself in, without any reference."""

    subject: str
    sittings: tuple[Sitting, ...]
    violations: tuple[Violation, ...] = ()
    examined: int = 0
    rates: Mapping[Kind, Rate] = field(default_factory=dict)

    @property
    def calls(self) -> int:
        return sum(sitting.calls for sitting in self.sittings)

    @property
    def faults(self) -> int:
        return sum(bool(sitting.fault) for sitting in self.sittings)

    @property
    def flips(self) -> float:
        """Share of the sittings that did not fault whose verdict flipped."""
        sound = [sitting for sitting in self.sittings if not sitting.fault]
        return sum(sitting.flipped for sitting in sound) / len(sound) if sound else 0.0


def audit(
    name: str,
    subject: Subject,
    scenarios: Iterable[Scenario],
    seeds: Sequence[int],
    policies: Sequence[str] = POLICIES,
) -> Audit:
    """Let policies work in the subject, shadowed by the true world; then see where it contradicts itself."""
    sittings: list[Sitting] = []
    violations: list[Violation] = []
    examined = 0
    for scenario in scenarios:
        for seed in seeds:
            setup = scenario.setup(seed)
            sittings += [_sitting(scenario, setup, seed, policy, subject) for policy in policies]
            found = examine(scenario.rules, lambda: subject(scenario, setup, seed))  # noqa: B023 - used at once
            examined += found.checks
            violations += found.violations
    return Audit(name, tuple(sittings), tuple(violations), examined, rates(sittings))


def rates(sittings: Sequence[Sitting]) -> dict[Kind, Rate]:
    calls = sum(sitting.calls for sitting in sittings)
    totals = Counter[Kind]()
    for sitting in sittings:
        totals.update(sitting.kinds)
    if calls == 0:
        return {}
    return {
        kind: Rate(totals[kind], 1000 * totals[kind] / calls, _thousandfold(wilson(totals[kind], calls)))
        for kind in Kind
    }


def _thousandfold(interval: Interval) -> Interval:
    return Interval(1000 * interval.low, 1000 * interval.high)


def _sitting(scenario: Scenario, setup: Setup, seed: int, policy: str, subject: Subject) -> Sitting:
    plain = scenario.open(setup)
    _work(scenario, setup, seed, policy, plain.call)
    shadowed = Shadowed(subject(scenario, setup, seed), scenario.open(setup))
    fault = ""
    try:
        _work(scenario, setup, seed, policy, shadowed.call)
    except WorldFault as broken:
        fault = str(broken)
    kinds = Counter(found.kind for call in shadowed.observed for found in call.differences)
    flipped = _passed(scenario, setup, plain) != _passed(scenario, setup, shadowed.truth)
    return Sitting(
        world=scenario.rules.name,
        seed=seed,
        policy=policy,
        calls=len(shadowed.observed),
        kinds=kinds,
        flipped=flipped,
        fault=fault,
        examples=tuple(_examples(shadowed)),
    )


def _examples(shadowed: Shadowed) -> Iterable[str]:
    seen: set[Kind] = set()
    for call in shadowed.observed:
        for found in call.differences:
            if found.kind not in seen:
                seen.add(found.kind)
                yield f"{found.kind}: {call.tool}: {found.detail}"


def _work(
    scenario: Scenario, setup: Setup, seed: int, policy: str, call: Callable[[ToolCall], ToolResult]
) -> None:
    if policy == "random-valid":
        wander(scenario.rules.menu, call, seed, _RANDOM_CALLS)
        return
    habits = HABITS["careful" if policy == "oracle" else policy]
    scenario.work(call, setup.facts, habits, truthful=False)


def _passed(scenario: Scenario, setup: Setup, world: WorldEnvironment) -> bool:
    with tempfile.TemporaryDirectory(prefix="practicum-audit-") as name:
        outputs, reference = Path(name, "outputs"), Path(name, "reference")
        outputs.mkdir()
        reference.mkdir()
        world.collect(outputs)
        write_reference(scenario, setup, reference)
        return grade.verify(outputs, reference, {"scenario": scenario.rules.name}).passed
