"""`practicum verify`: what it prints and how it exits."""

import json
from pathlib import Path
from random import Random

import pytest

from practicum.controller.cli.main import run
from practicum.verifiers import mutation


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A reference, a file that says the same, and one that does not."""
    kit = mutation.kit("tables")
    paths = tuple(tmp_path / f"{name}.csv" for name in ("reference", "same", "other"))
    for path in paths:
        kit.sample(path, Random(3))
    next(item for item in kit.rewritings if item.name == "semicolons").apply(paths[1], Random(3))
    next(item for item in kit.damages if item.name == "sign flipped").apply(paths[2], 0.3, Random(3))
    return paths[0], paths[1], paths[2]


def test_zero_passes_one_fails_two_cannot_tell(
    files: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is the answer, and the tree names the check that failed and why."""
    reference, same, other = map(str, files)
    assert run(["verify", "tables", same, reference]) == 0
    assert "pass" in capsys.readouterr().out
    assert run(["verify", "tables", other, reference]) == 1
    shown = capsys.readouterr().out
    assert "amount" in shown
    assert "expected" in shown
    for arguments in (
        ["nonsense", same, reference],
        ["tables", same, reference + ".gone"],
        ["mesh", same, reference],
    ):
        assert run(["verify", *arguments]) == 2
        assert "cannot tell" in capsys.readouterr().err


def test_json_has_the_whole_verdict(
    files: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """One object: passed, score, failures, checks."""
    reference, _, other = map(str, files)
    assert run(["verify", "tables", other, reference, "--json"]) == 1
    whole = json.loads(capsys.readouterr().out)
    assert whole["passed"] is False
    assert 0.0 < whole["score"] < 1.0
    assert "cells/amount" in whole["failures"]
    assert {item["name"] for item in whole["checks"]} >= {"readable", "columns", "rows", "cells"}


def test_a_spec_file_counts(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """Only the columns it names are compared; a field that does not exist is an error, not ignored."""
    reference, _, other = map(str, files)
    spec = tmp_path / "spec.toml"
    spec.write_text('key = ["id"]\nextra_columns = true\n[[columns]]\nname = "name"\n')
    assert run(["verify", "tables", other, reference, "--spec", str(spec)]) == 0
    spec.write_text("key = 3\n")
    assert run(["verify", "tables", other, reference, "--spec", str(spec)]) == 2
    spec.write_text("no_such_field = 3\n")
    assert run(["verify", "tables", other, reference, "--spec", str(spec)]) == 2


def test_evidence_is_saved_where_asked(tmp_path: Path) -> None:
    """A picture of the difference lands in the folder."""
    kit = mutation.kit("image")
    path = tmp_path / "a.png"
    kit.sample(path, Random(1))
    assert run(["verify", "image", str(path), str(path), "--evidence", str(tmp_path / "seen")]) == 0
    assert (tmp_path / "seen" / "difference.png").read_bytes().startswith(b"\x89PNG")
