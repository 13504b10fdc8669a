"""A run file: everything that decides a run, in one strict TOML document.

The command line makes the same value; it is written back resolved, so that anybody can repeat the run.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from practicum.agents.strict import load_toml
from practicum.controller.errors import BadRequest
from practicum.controller.files import write_whole
from practicum.controller.house import STANDARD
from practicum.controller.prices import FREE, Price, PriceTable, dollars, load, per_million, shipped
from practicum.tasks.spec import Limits


class Spend(StrEnum):
    """Take up all trials as planned, or those first that tell most for their cost."""

    ALL = "all"
    WISELY = "wisely"


class TrialLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What one trial may use at most; lies over the limits of its task, and the tighter holds."""

    steps: int | None = None
    seconds: float | None = None
    tokens: int | None = None
    dollars: float | None = None

    def as_limits(self) -> Limits:
        money = None if self.dollars is None else dollars(self.dollars)
        return Limits(steps=self.steps, seconds=self.seconds, tokens=self.tokens, nano_dollars=money)


class Caps(msgspec.Struct, frozen=True, kw_only=True):
    """What the run may use at most. `agents` caps dollars by agent."""

    dollars: float | None = None
    tokens: int | None = None
    machine_hours: float | None = None
    wall_hours: float | None = None
    agents: dict[str, float] = {}


class Prices(msgspec.Struct, frozen=True, kw_only=True):
    """`input` and `output` in dollars per million tokens price every model that no table knows."""

    file: str | None = None
    input: float | None = None
    output: float | None = None
    free: bool = False

    def table(self) -> PriceTable:
        """The shipped table under the given one. Raises `BadRequest`, `OSError`."""
        table = load(Path(self.file)).over(shipped()) if self.file else shipped()
        declared = self.declared()
        return table if declared is None else table.declaring(declared)

    def declared(self) -> Price | None:
        if self.free:
            return FREE
        if self.input is None and self.output is None:
            return None
        if self.input is None or self.output is None:
            raise BadRequest("a declared price has both an input and an output part")
        return per_million(self.input, self.output)


class RunFile(msgspec.Struct, frozen=True, kw_only=True):
    """`seeds` are the questions of the sitting: numbers and ranges such as `0-4,7`.

    `warm` desks of each recent kind are booted ahead by each worker.
    `where` keeps tasks whose fact has that value: `image`, `tier`, `cluster`, `subdomain`, `kind`.
    """

    tasks: tuple[str, ...]
    agents: tuple[str, ...]
    seeds: str = "0"
    repeats: int = 1
    faults: tuple[str, ...] = ("E0",)
    where: dict[str, str] = {}
    desk: str = "container"
    workers: int = 2
    desks: int | None = None
    warm: int = 0
    spend: Spend = Spend.ALL
    secret: str | None = None
    house: str = STANDARD
    limits: TrialLimits = TrialLimits()
    caps: Caps = Caps()
    prices: Prices = Prices()


def read(path: Path) -> RunFile:
    """Raises `BadFile`; an unknown key names its nearest neighbour."""
    return load_toml(path, RunFile)


def write(path: Path, spec: RunFile) -> None:
    """Only what differs from the defaults, so that a reader sees what was chosen."""
    write_whole(path, msgspec.toml.encode(_chosen(spec)))


def _chosen(spec: msgspec.Struct) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    for field in msgspec.structs.fields(spec):
        value = getattr(spec, field.name)
        if isinstance(value, msgspec.Struct):
            inner = _chosen(value)
            if inner:
                chosen[field.name] = inner
        elif value is not None and (field.required or value != _default(field)):
            chosen[field.name] = value
    return chosen


def _default(field: msgspec.structs.FieldInfo) -> Any:
    factory = field.default_factory
    return field.default if factory is msgspec.NODEFAULT else factory()
