"""A desk task: the `Task` contract over the functions of one `task.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from random import Random

from practicum.infra.desk.desk import Account, Desk, DeskProvider, Label
from practicum.infra.desk.tools import INPUTS, OUTPUTS, Deliverable, DeskEnvironment, DeskTool
from practicum.infra.environment import Environment
from practicum.infra.errors import DeskFault, Stage
from practicum.infra.operator import Operator
from practicum.tasks.canary import plant
from practicum.tasks.seeds import stream
from practicum.tasks.spec import Benign, DeskNeeds, Instance, Mutant, Params, Surface, TaskSpec
from practicum.tasks.template import fill
from practicum.verifiers.verdict import Verdict

SURFACE_TOOLS: Mapping[Surface, frozenset[DeskTool]] = {
    Surface.COMPUTER: frozenset({DeskTool.COMPUTER}),
    Surface.BASH: frozenset({DeskTool.BASH}),
    Surface.FILES: frozenset({DeskTool.READ_FILE, DeskTool.WRITE_FILE}),
}


@dataclass(frozen=True, slots=True)
class TaskFunctions:
    """What a `task.py` defines, typed; see `tasks.spec.DeskTaskModule` for what each must do."""

    generate: Callable[[Random, Path, Path], Params]
    solve: Callable[[Operator, Params], None]
    verify: Callable[[Path, Path, Params], Verdict]
    mutants: Callable[[Path, Params], Iterable[Mutant]]
    benign: Callable[[Path, Params], Iterable[Benign]]
    facts: Callable[[Params], Mapping[str, str]]
    ideal: Callable[[Path, Path, Params], None]
    stage: Callable[[Desk, Path, Params], None] | None = None
    shown: Callable[[Params], str] | None = None
    secrets: Callable[[Params], Iterable[str]] | None = None


@dataclass(frozen=True, slots=True)
class DeskTask:
    """One task folder, read. `template` is its instruction before the facts are filled in.

    `search_path` is where the jail finds the verifier of a task that is not in the house yet.
    """

    spec: TaskSpec
    verifier: str
    template: str
    folder: Path
    functions: TaskFunctions
    search_path: tuple[Path, ...] = ()

    @property
    def needs(self) -> DeskNeeds:
        if self.spec.desk is None:
            raise ValueError(f"{self.spec.id}: a desk task without desk needs")
        return self.spec.desk

    def instantiate(self, seed: int, folder: Path) -> Instance:
        inputs, reference = folder / "inputs", folder / "reference"
        inputs.mkdir(parents=True)
        reference.mkdir()
        params = self.functions.generate(stream(self.spec.id, seed), inputs, reference)
        plant(self.spec.id, inputs, reference)
        return Instance(
            spec=self.spec,
            seed=seed,
            instruction=fill(self.template, params["say"]),
            params=params,
            inputs=inputs,
            reference=reference,
        )

    @contextmanager
    def open(self, instance: Instance, desks: DeskProvider, label: Label) -> Iterator[Environment]:
        with desks.open(self.needs.desk_spec(), label) as desk:
            self.stage(desk, instance)
            yield DeskEnvironment(desk, self.offered(), self.deliverables())

    def stage(self, desk: Desk, instance: Instance) -> None:
        """Make a ready desk this task's desk: its inputs, an empty output folder, its windows open."""
        desk.put(instance.inputs, INPUTS, account=Account.AGENT)
        made = desk.run(["mkdir", "-p", str(OUTPUTS)], account=Account.AGENT)
        if made.exit_code != 0:
            raise DeskFault(Stage.STAGING, "no output folder", logs=made.stderr.decode("utf-8", "replace"))
        if self.functions.stage is not None:
            self.functions.stage(desk, instance.inputs, instance.params)

    def offered(self) -> frozenset[DeskTool]:
        return frozenset().union(*(SURFACE_TOOLS[surface] for surface in self.needs.surfaces))

    def deliverables(self) -> tuple[Deliverable, ...]:
        return tuple(
            Deliverable(
                PurePosixPath(output.path),
                output.max_bytes,
                PurePosixPath(output.source) if output.source else None,
            )
            for output in self.spec.outputs
        )

    def solve(self, hands: Operator, instance: Instance) -> None:
        self.functions.solve(hands, instance.params)

    def verify(self, outputs: Path, reference: Path, params: Params) -> Verdict:
        return self.functions.verify(outputs, reference, params)

    def mutants(self, outputs: Path, params: Params) -> Iterable[Mutant]:
        return self.functions.mutants(outputs, params)

    def benign(self, outputs: Path, params: Params) -> Iterable[Benign]:
        return self.functions.benign(outputs, params)
