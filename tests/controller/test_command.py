"""The command line: bad input of every sort is one clear line and a non-zero exit code."""

from __future__ import annotations

import importlib
import json
import sys

import pytest

from practicum.controller.cli.commands import COMMANDS
from practicum.controller.cli.main import run as practicum

TOYS = ("--desk", "fake", "--house", "practicum.controller.toys:ToyHouse")


def test_every_command_of_the_table_is_there():
    for row in COMMANDS:
        module, _, attribute = row.target.partition(":")
        assert hasattr(importlib.import_module(module), attribute), row.name


def test_help_imports_no_command(capsys):
    before = set(sys.modules)
    assert practicum(["--help"]) == 0
    assert "sit agents at tasks" in capsys.readouterr().out.lower()
    assert not {name for name in set(sys.modules) - before if name.startswith("practicum.")}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (["run"], "say which tasks"),
        (["run", "no-such-task", *TOYS], "no toy is called no-such-task"),
        (["run", "near-term", "--agent", "nobody", *TOYS], "nobody"),
        (["run", "near-term", "--desk", "cloud"], "no desks of kind 'cloud'"),
        (["run", "near-term", "--seeds", "4-2", *TOYS], "goes upwards"),
        (["run", "near-term", "--seeds", "x", *TOYS], "seeds are numbers"),
        (["run", "near-term", "--budget", "much", *TOYS], "not an amount of dollars"),
        (["run", "near-term", "--agent", "spender:1", *TOYS], "no price for model 'toy-model'"),
        (["run", "near-term", "--where", "colour=red", *TOYS], "--where knows image"),
        (["run", "near-term", "--where", "image=cad", *TOYS], "no task of near-term has image = cad"),
        (["run", "near-term", "--prices", "/nowhere.toml", *TOYS], "No such file"),
        (["run", "--resume", "/nowhere"], "not a run"),
        (["run", "near-term", "--resume", "/nowhere"], "leave the selection out"),
        (["report", "/nowhere"], "not a run"),
        (["regrade", "/nowhere"], "not a run"),
        (["export", "/nowhere"], "not a run"),
    ],
)
def test_bad_input_is_one_line_and_fails(line, says, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert practicum(line) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert says in said
    assert not list(tmp_path.iterdir())


def test_an_unexpected_error_shows_its_traceback_only_when_asked(capsys, monkeypatch):
    def broken(name):
        raise KeyError(name)

    monkeypatch.setattr(importlib, "import_module", broken)
    assert practicum(["report", "x"]) == 1
    short = capsys.readouterr().err
    assert short.count("\n") == 1
    assert "unexpected KeyError" in short
    assert practicum(["--debug", "report", "x"]) == 1
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("key", ["agent", "bugdet", "limits.step", "caps.dollar"])
def test_a_run_file_with_an_unknown_key_is_refused_with_its_neighbour(key, tmp_path, capsys):
    table, _, name = key.rpartition(".")
    path = tmp_path / "run.toml"
    head = f"[{table}]\n" if table else ""
    path.write_text(f'tasks = ["x"]\nagents = ["nop"]\n{head}{name} = 1\n')
    assert practicum(["run", str(path)]) == 1
    said = capsys.readouterr().err
    assert f"unknown key {key}" in said
    assert "did you mean" in said or "there are" in said


def test_a_run_where_nothing_is_scored_fails(tmp_path, capsys):
    line = ["run", "toys/near-term/0", "--agent", "crash", "--out", str(tmp_path / "r"), *TOYS]
    assert practicum(line) == 1
    assert "nothing was scored: 1 planned = 0 scored + 1 fault" in capsys.readouterr().err
    assert practicum(["report", str(tmp_path / "r")]) == 1


def test_a_run_can_be_repeated_from_what_it_wrote_down(tmp_path, capsys):
    first, second = tmp_path / "first", tmp_path / "second"
    common = ["--agent", "oracle,nop", "--seeds", "0-1", "--trial-steps", "4", *TOYS]
    assert practicum(["run", "toys/near-term/0", *common, "--out", str(first)]) == 0
    assert practicum(["run", str(first / "run.toml"), "--out", str(second)]) == 0
    plans = [json.loads((folder / "plan.json").read_text())["trials"] for folder in (first, second)]
    assert plans[0] == plans[1]
    out = capsys.readouterr().out
    assert out.count("4 planned = 4 scored + 0 fault + 0 cancelled + 0 pending") == 2
    assert str(second) in out


def test_events_and_reports_are_read_by_programs(tmp_path, capsys):
    folder = str(tmp_path / "r")
    assert practicum(["run", "toys/near-term/0", "--agent", "oracle", "--json", "--out", folder, *TOYS]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["event"] for line in lines] == ["run_started", "trial_started", "trial_ended", "run_ended"]
    assert practicum(["report", folder, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["counts"] == {"planned": 1, "scored": 1, "fault": 0, "cancelled": 0, "pending": 0}
    assert practicum(["report", folder, "--csv"]) == 0
    head, row = capsys.readouterr().out.splitlines()
    assert dict(zip(head.split(","), row.split(","), strict=True))["score"] == "1.0"
    assert practicum(["regrade", folder, "--json"]) == 0
    (graded,) = json.loads(capsys.readouterr().out)
    assert graded["before"] == graded["after"] == 1.0
