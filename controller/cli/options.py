"""What `run` and `plan` understand alike: from words on the command line to a run file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from practicum.controller import runfile
from practicum.controller.errors import BadRequest
from practicum.controller.runfile import RunFile
from practicum.infra.faults.plan import FaultSpec


def from_file(selection: list[str] | None) -> RunFile | None:
    """A selection that is one TOML file is a run file. Raises `BadRequest` for no selection at all."""
    if selection and len(selection) == 1 and selection[0].endswith(".toml") and Path(selection[0]).is_file():
        return runfile.read(Path(selection[0]))
    if not selection:
        raise BadRequest("say which tasks, for example: practicum run near-term --agent oracle,nop")
    return None


def words(text: str) -> tuple[str, ...]:
    found = tuple(word.strip() for word in text.split(",") if word.strip())
    if not found:
        raise BadRequest("an empty list was given")
    return found


def fault_levels(text: str, count: int | None, duration: int | None) -> tuple[str, ...]:
    """Levels as trials name them; count and duration hold for all of them."""
    try:
        specs = [FaultSpec.parse(word) for word in words(text)]
    except ValueError as error:
        raise BadRequest(str(error)) from error
    return tuple(
        str(replace(spec, count=count or spec.count, duration=duration or spec.duration)) for spec in specs
    )


def pairs(items: Iterable[str]) -> dict[str, str]:
    found = dict(item.partition("=")[::2] for item in items)
    if not all(found.values()):
        raise BadRequest("expected NAME=VALUE")
    return found


def dollars(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise BadRequest(f"{text!r} is not an amount of dollars") from error


def absolute(path: Path | None) -> str | None:
    return None if path is None else str(path.resolve())
