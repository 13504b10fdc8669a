"""The families of verifiers, found where they live.

A family is a module or package in this room whose name is its kind and that ends with `FAMILY = Family(…)`.
Only the family asked for is imported; importing one is light, because it imports its libraries at use.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from practicum import verifiers
from practicum.verifiers.errors import BadSpec, VerifierError
from practicum.verifiers.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Fact:
    """One check as documented: its name in the verdict, its unit, what it says, and where that comes from.

    A name in angle brackets stands for names the spec or the reference gives.
    """

    name: str
    unit: str
    says: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Family:
    """What `practicum verify KIND` needs to know. `before` says what a third file means, if anything."""

    kind: str
    title: str
    spec: type[Any]
    verify: Callable[..., Verdict]
    suffixes: tuple[str, ...]
    facts: tuple[Fact, ...]
    extra: str = ""
    before: str = ""

    def run(
        self, candidate: Path, reference: Path, spec: object | None = None, before: Path | None = None
    ) -> Verdict:
        """Raises `VerifierError` for everything that is not the candidate's fault."""
        if before is None:
            return self.verify(candidate, reference, spec)
        if not self.before:
            raise BadSpec(f"{self.kind} compares two files; a third means nothing to it")
        return self.verify(candidate, reference, spec, before=before)


class UnknownKind(VerifierError):
    """No family of that name."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"no verifier {kind!r}; there are {', '.join(sorted(kinds()))}")


def family(kind: str) -> Family:
    """Raises `UnknownKind`."""
    name = f"{verifiers.__name__}.{kind}"
    if not kind.isidentifier() or kind not in _modules():
        raise UnknownKind(kind)
    found = getattr(importlib.import_module(name), "FAMILY", None)
    if not isinstance(found, Family):
        raise UnknownKind(kind)
    return found


def families() -> Iterator[Family]:
    """All of them, by name."""
    for name in sorted(_modules()):
        found = getattr(importlib.import_module(f"{verifiers.__name__}.{name}"), "FAMILY", None)
        if isinstance(found, Family):
            yield found


def kinds() -> list[str]:
    return [family.kind for family in families()]


def load_spec(family: Family, path: Path) -> object:
    """A spec from TOML or JSON. Raises `BadSpec` naming the field that does not fit, and `OSError`."""
    decode = msgspec.json.decode if path.suffix.lower() == ".json" else msgspec.toml.decode
    try:
        return decode(path.read_bytes(), type=family.spec)
    except msgspec.MsgspecError as error:
        raise BadSpec(f"{path.name}: {error}") from error


def _modules() -> set[str]:
    return {info.name for info in pkgutil.iter_modules(verifiers.__path__)}
