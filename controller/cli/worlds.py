"""`practicum worlds`: the scenarios, the ladder of policies, what became of injected faults, replay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.table import Table

from practicum.agents.policies import LADDER
from practicum.controller.errors import BadRecord, BadRequest
from practicum.controller.index import summaries
from practicum.controller.ladder import LEVELS, Climb, Rung, climb, rungs
from practicum.controller.show import console, encode, plain, share
from practicum.controller.statistics.robustness import Ratio
from practicum.controller.store import Run
from practicum.controller.summary import Standing, Summary
from practicum.infra.errors import WorldFault
from practicum.infra.faults.account import FaultAccount, account
from practicum.infra.faults.inject import LOG, FaultLog
from practicum.infra.world.engine import replay
from practicum.infra.world.journal import read as read_journal
from practicum.tasks.seeds import parse_numbers
from practicum.tasks.worlds import library
from practicum.tasks.worlds.catalog import catalog
from practicum.tasks.worlds.grade import INITIAL

app = typer.Typer(no_args_is_help=True)

JSON = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
JOURNAL = "journal.jsonl"
_BEGIN, _END = "<!-- ladder: begin -->", "<!-- ladder: end -->"


@app.command("list")
def list_(*, as_json: JSON = False) -> None:
    """List the scenarios: industry, difficulty, and the trap in each."""
    rows = [
        {
            "task": scenario.id,
            "industry": str(scenario.industry),
            "title": scenario.title,
            "difficulty": scenario.difficulty,
            "trap": scenario.trap,
        }
        for scenario in library.scenarios().values()
    ]
    if as_json:
        typer.echo(encode(rows))
        return
    table = Table("task", "industry", "difficulty", "trap", box=None, header_style="bold")
    for row in rows:
        table.add_row(*(str(row[name]) for name in ("task", "industry", "difficulty", "trap")))
    console().print(table)


@app.command()
def ladder(
    worlds: Annotated[list[str] | None, typer.Argument(help="Scenarios: industry/name. All if none.")] = None,
    *,
    seeds: Annotated[str, typer.Option(help="Questions of the practice sitting: 0-4,7.")] = "0-19",
    faults: Annotated[str, typer.Option(help="Fault levels, joined by commas.")] = ",".join(LEVELS),
    policies: Annotated[str, typer.Option(help="Rungs, joined by commas.")] = ",".join(LADDER),
    workers: Annotated[int, typer.Option(min=1)] = 2,
    out: Annotated[Path | None, typer.Option(help="Folder for one JSON line a cell.")] = None,
    write: Annotated[Path | None, typer.Option(help="Page whose ladder section is replaced.")] = None,
    as_json: JSON = False,
) -> None:
    """Run scripted policies over worlds and fault levels, without any model."""
    what = Climb(
        worlds=_known(worlds),
        seeds=parse_numbers(seeds),
        levels=_among(faults, LEVELS),
        policies=_among(policies, LADDER),
    )
    climbed = rungs(climb(what, workers=workers, records=out))
    if write is not None:
        _replace_section(write, markdown(climbed, what))
    if as_json:
        typer.echo(encode(climbed))
        return
    console().print(_ladder_table(climbed, what.levels))


def _known(names: Sequence[str] | None) -> tuple[str, ...]:
    known = library.names()
    if unknown := [name for name in names or () if name not in known]:
        raise BadRequest(f"no scenario {unknown[0]!r}; there are {', '.join(known)}")
    return tuple(names or known)


def _among(text: str, known: Iterable[str]) -> tuple[str, ...]:
    words = tuple(word.strip() for word in text.split(",") if word.strip())
    if not words or (unknown := set(words) - set(known)):
        raise BadRequest(f"{text!r} must be some of {', '.join(known)}; unknown: {sorted(unknown)}")
    return words


def _ladder_table(climbed: Sequence[Rung], levels: Sequence[str]) -> Table:
    names = ("policy", *levels, "R (90 %)", "met/planned", "noticed", "recovered", "harmed")
    table = Table(*names, box=None, header_style="bold")
    for rung in climbed:
        table.add_row(*_cells(rung, levels))
    return table


def _cells(rung: Rung, levels: Sequence[str]) -> tuple[str, ...]:
    return (
        rung.policy,
        *(share(rung.passed.get(level)) for level in levels),
        ratio(rung.robustness),
        *_counts(rung.faults),
    )


def ratio(value: Ratio | None) -> str:
    """R with its interval; a dash where nothing passed clean."""
    if value is None:
        return "–"
    bounds = f" ({value.interval.low:.2f}–{value.interval.high:.2f})" if value.interval else ""
    return f"{value.value:.2f}{bounds}"


def _counts(faults: FaultAccount) -> tuple[str, ...]:
    met = f"{faults.met}/{faults.planned}"
    return (met, str(faults.noticed), str(faults.recovered), str(faults.harmed))


def markdown(climbed: Sequence[Rung], what: Climb) -> str:
    """The ladder as a page shows it, with what it was made from."""
    names = ("policy", *what.levels, "R (90 %)", "met/planned", "noticed", "recovered", "harmed")
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(_cells(rung, what.levels)) + " |" for rung in climbed]
    made = f"{len(what.worlds)} scenarios × {len(what.seeds)} seeds: {what.size:,} trials."
    return "\n".join([made, "", *lines])


def _replace_section(page: Path, text: str) -> None:
    before, begin, rest = page.read_text(encoding="utf-8").partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise BadRequest(f"{page} has no section between {_BEGIN} and {_END}")
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")


@app.command()
def faults(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    *,
    as_json: JSON = False,
) -> None:
    """What became of the injected faults of a run: planned, met, noticed, recovered, harmed."""
    totals = fault_totals(Run.open(run))
    if not totals:
        raise BadRecord(f"{run}: no scored trial met injected faults")
    if as_json:
        typer.echo(encode([{"agent": a, "faults": level, **_plain(n)} for (a, level), n in totals.items()]))
        return
    names = ("agent", "faults", "met/planned", "noticed", "recovered", "harmed")
    table = Table(*names, box=None, header_style="bold")
    for (agent, level), counted in totals.items():
        table.add_row(plain(agent), level, *_counts(counted))
    console().print(table)


def fault_totals(run: Run) -> Mapping[tuple[str, str], FaultAccount]:
    """Over the scored trials with a fault log, by agent and level."""
    totals: dict[tuple[str, str], FaultAccount] = {}
    for summary in summaries(run):
        counted = _account(run, summary)
        if counted is not None:
            key = (summary.trial.agent, summary.trial.faults)
            totals[key] = totals.get(key, FaultAccount()) + counted
    return totals


def _account(run: Run, summary: Summary) -> FaultAccount | None:
    attempt = run.trial(summary.trial.id).counting_attempt()
    if summary.standing is not Standing.SCORED or attempt is None:
        return None
    path = attempt.outputs / LOG
    if not path.is_file():
        return None
    log = msgspec.json.decode(path.read_bytes(), type=FaultLog)
    return account(log, passed=bool(summary.passed))


def _plain(counted: FaultAccount) -> dict[str, int]:
    fields: dict[str, int] = msgspec.to_builtins(counted)
    return fields


@app.command("replay")
def replay_(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    *,
    as_json: JSON = False,
) -> None:
    """Make every journaled call of a run again: answers and hashes must come out equal."""
    differences = {
        summary.trial.id: difference
        for summary in summaries(Run.open(run))
        if (difference := _replayed(Run.open(run), summary)) is not None
    }
    if not differences:
        raise BadRecord(f"{run}: no finished trial left the journal of an executable world")
    broken = {trial: why for trial, why in differences.items() if why}
    if as_json:
        typer.echo(encode({"replayed": len(differences), "broken": broken}))
    else:
        console().print(
            f"{len(differences) - len(broken)} of {len(differences)} journals replay to equal hashes"
        )
        for trial, why in broken.items():
            console().print(f"{trial}: {plain(why)}")
    if broken:
        raise typer.Exit(1)


def _replayed(run: Run, summary: Summary) -> str | None:
    """Empty where the journal replays, else how it differs; `None` for a trial without such a journal."""
    attempt = run.trial(summary.trial.id).counting_attempt()
    task = catalog().get(summary.trial.task)
    if attempt is None or task is None or not (attempt.outputs / JOURNAL).is_file():
        return None
    initial = attempt.instance_folder / "reference" / INITIAL
    rules = task.scenario.rules
    try:
        tables = rules.load(msgspec.json.decode(initial.read_bytes()))
        replay(rules, tables, read_journal(attempt.outputs / JOURNAL))
    except (WorldFault, OSError, ValueError) as error:
        return str(error)
    return ""
