"""What tokens and machines cost: a dated table, in integer nano-dollars per token.

A dollar per million tokens is 1,000 nano-dollars a token, so every published price is a whole number here and
no bill is ever rounded. A model without a price is an error, not free.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import platformdirs

from practicum.agents.agent import Usage
from practicum.controller.errors import BadRequest, Impossible

NANO = 10**9
_PER_TOKEN = 1000
_BUCKETS = ("input", "output", "cache_read", "cache_write", "cache_write_long")


@dataclass(frozen=True, slots=True)
class Price:
    """Nano-dollars per token of each disjoint bucket."""

    input: int
    output: int
    cache_read: int
    cache_write: int
    cache_write_long: int
    dated: str = ""
    source: str = ""

    def cost(self, usage: Usage) -> int | None:
        """Nano-dollars; `None` as soon as one bucket is unknown."""
        parts = (
            (usage.input, self.input),
            (usage.output, self.output),
            (usage.cache_read, self.cache_read),
            (usage.cache_write, self.cache_write),
            (usage.cache_write_long, self.cache_write_long),
        )
        bills = [tokens * price for tokens, price in parts if tokens is not None]
        return sum(bills) if len(bills) == len(parts) else None


FREE = Price(0, 0, 0, 0, 0, source="declared free")


class UnknownPrice(Impossible):
    """No price for this model; the message says how to declare one."""

    def __init__(self, model: str, known: Iterable[str]) -> None:
        near = difflib.get_close_matches(model, list(known), n=1)
        hint = f", nearest is {near[0]!r}" if near else ""
        super().__init__(
            f"no price for model {model!r}{hint}: declare one with --price-in and --price-out, or --free"
        )
        self.model = model


@dataclass(frozen=True, slots=True)
class PriceTable:
    """`machines` in nano-dollars per desk-hour by desk kind. `declared` prices every model not listed."""

    models: Mapping[str, Price]
    machines: Mapping[str, int] = field(default_factory=dict)
    declared: Price | None = None

    def price(self, model: str) -> Price:
        """Raises `UnknownPrice`."""
        found = self.models.get(model, self.declared)
        if found is None:
            raise UnknownPrice(model, self.models)
        return found

    def machine_cost(self, kind: str, milliseconds: int) -> int:
        """Nano-dollars, rounded up."""
        return -(-self.machines.get(kind, 0) * milliseconds // 3_600_000)

    def over(self, other: PriceTable) -> PriceTable:
        """This table laid over another."""
        return PriceTable(
            {**other.models, **self.models},
            {**other.machines, **self.machines},
            self.declared or other.declared,
        )

    def declaring(self, price: Price) -> PriceTable:
        return replace(self, declared=price)


def dollars(amount: Decimal | float | str) -> int:
    """Dollars as nano-dollars. Raises `BadRequest` for what is not a whole number of them, or negative."""
    nano = Decimal(str(amount)) * NANO
    if nano != nano.to_integral_value() or nano < 0:
        raise BadRequest(f"{amount} dollars is not a whole, non-negative number of nano-dollars")
    return int(nano)


def per_million(price_in: Decimal | float, price_out: Decimal | float) -> Price:
    """A price declared by its two main numbers; cached tokens then cost as much as fresh ones."""
    fresh, out = _per_token("input", Decimal(str(price_in))), _per_token("output", Decimal(str(price_out)))
    return Price(fresh, out, fresh, fresh, fresh, source="declared")


def user_file() -> Path:
    """Where a user's own prices are looked for."""
    return Path(platformdirs.user_config_dir("practicum")) / "prices.toml"


def shipped() -> PriceTable:
    """The table of this release, under the user's own where there is one."""
    own = user_file()
    return load(own).over(_released()) if own.is_file() else _released()


@cache
def _released() -> PriceTable:
    return parse(resources.files("practicum.controller").joinpath("data/prices.toml").read_text("utf-8"))


def load(path: Path) -> PriceTable:
    """Raises `BadRequest`, `OSError`."""
    try:
        return parse(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, BadRequest) as error:
        raise BadRequest(f"{path}: {error}") from error


def parse(text: str) -> PriceTable:
    document = tomllib.loads(text, parse_float=Decimal)
    _refuse_unknown(document, {"model", "machines"}, "the price table")
    models: dict[str, Price] = {}
    for entry in document.get("model", ()):
        _refuse_unknown(entry, {"names", "dated", "source", *_BUCKETS}, f"the price of {entry.get('names')}")
        models |= dict.fromkeys(entry.get("names", ()), _price(entry))
    machines = {kind: dollars(rate) for kind, rate in document.get("machines", {}).items()}
    return PriceTable(models, machines)


def _price(entry: Mapping[str, Any]) -> Price:
    if "input" not in entry or "output" not in entry:
        raise BadRequest(f"the price of {entry.get('names')} needs input and output")
    known = {bucket: _per_token(bucket, entry[bucket]) for bucket in _BUCKETS if bucket in entry}
    fallback = dict.fromkeys(_BUCKETS, known["input"])
    dated = entry.get("dated", "")
    return Price(
        **{**fallback, **known},
        dated=dated.isoformat() if isinstance(dated, date) else str(dated),
        source=str(entry.get("source", "")),
    )


def _per_token(bucket: str, price: Decimal | int) -> int:
    nano = Decimal(price) * _PER_TOKEN
    if nano != nano.to_integral_value() or nano < 0:
        raise BadRequest(f"{bucket} = {price}: prices have at most three decimals and are not negative")
    return int(nano)


def _refuse_unknown(table: Mapping[str, Any], known: set[str], where: str) -> None:
    for key in table.keys() - known:
        near = difflib.get_close_matches(key, known, n=1)
        raise BadRequest(f"{where}: unknown key {key!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
