"""Damage and rewriting of plain texts."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Literal

from practicum.verifiers.mutation.kit import Damage, Kit, Rewriting, amount

_WORDS = "bolt gasket flange valve café Größe naïve torque ledger parcel über".split()  # noqa: SIM905 - legible


def sample(path: Path, random: Random) -> None:
    lines = [
        f"{number}. {random.choice(_WORDS)} {random.choice(_WORDS)}: {random.randint(1, 900) / 4} units"
        for number in range(1, random.randint(12, 30))
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _edit(change: Callable[[list[str], float, Random], list[str]]) -> Callable[[Path, float, Random], None]:
    def apply(path: Path, severity: float, random: Random) -> None:
        lines = path.read_text(encoding="utf-8").splitlines()
        path.write_text("\n".join(change(lines, severity, random)) + "\n", encoding="utf-8")

    return apply


def _some(lines: list[str], severity: float, random: Random) -> list[int]:
    """A prefix of one shuffling: what a small severity hits a larger one hits too."""
    places = list(range(len(lines)))
    random.shuffle(places)
    return places[: amount(severity, len(lines))]


def _changed(change: Callable[[str], str]) -> Callable[[list[str], float, Random], list[str]]:
    def apply(lines: list[str], severity: float, random: Random) -> list[str]:
        hit = set(_some(lines, severity, random))
        return [change(line) if place in hit else line for place, line in enumerate(lines)]

    return apply


def _dropped(lines: list[str], severity: float, random: Random) -> list[str]:
    hit = set(_some(lines, min(severity, 0.9), random))
    return [line for place, line in enumerate(lines) if place not in hit]


def _added(lines: list[str], severity: float, random: Random) -> list[str]:
    return lines + [f"appendix {random.random()}" for _ in range(amount(severity, len(lines)))]


def _reversed(lines: list[str], severity: float, random: Random) -> list[str]:
    count = max(2, amount(severity, len(lines)))
    return lines[:count][::-1] + lines[count:]


def _repeated(lines: list[str], severity: float, random: Random) -> list[str]:
    return lines + lines[: amount(severity, len(lines))]


def _recoded(
    encoding: str, form: Literal["NFC", "NFD"] = "NFC", end: str = "\n"
) -> Callable[[Path, Random], None]:
    def apply(path: Path, random: Random) -> None:
        text = unicodedata.normalize(form, path.read_text(encoding="utf-8")).replace("\n", end)
        path.write_bytes(text.encode(encoding))

    return apply


def _padded(path: Path, random: Random) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n\n".join(line + " " * random.randint(0, 4) for line in lines), encoding="utf-8")


def _respelled(path: Path, random: Random) -> None:
    """Numbers with trailing zeros."""
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace(".5 ", ".500 ").replace(".25 ", ".2500 ").replace(".0 ", " "), encoding="utf-8"
    )


def _bytes(path: Path, severity: float, random: Random) -> None:
    path.write_bytes(path.read_bytes()[: -max(12, int(severity * path.stat().st_size * 0.9))])


KIT = Kit(
    kind="text",
    suffix=".txt",
    sample=sample,
    damages=(
        Damage("line dropped", "lines", _edit(_dropped)),
        Damage("line added", "lines", _edit(_added)),
        Damage("lines reversed", "lines", _edit(_reversed)),
        Damage("lines repeated", "lines", _edit(_repeated)),
        Damage("number changed", "lines", _edit(_changed(lambda line: line.replace(" units", "1 units")))),
        Damage("word changed", "lines", _edit(_changed(lambda line: line.replace("units", "boxes")))),
        Damage("letter case", "lines", _edit(_changed(str.upper))),
        Damage("sign flipped", "lines", _edit(_changed(lambda line: line.replace(": ", ": -")))),
        Damage("cut off", "lines", _bytes),
    ),
    rewritings=(
        Rewriting("CRLF", _recoded("utf-8", end="\r\n")),
        Rewriting("old Mac line ends", _recoded("utf-8", end="\r")),
        Rewriting("BOM", _recoded("utf-8-sig")),
        Rewriting("UTF-16", _recoded("utf-16")),
        Rewriting("Windows-1252", _recoded("cp1252")),
        Rewriting("decomposed Unicode", _recoded("utf-8", form="NFD")),
        Rewriting("blank lines and trailing blanks", _padded),
        Rewriting("number spelling", _respelled),
    ),
)
