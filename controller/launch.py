"""From a run file to a run that may start: select, plan, price, write down."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import msgspec

from practicum import __version__
from practicum.agents.agent import Sitter
from practicum.controller import runfile
from practicum.controller.errors import BadRecord, BadRequest, Impossible
from practicum.controller.files import now, write_json
from practicum.controller.house import House, open_house
from practicum.controller.ledger import RUN, Ledger, Unit
from practicum.controller.plan import Matrix, Plan, environment_of, plan
from practicum.controller.prices import PriceTable, dollars
from practicum.controller.records import FORMAT
from practicum.controller.runfile import Caps, RunFile
from practicum.controller.store import PlanRecord, Run
from practicum.infra.desk.desk import DeskProvider, DeskSpec
from practicum.tasks.seeds import Practice, Sitting, parse_numbers, private_sitting
from practicum.tasks.spec import Task, TaskSpec

HOUR_MS = 3_600_000


@runtime_checkable
class Metered(Protocol):
    """A sitter that says which models it may ask, so that a missing price is known before it sits."""

    @property
    def models(self) -> tuple[str, ...]: ...


@runtime_checkable
class Requirable(Protocol):
    """A provider that knows before a run what would keep its desks from opening."""

    def require(self, spec: DeskSpec) -> None: ...


@dataclass(frozen=True, slots=True)
class Proposal:
    """A run as it would be: nothing is written, nothing is started."""

    spec: RunFile
    house: House
    tasks: Sequence[Task]
    sitters: Mapping[str, Sitter]
    desks: DeskProvider
    prices: PriceTable
    plan: Plan


def propose(spec: RunFile) -> Proposal:
    """Raises what makes the run impossible: unknown names, missing capabilities, unknown prices."""
    if spec.repeats < 1 or spec.workers < 1:
        raise BadRequest("repeats and workers are at least 1")
    house = open_house(spec.house)
    tasks = [task for task in house.select(spec.tasks) if _fits(task.spec, spec.where)]
    if not tasks:
        raise BadRequest(f"no task of {', '.join(spec.tasks)} has {_words(spec.where)}")
    sitters = _sitters(house, spec.agents)
    prices = spec.prices.table()
    _require_prices(sitters.values(), prices)
    desks = house.desks(spec.desk)
    matrix = Matrix(
        tasks=tasks,
        sitters={sitter.name: sitter for sitter in sitters.values()},
        numbers=parse_numbers(spec.seeds),
        sitting=_sitting(spec),
        repeats=spec.repeats,
        faults=spec.faults,
        limits=spec.limits.as_limits(),
    )
    return Proposal(spec, house, tasks, sitters, desks, prices, plan(matrix, desks))


def begin(proposal: Proposal, root: Path) -> Run:
    """Write the run down.

    Raises `BadRequest` when there is one already, and `InfraError` when its desks could not be opened here.
    """
    require_desks(proposal.desks, [task.spec for task in proposal.tasks])
    record = PlanRecord(
        format=FORMAT,
        run=secrets.token_hex(6),
        created=now(),
        version=__version__,
        house=proposal.spec.house,
        desk=proposal.spec.desk,
        tasks={task.spec.id: proposal.house.name_of(task) for task in proposal.tasks},
        agents={sitter.name: name for name, sitter in proposal.sitters.items()},
        trials=proposal.plan.trials,
    )
    run = Run.create(root, record)
    runfile.write(run.root / "run.toml", proposal.spec)
    write_json(run.prices, proposal.prices)
    set_caps(run, proposal.spec.caps)
    return run


def require_desks(desks: DeskProvider, specs: Iterable[TaskSpec]) -> None:
    """Ask the provider, where it can say so, whether each kind of desk could be opened now."""
    if isinstance(desks, Requirable):
        for spec in dict.fromkeys(spec.desk.desk_spec() for spec in specs if spec.desk is not None):
            desks.require(spec)


def set_caps(run: Run, caps: Caps) -> None:
    """Lay the caps that are given over those of the run; the others stay."""
    amounts: list[tuple[str, Unit, int | None]] = [
        (RUN, Unit.NANO_DOLLARS, None if caps.dollars is None else dollars(caps.dollars)),
        (RUN, Unit.TOKENS, caps.tokens),
        (RUN, Unit.MACHINE_MS, None if caps.machine_hours is None else round(caps.machine_hours * HOUR_MS)),
        *((f"agent:{name}", Unit.NANO_DOLLARS, dollars(cap)) for name, cap in caps.agents.items()),
    ]
    with closing(Ledger(run.ledger)) as ledger:
        for scope, unit, amount in amounts:
            if amount is not None:
                ledger.set_cap(scope, unit, amount)


def raise_budget(run: Run, text: str) -> None:
    """`40` sets the money cap of the run, `+50` adds to it. Raises `BadRequest`."""
    with closing(Ledger(run.ledger)) as ledger:
        before = (ledger.cap(RUN, Unit.NANO_DOLLARS) or 0) if text.startswith("+") else 0
        try:
            amount = dollars(text.removeprefix("+"))
        except ArithmeticError as error:
            raise BadRequest(f"--budget {text!r} is not an amount of dollars") from error
        ledger.set_cap(RUN, Unit.NANO_DOLLARS, before + amount)


def require_unchanged(run: Run, record: PlanRecord) -> None:
    """Raises `Impossible` when a task, an agent or an environment is no longer what was planned."""
    house = open_house(record.house)
    desks = house.desks(record.desk)
    changed: set[str] = set()
    for name, called in record.agents.items():
        digest = house.sitter(called).digest
        changed |= {
            f"agent {name}" for trial in record.trials if trial.agent == name and trial.agent_digest != digest
        }
    for name, called in record.tasks.items():
        spec = house.task(called).spec
        kind, environment = environment_of(spec, desks)
        del kind
        for trial in record.trials:
            if trial.task == name and trial.task_digest != spec.digest:
                changed.add(f"task {name}")
            if trial.task == name and trial.environment_digest != environment:
                changed.add(f"the environment of {name}")
    if changed:
        raise Impossible(f"{run.root}: changed since it was planned: {', '.join(sorted(changed))}")


def load_prices(run: Run) -> PriceTable:
    """The table the run is billed with. Raises `BadRecord`."""
    try:
        return msgspec.json.decode(run.prices.read_bytes(), type=PriceTable)
    except (OSError, msgspec.MsgspecError) as error:
        raise BadRecord(f"{run.prices}: {error}") from error


def _sitters(house: House, names: Sequence[str]) -> Mapping[str, Sitter]:
    """By what the house calls them; two may not have one name in the report."""
    sitters = {_absolute(name): house.sitter(_absolute(name)) for name in names}
    called = [sitter.name for sitter in sitters.values()]
    twice = {name for name in called if called.count(name) > 1}
    if twice:
        raise BadRequest(f"two agents are called {', '.join(sorted(twice))}; give one another name")
    return sitters


def _absolute(name: str) -> str:
    return str(Path(name).resolve()) if Path(name).is_file() else name


def _require_prices(sitters: Iterable[Sitter], prices: PriceTable) -> None:
    for sitter in sitters:
        if isinstance(sitter, Metered):
            for model in sitter.models:
                prices.price(model)


def _sitting(spec: RunFile) -> Sitting:
    return Practice() if spec.secret is None else private_sitting(Path(spec.secret))


def _fits(spec: TaskSpec, where: Mapping[str, str]) -> bool:
    facts = {
        "image": "" if spec.desk is None else spec.desk.image,
        "tier": spec.tier,
        "cluster": spec.cluster,
        "subdomain": spec.subdomain,
        "kind": spec.kind,
    }
    unknown = where.keys() - facts.keys()
    if unknown:
        raise BadRequest(f"--where knows {', '.join(facts)}, not {', '.join(sorted(unknown))}")
    return all(facts[key] == value for key, value in where.items())


def _words(where: Mapping[str, str]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in where.items())
