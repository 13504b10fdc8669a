"""The contract of a task: what it asks, what it needs, and how it makes, solves, grades and doubts itself.

A task is *seeded*: `generate` makes one instance from a random stream. The reference stays on the host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from random import Random
from typing import Any, Protocol

from practicum.infra.desk.desk import Capability, Desk, DeskProvider, DeskSpec, Label, Network
from practicum.infra.environment import Environment
from practicum.infra.operator import Operator
from practicum.verifiers.verdict import Verdict

Params = Mapping[str, Any]
"""JSON-serialisable facts of one instance, recorded with it and handed to every function of its task."""


class Kind(StrEnum):
    DESK = "desk"
    WORLD = "world"


class Tier(StrEnum):
    NEAR_TERM = "near-term"
    FULL_SPECTRUM = "full-spectrum"
    LAST_EXAM = "last-exam"


class Surface(StrEnum):
    """A family of desk tools that a task may offer its agent."""

    COMPUTER = "computer"
    BASH = "bash"
    FILES = "files"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one trial may use; `None` is unlimited, 0 means none at all."""

    steps: int | None = 100
    seconds: float | None = 1800.0
    tokens: int | None = None
    nano_dollars: int | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """One deliverable, relative to the desk's output folder.

    `source` is the absolute path it is collected from when it is not the agent who writes it, but a
    service of the house: a place that the agent cannot touch.
    """

    path: str
    description: str = ""
    max_bytes: int = 64 << 20
    source: str = ""


@dataclass(frozen=True, slots=True)
class DeskNeeds:
    """What a desk task wants of its machine; memory in MiB."""

    image: str
    surfaces: frozenset[Surface] = frozenset(Surface)
    capabilities: frozenset[Capability] = frozenset()
    network: Network = Network.NONE
    width: int = 1280
    height: int = 800
    memory: int = 2048
    software: tuple[str, ...] = ()

    def desk_spec(self) -> DeskSpec:
        """The machine to ask a provider for."""
        return DeskSpec(
            image=self.image,
            width=self.width,
            height=self.height,
            network=self.network,
            memory=self.memory,
        )


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """Everything about a task that is known without making an instance.

    `id` is `cluster/name` for desks, `worlds/industry/name` for worlds. `soc` is an O*NET/SOC 2018 code.
    `digest` covers the whole folder of the task, so that any change of it is another task.
    """

    id: str
    kind: Kind
    title: str
    tier: Tier
    cluster: str
    subdomain: str
    soc: str
    limits: Limits
    outputs: tuple[Output, ...]
    digest: str
    desk: DeskNeeds | None = None
    difficulty: int = 1


@dataclass(frozen=True, slots=True)
class Instance:
    """One seeded question, generated on the host. `inputs` goes to the desk, `reference` never does."""

    spec: TaskSpec
    seed: int
    instruction: str
    params: Params = field(hash=False)
    inputs: Path
    reference: Path


@dataclass(frozen=True, slots=True)
class Mutant:
    """An output made wrong in one fact. `fails` names the check that must fail because of it."""

    name: str
    fails: str
    apply: Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class Benign:
    """An output written differently and still right."""

    name: str
    apply: Callable[[Path], None]


class Task(Protocol):
    """A task as the rest of the house sees it.

    `verifier` names what the jail imports and calls, as `module:function`, with `verify`'s signature.
    """

    @property
    def spec(self) -> TaskSpec: ...

    @property
    def verifier(self) -> str: ...

    def instantiate(self, seed: int, folder: Path) -> Instance:
        """Make the instance under the empty `folder`; equal seeds give equal bytes and params."""
        ...

    def open(
        self, instance: Instance, desks: DeskProvider, label: Label
    ) -> AbstractContextManager[Environment]:
        """The environment of one trial, staged and ready; a world needs no desk and ignores `desks`."""
        ...

    def solve(self, hands: Operator, instance: Instance) -> None:
        """The oracle, through the same tools an agent has."""
        ...

    def verify(self, outputs: Path, reference: Path, params: Params) -> Verdict:
        """Pure; deterministic; tolerates hostile and missing files. Runs in the jail."""
        ...

    def mutants(self, outputs: Path, params: Params) -> Iterable[Mutant]: ...

    def benign(self, outputs: Path, params: Params) -> Iterable[Benign]: ...


class DeskTaskModule(Protocol):
    """What the `task.py` of a desk task defines. `stage`, `shown` and `secrets` are optional."""

    def generate(self, rng: Random, inputs: Path, reference: Path) -> Params:
        """Write the inputs and the reference; return the params.

        `params["say"]` maps each placeholder of the instruction to its text, all of them and no others.
        """
        ...

    def facts(self, params: Params) -> Mapping[str, str]:
        """Each fact that is graded, by name, in the words in which the agent can read it."""
        ...

    def shown(self, params: Params) -> str:
        """What the desk shows beyond the instruction and the inputs: the text of a page, of a window."""
        ...

    def secrets(self, params: Params) -> Iterable[str]:
        """Answers that must stand nowhere in the inputs or the instruction."""
        ...

    def ideal(self, outputs: Path, reference: Path, params: Params) -> None:
        """Make a right output on the host, without a desk: the base of mutants and benign variants."""
        ...

    def stage(self, desk: Desk, inputs: Path, params: Params) -> None:
        """Prepare the desk beyond copying the inputs to its input folder: start services, open windows."""
        ...

    def solve(self, hands: Operator, params: Params) -> None: ...

    def verify(self, outputs: Path, reference: Path, params: Params) -> Verdict: ...

    def mutants(self, outputs: Path, params: Params) -> Iterable[Mutant]: ...

    def benign(self, outputs: Path, params: Params) -> Iterable[Benign]: ...
