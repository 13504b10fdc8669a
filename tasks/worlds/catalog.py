"""Worlds as tasks: the `Task` contract over a scenario, so that one controller runs both kinds of exam."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import msgspec

from practicum.infra.desk.desk import DeskProvider, Label
from practicum.infra.environment import Environment
from practicum.infra.operator import Operator
from practicum.tasks.canary import plant
from practicum.tasks.errors import TaskError
from practicum.tasks.spec import Benign, Instance, Kind, Limits, Mutant, Output, Params, TaskSpec, Tier
from practicum.tasks.worlds import grade, library
from practicum.tasks.worlds.scenario import Plan, Scenario, Setup
from practicum.verifiers.verdict import Verdict

VERIFIER = "practicum.tasks.worlds.grade:verify"
_ROOMS = Path(__file__).parents[2]
_SHARED = ("infra/faults", "infra/world", "tasks/worlds")
_OUTPUTS = (
    Output("state.json", "the state at the end"),
    Output("journal.jsonl", "every call with its answer and the state's hash around it"),
    Output("answer.json", "what was submitted"),
)


class OracleStuck(TaskError):
    """A scenario's own plan found no way on: the task is broken, or the environment was not clean."""


@cache
def catalog() -> Mapping[str, WorldTask]:
    """Every world by task id."""
    return {scenario.id: WorldTask(scenario) for scenario in library.scenarios().values()}


@dataclass(frozen=True)
class WorldTask:
    scenario: Scenario
    verifier: str = VERIFIER

    @cached_property
    def spec(self) -> TaskSpec:
        calls = _oracle_calls(self.scenario)
        return TaskSpec(
            id=self.scenario.id,
            kind=Kind.WORLD,
            title=self.scenario.title,
            tier=tier(calls),
            cluster=self.scenario.industry,
            subdomain=self.scenario.subdomain,
            soc=self.scenario.soc,
            limits=Limits(steps=max(60, 4 * calls), seconds=1800.0),
            outputs=_OUTPUTS,
            digest=_digest(self.scenario),
            difficulty=self.scenario.difficulty,
        )

    def instantiate(self, seed: int, folder: Path) -> Instance:
        setup = self.scenario.setup(seed)
        inputs, reference = folder / "inputs", folder / "reference"
        inputs.mkdir(parents=True)
        reference.mkdir()
        write_reference(self.scenario, setup, reference)
        plant(self.scenario.id, reference)
        return Instance(
            spec=self.spec,
            seed=seed,
            instruction=self.scenario.instruction(setup),
            params={"scenario": self.scenario.rules.name, "seed": seed, "facts": dict(setup.facts)},
            inputs=inputs,
            reference=reference,
        )

    @contextmanager
    def open(self, instance: Instance, desks: DeskProvider, label: Label) -> Iterator[Environment]:
        del desks, label  # a world is not a machine
        yield self.scenario.open(self.scenario.setup(instance.seed))

    def solve(self, hands: Operator, instance: Instance) -> None:
        """Raises `OracleStuck`."""
        stuck = self.scenario.work(hands.call, instance.params["facts"])
        if stuck is not None:
            raise OracleStuck(f"{self.scenario.id} seed {instance.seed}: {stuck}")

    def verify(self, outputs: Path, reference: Path, params: Params) -> Verdict:
        return grade.verify(outputs, reference, params)

    def mutants(self, outputs: Path, params: Params) -> Iterable[Mutant]:
        """The near misses: the same situation, worked by a plan that is nearly right."""
        del outputs
        for miss in self.scenario.near_misses:
            yield Mutant(miss.name, miss.fails, self._again(params, miss.plan))

    def benign(self, outputs: Path, params: Params) -> Iterable[Benign]:
        del outputs, params
        yield Benign("state indented, keys in another order", _rewrite_state)
        yield Benign("blank line at the end of the journal", _lengthen_journal)

    def _again(self, params: Params, plan: Plan) -> Callable[[Path], None]:
        def apply(folder: Path) -> None:
            world = self.scenario.open(self.scenario.setup(params["seed"]))
            self.scenario.work(world.call, params["facts"], plan=plan)
            for path in folder.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            world.collect(folder)

        return apply


def tier(calls: int) -> Tier:
    """By the oracle's own trajectory: at most 15 calls are near-term, 60 and more the last exam."""
    if calls <= 15:
        return Tier.NEAR_TERM
    return Tier.LAST_EXAM if calls >= 60 else Tier.FULL_SPECTRUM


def write_reference(scenario: Scenario, setup: Setup, reference: Path) -> None:
    """What grading needs to know of this instance, and no agent may see."""
    initial = scenario.open(setup).snapshot()["tables"]
    (reference / grade.EXPECTED).write_bytes(msgspec.json.encode(setup.expected))
    (reference / grade.INITIAL).write_bytes(msgspec.json.encode(initial))


def _oracle_calls(scenario: Scenario) -> int:
    setup = scenario.setup(0)
    world = scenario.open(setup)
    scenario.work(world.call, setup.facts)
    return len(world.entries)


def _digest(scenario: Scenario) -> str:
    """Over the scenario and all that it is run and graded with, other scenarios left out."""
    total = hashlib.sha256()
    shared = (path for folder in _SHARED for path in sorted((_ROOMS / folder).glob("*.py")))
    for path in (*shared, library.source(scenario.rules.name)):
        total.update(f"{path.relative_to(_ROOMS)}\0".encode() + path.read_bytes())
    return total.hexdigest()


def _rewrite_state(folder: Path) -> None:
    path = folder / "state.json"
    state = msgspec.json.decode(path.read_bytes())
    turned = {key: state[key] for key in sorted(state, reverse=True)}
    path.write_bytes(msgspec.json.format(msgspec.json.encode(turned), indent=4))


def _lengthen_journal(folder: Path) -> None:
    path = folder / "journal.jsonl"
    path.write_bytes(path.read_bytes() + b"\n")
