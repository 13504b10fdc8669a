"""Worlds that a model plays under the engine's ledger, as tasks of a run: `worlds/NAME@ledger:MODEL`.

The endpoint is where the environment says (`OPENAI_BASE_URL`, `OPENAI_API_KEY`). The model is paid from the
trial's own meter, under the purpose `world`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property

from practicum.agents.agent import Meter
from practicum.controller.errors import BadRequest
from practicum.controller.lent import Lent
from practicum.controller.subjects import lend
from practicum.infra.desk.desk import DeskProvider, Label
from practicum.infra.environment import JSON, Environment
from practicum.infra.errors import WorldFault
from practicum.infra.world.backends.chat import Said
from practicum.infra.world.backends.ledger import Ledger
from practicum.infra.world.engine import WorldEnvironment
from practicum.tasks.spec import Instance, Task, TaskSpec
from practicum.tasks.worlds.catalog import VERIFIER, WorldTask

PLAYER = "ledger"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A model that nobody pays yet."""

    model: str

    def paid_by(self, meter: Meter) -> Lent:
        return lend(self.model, meter, constrained=True, max_output=4096)

    def __call__(self, messages: Sequence[Said], schema: JSON) -> str:
        raise WorldFault(f"{self.model} plays this world, and no meter pays for it")


@dataclass(frozen=True)
class PlayedTask(WorldTask):
    """The same questions and the same grading; another world answers."""

    verifier: str = VERIFIER
    model: str = ""

    @cached_property
    def spec(self) -> TaskSpec:
        true = WorldTask(self.scenario).spec
        digest = hashlib.sha256(f"{true.digest}\0{PLAYER}\0{self.model}".encode()).hexdigest()
        return replace(true, id=f"{true.id}@{PLAYER}:{self.model}", digest=digest)

    @contextmanager
    def open(self, instance: Instance, desks: DeskProvider, label: Label) -> Iterator[Environment]:
        del desks, label
        setup, rules = self.scenario.setup(instance.seed), self.scenario.rules
        tables = rules.load(self.scenario.open(setup).snapshot()["tables"])
        yield WorldEnvironment(
            rules,
            tables,
            operations=lambda: self.scenario.operations(setup),
            backend=Ledger(rules, Wanted(self.model)),
        )


def played(task: Task, player: str) -> PlayedTask:
    """Raises `BadRequest` for what is no world, or a player that cannot be graded by its state."""
    kind, _, model = player.partition(":")
    if not isinstance(task, WorldTask):
        raise BadRequest(f"{task.spec.id} is no world, so no model can play it")
    if kind != PLAYER or not model:
        raise BadRequest(f"a world is played by {PLAYER}:MODEL, not {player!r}")
    return PlayedTask(task.scenario, model=model)
