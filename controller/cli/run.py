"""`practicum run`: sit agents at tasks and grade what they leave."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from practicum.controller import launch, runfile
from practicum.controller.cli import options
from practicum.controller.conduct import conduct
from practicum.controller.errors import BadRequest, NothingScored
from practicum.controller.house import STANDARD
from practicum.controller.index import summaries
from practicum.controller.policy import Policy, nothing, parse_retry
from practicum.controller.runfile import Caps, Prices, RunFile, Spend, TrialLimits
from practicum.controller.show import console, trials_table
from practicum.controller.store import Run
from practicum.controller.summary import Counts
from practicum.tasks.worlds import sets

LONG_TABLE = 60


def run(
    selection: Annotated[
        list[str] | None,
        typer.Argument(help="Tiers, clusters, subdomains, ids, globs, task folders, or one run file."),
    ] = None,
    *,
    agent: Annotated[str, typer.Option(help="Agents by name or file, joined by commas.")] = "oracle",
    seeds: Annotated[str, typer.Option(help="Questions of the sitting: 0-4,7.")] = "0",
    set_: Annotated[str, typer.Option("--set", help="A fixed set: public (400 worlds).")] = "",
    repeats: Annotated[int, typer.Option(min=1)] = 1,
    faults: Annotated[str, typer.Option(help="Faults at the tool boundary: E0,E1,E2,E3.")] = "E0",
    fault_count: Annotated[int | None, typer.Option(min=1, help="Faults in one trial.")] = None,
    fault_duration: Annotated[int | None, typer.Option(min=1, help="Attempts a fault lasts.")] = None,
    where: Annotated[list[str] | None, typer.Option(help="Keep tasks with a fact: image=cad.")] = None,
    desk: Annotated[str, typer.Option(help="Kind of desk: container, vm, ssh, fake.")] = "container",
    workers: Annotated[int, typer.Option(min=1, help="Trials at a time.")] = 2,
    desks: Annotated[int | None, typer.Option(min=1, help="Desks open at a time.")] = None,
    warm: Annotated[int, typer.Option(min=0, help="Desks each worker boots ahead.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Folder of the run.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with this run.")] = None,
    retry: Annotated[
        str, typer.Option(help="With --resume: also faults, fault:KIND, ended:HOW, score<1.")
    ] = "",
    budget: Annotated[str, typer.Option(help="Dollars the run may spend; with --resume also +50.")] = "",
    spend: Annotated[Spend, typer.Option(help="all, or wisely: choose trials to inform most.")] = Spend.ALL,
    agent_budget: Annotated[list[str] | None, typer.Option(help="Dollars by agent: NAME=10.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Tokens the run may use.")] = None,
    max_hours: Annotated[float | None, typer.Option(help="Hours until nothing more starts.")] = None,
    max_machine_hours: Annotated[float | None, typer.Option(help="Desk hours of the run.")] = None,
    trial_steps: Annotated[int | None, typer.Option(help="Steps of one trial.")] = None,
    trial_seconds: Annotated[float | None, typer.Option(help="Seconds of one trial.")] = None,
    trial_tokens: Annotated[int | None, typer.Option(help="Tokens of one trial.")] = None,
    trial_dollars: Annotated[float | None, typer.Option(help="Dollars of one trial.")] = None,
    prices: Annotated[Path | None, typer.Option(help="Price table laid over the shipped one.")] = None,
    price_in: Annotated[float | None, typer.Option(help="Dollars a million tokens in, if unknown.")] = None,
    price_out: Annotated[float | None, typer.Option(help="Dollars a million tokens out, if unknown.")] = None,
    free: Annotated[bool, typer.Option("--free", help="Models without a price cost nothing.")] = False,
    secret: Annotated[Path | None, typer.Option(help="File with the secret of a private sitting.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Events as JSON lines on stdout.")] = False,
    house: Annotated[str, typer.Option(hidden=True)] = STANDARD,
) -> None:
    """Sit agents at tasks and grade what they leave."""
    if set_:
        fixed = sets.named(set_)
        selection, seeds = list(fixed.tasks), fixed.seeds
    caps = Caps(
        dollars=options.dollars(budget) if budget and resume is None else None,
        tokens=max_tokens,
        machine_hours=max_machine_hours,
        wall_hours=max_hours,
        agents={name: options.dollars(cap) for name, cap in options.pairs(agent_budget or ()).items()},
    )
    if resume is not None:
        begun, spec = _resumed(resume, selection, caps, budget)
        spec = msgspec.structs.replace(spec, workers=workers, desks=desks, warm=warm)
    else:
        spec = options.from_file(selection) or RunFile(
            tasks=tuple(selection or ()),
            agents=options.words(agent),
            seeds=seeds,
            repeats=repeats,
            faults=options.fault_levels(faults, fault_count, fault_duration),
            where=options.pairs(where or ()),
            desk=desk,
            workers=workers,
            desks=desks,
            warm=warm,
            spend=spend,
            secret=options.absolute(secret),
            house=house,
            limits=TrialLimits(
                steps=trial_steps, seconds=trial_seconds, tokens=trial_tokens, dollars=trial_dollars
            ),
            caps=caps,
            prices=Prices(file=options.absolute(prices), input=price_in, output=price_out, free=free),
        )
        begun = launch.begin(launch.propose(spec), out or _new_folder())
    _work(begun, spec, Policy(reopen=parse_retry(retry) if retry else nothing), as_json=as_json)


def _resumed(root: Path, selection: list[str] | None, caps: Caps, budget: str) -> tuple[Run, RunFile]:
    """A run as it was planned, under the caps that are given now. Raises `BadRequest`, `Impossible`."""
    if selection:
        raise BadRequest("--resume goes on with the tasks of its run; leave the selection out")
    begun = Run.open(root)
    launch.require_unchanged(begun, begun.record())
    launch.set_caps(begun, caps)
    if budget:
        launch.raise_budget(begun, budget)
    spec = runfile.read(begun.root / "run.toml")
    hours = spec.caps.wall_hours if caps.wall_hours is None else caps.wall_hours
    return begun, msgspec.structs.replace(spec, caps=msgspec.structs.replace(spec.caps, wall_hours=hours))


def _work(run: Run, spec: RunFile, policy: Policy, *, as_json: bool) -> None:
    """Conduct the run and show what came of it. Raises `NothingScored`."""
    counts = conduct(run, spec, policy, as_json=as_json)
    if not as_json:
        _conclude(run)
    if counts.scored == 0:
        raise NothingScored(f"nothing was scored: {counts.sentence()}; see {run.root}")


def _conclude(run: Run) -> None:
    standing = summaries(run)
    out = console()
    out.print(trials_table(standing, most=LONG_TABLE))
    out.print(Counts.of(standing).sentence())
    out.print(f"The run lies in {run.root}", soft_wrap=True)


def _new_folder() -> Path:
    """A folder nobody has, named by the time to the microsecond."""
    return Path("runs") / datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
