"""The ladder separates the policies, and its records say what it found."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from practicum.controller.cli.worlds import app
from practicum.controller.ladder import RECORDS, Cell, Climb, climb, rungs
from practicum.tasks.worlds import library


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ladder")
    climb(Climb(library.names(), (3,)), records=folder)
    return folder


def test_every_habit_counts_where_it_should_and_only_there(records: Path) -> None:
    """Oracle 100 % everywhere; no-retry falls under E1 and E3; trusts-truncated under E2 and E3; no-verify
    and greedy on their traps; random and nobody never pass."""
    cells = [msgspec.json.decode(line, type=Cell) for line in (records / RECORDS).read_bytes().splitlines()]
    assert len(cells) == 20 * 4 * 7
    passed = {rung.policy: rung.passed for rung in rungs(cells)}
    assert passed["oracle"] == {"E0": 1.0, "E1": 1.0, "E2": 1.0, "E3": 1.0}
    assert (passed["no-retry"]["E0"], passed["no-retry"]["E2"]) == (1.0, 1.0)
    assert max(passed["no-retry"]["E1"], passed["no-retry"]["E3"]) < 0.2
    assert (passed["trusts-truncated"]["E0"], passed["trusts-truncated"]["E1"]) == (1.0, 1.0)
    assert max(passed["trusts-truncated"]["E2"], passed["trusts-truncated"]["E3"]) < 0.8
    for policy in ("no-verify", "greedy", "random-valid", "nop"):
        assert max(passed[policy].values()) == 0.0


def test_the_oracle_meets_all_faults_and_is_harmed_by_none(records: Path) -> None:
    cells = [msgspec.json.decode(line, type=Cell) for line in (records / RECORDS).read_bytes().splitlines()]
    (oracle,) = (rung for rung in rungs(cells) if rung.policy == "oracle")
    faults = oracle.faults
    assert faults.planned == faults.met == faults.noticed == faults.recovered == 120
    assert faults.harmed == 0
    assert oracle.robustness is not None
    assert oracle.robustness.value == 1.0


def test_two_climbs_are_equal() -> None:
    what = Climb(("public/customs",), (0, 1), ("E3",), ("oracle", "random-valid"))
    assert climb(what) == climb(what, workers=1)


def test_the_page_gets_the_table_between_its_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("above\n<!-- ladder: begin -->\nold\n<!-- ladder: end -->\nbelow\n")
    words = ["ladder", "public/dispatch", "--seeds", "0", "--faults", "E0,E1", "--policies", "oracle,nop"]
    result = CliRunner().invoke(app, [*words, "--write", str(page)])
    assert result.exit_code == 0, result.output
    text = page.read_text()
    assert "| oracle | 100.0 % | 100.0 % | 1.00 (1.00–1.00) | 2/2 | 2 | 2 | 0 |" in text
    assert "old" not in text
    assert text.startswith("above\n")
    assert text.endswith("below\n")
