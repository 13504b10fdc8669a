"""Damage and rewriting of machining programs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from random import Random

from practicum.verifiers.mutation.kit import Damage, Kit, Rewriting

_NUMBER = re.compile(r"([XYZIJE])(-?\d+\.\d+)")


def sample(path: Path, random: Random) -> None:
    """Layers of a rectangle with one round corner, with rapids between and filament laid down."""
    width, height, feed = random.uniform(30, 60), random.uniform(20, 40), random.choice((600, 900, 1200))
    lines, filament = ["G21", "G90", "G92 E0"], 0.0
    for layer in range(4):
        lines += ["G0 Z25.000", "G0 X0.000 Y0.000", f"G1 Z{0.5 + layer * 3:.3f} F{feed / 2:.0f}"]
        corners = [(width, 0.0), (width, height - 8), None, (0.0, height), (0.0, 0.0)]
        for place, corner in enumerate(corners):
            filament += 1.0 + place / 8
            if corner is None:
                lines.append(f"G3 X{width - 8:.3f} Y{height:.3f} I-8.000 J0.000 E{filament:.5f} F{feed}")
            else:
                lines.append(f"G1 X{corner[0]:.3f} Y{corner[1]:.3f} E{filament:.5f} F{feed}")
    path.write_text("\n".join([*lines, "G0 Z30.000", "M2", ""]))


def _edit(change: Callable[[list[str], float, Random], list[str]]) -> Callable[[Path, float, Random], None]:
    def apply(path: Path, severity: float, random: Random) -> None:
        path.write_text("\n".join(change(path.read_text().splitlines(), severity, random)) + "\n")

    return apply


def _numbers(letters: str, change: Callable[[float, float], float]) -> Callable[[Path, float, Random], None]:
    def apply(lines: list[str], severity: float, random: Random) -> list[str]:
        def one(match: re.Match[str]) -> str:
            value = change(float(match[2]), severity) if match[1] in letters else float(match[2])
            return f"{match[1]}{value:.5f}"

        return [_NUMBER.sub(one, line) for line in lines]

    return _edit(apply)


def _last(lines: list[str], severity: float, random: Random) -> list[str]:
    feeding = [place for place, line in enumerate(lines) if line.startswith(("G1", "G3"))]
    cut = feeding[-max(2, round(severity * 0.8 * len(feeding)))]
    return [*lines[:cut], "M2"]


def _again(lines: list[str], severity: float, random: Random) -> list[str]:
    """The first layers cut a second time."""
    body = [line for line in lines[3:-2] if not line.startswith("G92")]
    count = max(8, round(severity * len(body)))
    return [*lines[:3], *(re.sub(r" E-?[\d.]+", "", line) for line in body[:count]), *lines[3:]]


def _faster(lines: list[str], severity: float, random: Random) -> list[str]:
    return [
        re.sub(r"F(\d+)", lambda match: f"F{float(match[1]) * (1.2 + severity):.0f}", line) for line in lines
    ]


def _other_way(lines: list[str], severity: float, random: Random) -> list[str]:
    return [line.replace("G3", "G2") for line in lines]


def _as_rapid(lines: list[str], severity: float, random: Random) -> list[str]:
    feeding = [place for place, line in enumerate(lines) if line.startswith("G1 X")]
    chosen = set(feeding[: max(2, round(severity * len(feeding)))])
    return [line.replace("G1", "G0") if place in chosen else line for place, line in enumerate(lines)]


def _inches(lines: list[str], severity: float, random: Random) -> list[str]:
    return ["G20" if line == "G21" else line for line in lines]


def _calm(change: Callable[[list[str]], list[str]]) -> Callable[[Path, Random], None]:
    return lambda path, random: _edit(lambda lines, severity, chance: change(lines))(path, 0.0, random)


def _carriage_returns(path: Path, random: Random) -> None:
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def _in_inches(lines: list[str]) -> list[str]:
    """The same path, written in inches throughout."""
    changed = [_NUMBER.sub(lambda match: f"{match[1]}{float(match[2]) / 25.4:.7f}", line) for line in lines]
    feeds = [re.sub(r"F(\d+)", lambda match: f"F{float(match[1]) / 25.4:.6f}", line) for line in changed]
    return ["G20" if line == "G21" else line for line in feeds]


def _relative(lines: list[str]) -> list[str]:
    at, made = {"X": 0.0, "Y": 0.0, "Z": 0.0, "E": 0.0}, list[str]()
    for line in lines:

        def one(match: re.Match[str]) -> str:
            if match[1] in "IJ":
                return match[0]
            step = float(match[2]) - at[match[1]]
            at[match[1]] = float(match[2])
            return f"{match[1]}{step:.6f}"

        made.append("G91" if line == "G90" else _NUMBER.sub(one, line))
    return made


def _halved(lines: list[str]) -> list[str]:
    """Blocks numbered, commented, in small letters, without blanks."""
    return [
        f"n{10 * place}{line.lower().replace(' ', '')} (block {place}) ; note"
        for place, line in enumerate(lines)
    ]


KIT = Kit(
    kind="gcode",
    suffix=".gcode",
    sample=sample,
    damages=(
        Damage("shifted", "path", _numbers("X", lambda value, severity: value + 0.3 + 4 * severity)),
        Damage("stretched", "path", _numbers("XI", lambda value, severity: value * (1.02 + 0.2 * severity))),
        Damage("too deep", "path", _numbers("Z", lambda value, severity: value - 0.3 - severity)),
        Damage(
            "too much filament", "extrusion", _numbers("E", lambda value, severity: value * (1.05 + severity))
        ),
        Damage(
            "too little filament",
            "extrusion",
            _numbers("E", lambda value, severity: value * (0.95 - 0.9 * severity)),
        ),
        Damage("ends early", "path", _edit(_last)),
        Damage("cut twice", "length of cut", _edit(_again)),
        Damage("too fast", "feed", _edit(_faster), graded=False),
        Damage("rapids where it should feed", "path", _edit(_as_rapid)),
        Damage("corner turned the other way", "path", _edit(_other_way), graded=False),
        Damage("taken for inches", "path", _edit(_inches), graded=False),
    ),
    rewritings=(
        Rewriting("in inches", _calm(_in_inches)),
        Rewriting("relative coordinates", _calm(_relative)),
        Rewriting("numbered, commented, packed", _calm(_halved)),
        Rewriting("CRLF", _carriage_returns),
        Rewriting(
            "other codes between",
            _calm(
                lambda lines: [
                    *(part for line in lines for part in (line, "M105")),
                ]
            ),
        ),
        Rewriting("origin set anew", _calm(lambda lines: [*lines[:3], "G92 X0 Y0 Z0", *lines[3:]])),
    ),
)
