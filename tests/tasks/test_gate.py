"""The authoring gate lets a right task through and stops each kind of wrong one for its own reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from practicum.controller.check import Gate, Report, on_paper
from practicum.controller.check_desk import LOCALES, ZONES, Abroad, abroad, at_desk
from practicum.infra.desk.fake import FakeDesks
from practicum.tasks.loader import load
from practicum.tasks.scaffold import scaffold


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return scaffold("business/fuel-log", tmp_path)


def failing(report: Report) -> set[Gate]:
    return {finding.gate for finding in report.findings if not finding.passed}


def details(report: Report) -> str:
    return "\n".join(finding.detail for finding in report.findings)


def test_the_scaffolded_task_passes_on_paper(folder: Path) -> None:
    """All gates without a desk, each of them with at least one demand."""
    report = on_paper(load(folder), (0, 1))
    assert report.passed, details(report)
    asked = {finding.gate for finding in report.findings}
    assert asked == set(Gate) - {Gate.DESK, Gate.NOP, Gate.ORACLE, Gate.RED_TEAM, Gate.TIER}


@pytest.mark.parametrize("position", range(5))
def test_the_scaffolded_task_passes_at_a_desk_under_each_attack(folder: Path, position: int) -> None:
    """Oracle, nobody and one red-team attack a position, with mutants made of what the oracle left."""
    report = at_desk(load(folder), position, position, FakeDesks())
    assert report.passed, details(report)
    assert {finding.gate for finding in report.findings} == set(Gate) - {Gate.DESK, Gate.IDEAL}
    assert report.actions == (1,)


BROKEN = [
    ("rng.randrange(100, 100000)", "__import__('random').randrange(100, 100000)", Gate.GENERATION),
    ('yield params["total"]', 'yield params["amounts"][0]', Gate.LINT),
    ('f"amount {number}": amount', "f\"amount {number}\": amount + ' exactly'", Gate.LINT),
    ('"answer", found is not None', '"answer", True', Gate.EMPTY),
    ("found == wanted", "found is not None", Gate.FOREIGN),
    ("found == wanted", "abs(found - wanted) < 1", Gate.MUTANTS),
    ('check("total",', 'check("sum",', Gate.MUTANTS),
    ('encoding="utf-8-sig").strip()', "encoding=\"utf-8\").strip(' \\n')", Gate.BENIGN),
    (
        '(outputs / ANSWER).write_text((reference / "total").read_text(encoding="utf-8"), encoding="utf-8")',
        '(outputs / ANSWER).write_text("0.00")',
        Gate.IDEAL,
    ),
]


@pytest.mark.parametrize(("old", "new", "gate"), BROKEN, ids=[f"{row[2]}: {row[1][:30]}" for row in BROKEN])
def test_a_broken_task_is_stopped(folder: Path, old: str, new: str, gate: Gate) -> None:
    """One line of a right task made wrong fails the gate that is there for it."""
    path = folder / "task.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    report = on_paper(load(folder), (0,))
    assert gate in failing(report), details(report)


def test_a_tier_that_the_rule_does_not_give_is_stopped(folder: Path) -> None:
    """One action in one application is near-term, whatever the author feels."""
    path = folder / "task.toml"
    path.write_text(path.read_text().replace('tier = "near-term"', 'tier = "last-exam"'))
    assert failing(at_desk(load(folder), 0, 0, FakeDesks())) == {Gate.TIER}


def test_an_oracle_that_does_not_solve_is_stopped(folder: Path) -> None:
    """The oracle's own output must pass."""
    path = folder / "task.py"
    path.write_text(path.read_text().replace("f\"{params['total']}\\n\")", "'0.00')", 1))
    assert Gate.ORACLE in failing(at_desk(load(folder), 0, 0, FakeDesks()))


def test_nine_seeds_in_a_row_meet_every_locale_in_every_zone() -> None:
    """Locales and time zones turn independently."""
    met = [abroad(FakeDesks(), position) for position in range(9)]
    assert all(isinstance(desks, Abroad) for desks in met)
    assert {(desks.locale, desks.timezone) for desks in met} == {(a, b) for a in LOCALES for b in ZONES}
