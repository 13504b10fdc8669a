"""Damage and rewriting of structured data."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from practicum.verifiers.mutation.kit import Damage, Kit, Rewriting, amount

_NAMES = ("Ångström", "café", "pump", "P-101", "Größe")


def sample(path: Path, random: Random) -> None:
    parts = [
        {
            "name": f"{random.choice(_NAMES)} {number}",
            "mass": random.randint(1, 4000) / 8,
            "count": random.randint(2, 90),
            "spare": random.random() < 0.5,
            "note": None,
            "tags": random.sample(["a", "b", "c", "d"], 3),
        }
        for number in range(random.randint(6, 14))
    ]
    _write(path, {"title": "Inventory", "unit": "kg", "parts": parts})


def _write(path: Path, data: Any, **how: Any) -> None:
    path.write_text(json.dumps(data, ensure_ascii=False, **how), encoding="utf-8")


def _edit(change: Callable[[Any, float, Random], None]) -> Callable[[Path, float, Random], None]:
    def apply(path: Path, severity: float, random: Random) -> None:
        data = json.loads(path.read_text(encoding="utf-8"))
        change(data, severity, random)
        _write(path, data)

    return apply


def _parts(change: Callable[[dict[str, Any]], None]) -> Callable[[Path, float, Random], None]:
    def apply(data: Any, severity: float, random: Random) -> None:
        parts = data["parts"]
        order = list(range(len(parts)))
        random.shuffle(order)
        for place in order[: amount(severity, len(parts))]:
            change(parts[place])

    return _edit(apply)


def _set(name: str, change: Callable[[Any], Any]) -> Callable[[Path, float, Random], None]:
    return _parts(lambda part: part.__setitem__(name, change(part[name])))


def _dropped(data: Any, severity: float, random: Random) -> None:
    del data["parts"][-amount(severity * 0.9, len(data["parts"])) :]


def _added(data: Any, severity: float, random: Random) -> None:
    data["parts"] += data["parts"][: amount(severity, len(data["parts"]))]


def _reversed(data: Any, severity: float, random: Random) -> None:
    data["parts"].reverse()


def _renamed(data: Any, severity: float, random: Random) -> None:
    data["Title"] = data.pop("title")


def _cut_off(path: Path, severity: float, random: Random) -> None:
    path.write_bytes(path.read_bytes()[:-30])


def _twice(path: Path, severity: float, random: Random) -> None:
    """A name given twice: which one counts depends on the reader."""
    path.write_text(
        path.read_text(encoding="utf-8").replace('"unit": "kg"', '"unit": "lb", "unit": "kg"'),
        encoding="utf-8",
    )


def _calm(how: Callable[[Any], Any], **options: Any) -> Callable[[Path, Random], None]:
    return lambda path, random: _write(path, how(json.loads(path.read_text(encoding="utf-8"))), **options)


def _shuffled(data: Any) -> Any:
    if isinstance(data, dict):
        return {name: _shuffled(data[name]) for name in sorted(data, reverse=True)}
    return [_shuffled(item) for item in data] if isinstance(data, list) else data


def _spelled(data: Any) -> Any:
    """Whole numbers as 3.0."""
    if isinstance(data, dict):
        return {name: _spelled(value) for name, value in data.items()}
    if isinstance(data, list):
        return [_spelled(item) for item in data]
    return float(data) if isinstance(data, int) and not isinstance(data, bool) else data


def _escaped(path: Path, random: Random) -> None:
    path.write_text(
        json.dumps(json.loads(path.read_text(encoding="utf-8")), ensure_ascii=True), encoding="ascii"
    )


def _encoded(encoding: str, *, decomposed: bool = False, end: str = "\n") -> Callable[[Path, Random], None]:
    def apply(path: Path, random: Random) -> None:
        text = json.dumps(json.loads(path.read_text(encoding="utf-8")), ensure_ascii=False, indent=2)
        text = unicodedata.normalize("NFD", text) if decomposed else text
        path.write_bytes(text.replace("\n", end).encode(encoding))

    return apply


KIT = Kit(
    kind="structured",
    suffix=".json",
    sample=sample,
    damages=(
        Damage("mass changed", "values", _set("mass", lambda mass: mass + 0.125)),
        Damage("sign flipped", "values", _set("count", lambda count: -count)),
        Damage("name misspelled", "values", _set("name", lambda name: name + "x")),
        Damage("truth turned", "values", _set("spare", lambda spare: not spare)),
        Damage("truth as a number", "values", _set("spare", int)),
        Damage("number as text", "values", _set("mass", str)),
        Damage("null filled in", "values", _set("note", lambda note: "none")),
        Damage("tags in another order", "values", _set("tags", lambda tags: tags[::-1])),
        Damage("name left out", "nothing missing", _parts(lambda part: part.pop("mass") and None)),
        Damage("name added", "nothing more", _parts(lambda part: part.__setitem__("x", 1))),
        Damage("items dropped", "nothing missing", _edit(_dropped)),
        Damage("items repeated", "nothing more", _edit(_added)),
        Damage("items reversed", "values", _edit(_reversed), graded=False),
        Damage("renamed", "nothing missing", _edit(_renamed), graded=False),
        Damage("cut off", "readable", _cut_off, graded=False),
        Damage("a name twice", "readable", _twice, graded=False),
    ),
    rewritings=(
        Rewriting("names in another order", _calm(_shuffled)),
        Rewriting("indented", _calm(lambda data: data, indent=4)),
        Rewriting("packed", _calm(lambda data: data, separators=(",", ":"))),
        Rewriting("whole numbers as reals", _calm(_spelled)),
        Rewriting("escaped", _escaped),
        Rewriting("BOM", _encoded("utf-8-sig")),
        Rewriting("UTF-16", _encoded("utf-16")),
        Rewriting("CRLF", _encoded("utf-8", end="\r\n")),
        Rewriting("decomposed Unicode", _encoded("utf-8", decomposed=True)),
    ),
)
