"""The shipped house, warm desks, and the commands that follow, grade again and export."""

from __future__ import annotations

import importlib
import json
import threading
from dataclasses import replace

import pytest

from practicum.agents.registry import UnknownAgent
from practicum.controller import launch
from practicum.controller.cli.main import run as practicum
from practicum.controller.cli.watch import follow
from practicum.controller.engine import Inline
from practicum.controller.errors import BadRequest, Impossible
from practicum.controller.events import RunEnded, TrialEnded
from practicum.controller.files import appending
from practicum.controller.index import summaries
from practicum.controller.outcome import Scored
from practicum.controller.regrade import regrade
from practicum.controller.standard import PROVIDERS, Standard
from practicum.controller.toys import ToyHouse
from practicum.controller.warm import Houses, WarmHouse
from practicum.tasks.errors import TaskError
from practicum.verifiers.verdict import Verdict, check


@pytest.mark.parametrize("target", PROVIDERS.values())
def test_every_kind_of_desk_can_be_imported(target):
    module, _, name = target.partition(":")
    assert hasattr(importlib.import_module(module), name)


def test_the_shipped_house_refuses_what_it_does_not_have():
    house = Standard()
    with pytest.raises(TaskError):
        house.select(["no-such-task"])
    with pytest.raises(UnknownAgent):
        house.sitter("nobody")
    with pytest.raises(BadRequest):
        house.desks("cloud")


def test_every_task_is_found_by_its_name_in_another_process():
    house = Standard()
    for task in house.select(["all"]):
        assert house.task(house.name_of(task)).spec == task.spec


def test_desks_without_a_pool_are_handed_out_as_they_are():
    with Houses() as houses:
        plain = houses.open("practicum.controller.toys:ToyHouse", 0)
        warm = houses.open("practicum.controller.toys:ToyHouse", 2)
        assert isinstance(plain, ToyHouse)
        assert isinstance(warm, WarmHouse)
        assert warm is houses.open("practicum.controller.toys:ToyHouse", 2)
        assert warm.desks("fake").kind == "fake"


def test_a_run_whose_task_changed_since_is_not_resumed(lab):
    run = lab.go("toys/near-term/0")
    record = run.record()
    launch.require_unchanged(run, record)
    plan = json.loads(run.plan_path.read_bytes())
    plan["trials"][0]["task_digest"] = "other"
    run.plan_path.write_text(json.dumps(plan))
    with pytest.raises(Impossible, match="task toys/near-term/0"):
        launch.require_unchanged(run, run.record())


def test_watching_shows_all_events_from_the_first_and_ends_with_the_run(lab):
    spec = lab.spec("toys/near-term/[0-2]", agents=("nop",))
    run = lab.begin(spec)
    seen = []
    watcher = threading.Thread(target=lambda: seen.extend(follow(run)))
    with appending(run.events, sync=False) as lines:
        watcher.start()
        sweep = lab.sweep(run, spec, engine=Inline())
        sweep.tell = lines.append
        sweep.go()
    watcher.join(timeout=20)
    assert not watcher.is_alive()
    assert isinstance(seen[-1], RunEnded)
    assert sum(isinstance(event, TrialEnded) for event in seen) == 3


def test_grading_again_replaces_the_verdict_and_keeps_the_old_one(lab):
    run = lab.go("toys/near-term/0")
    trial = run.plan().trials[0]
    folder = run.trial(trial.id)
    before = folder.result()
    wrong = Scored(verdict=Verdict((check("number", False),)), ending=before.outcome.ending)
    with folder.lease():
        folder.finish(replace(before, outcome=wrong), again=True)
    (graded,) = regrade(run, ToyHouse())
    assert (graded.before, graded.after, graded.task_changed) == (0.0, 1.0, False)
    attempt = folder.counting_attempt()
    assert json.loads((attempt.root / "graded-1.json").read_bytes())["outcome"]["verdict"]["checks"]
    assert attempt.result().environment["graded"]
    assert summaries(run)[0].passed


def test_a_verifier_that_failed_can_be_mended_and_its_trial_graded(lab):
    run = lab.go("toys/moods/no-verdict")
    (graded,) = regrade(run, ToyHouse())
    assert (graded.before, graded.after) == (None, None)


def test_exported_trajectories_find_their_frames(lab, tmp_path):
    run = lab.go("toys/near-term/0", agents=("look",))
    out = tmp_path / "exported"
    assert practicum(["export", str(run.root), "--out", str(out)]) == 0
    (path,) = out.glob("*/trajectory.json")
    document = json.loads(path.read_bytes())
    images = [
        part["source"]["path"]
        for step in document["steps"]
        for result in step.get("observation", {}).get("results", [])
        for part in result["content"]
        if part["type"] == "image"
    ]
    assert images
    assert all((path.parent / image).is_file() for image in images)


def test_prices_are_shown_and_a_bill_is_reckoned(capsys):
    assert practicum(["prices", "show", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["models"]["gpt-5"]["input"] == 1250
    line = ["prices", "bill", "gpt-5", "--tokens-in", "1000000", "--tokens-out", "1000000"]
    assert practicum(line) == 0
    assert capsys.readouterr().out == "$11.25\n"


def test_a_run_is_priced_before_it_starts(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    toys = ("--desk", "fake", "--house", "practicum.controller.toys:ToyHouse")
    line = ["plan", "toys/near-term/[0-3]", "--agent", "spender:2,oracle", *toys]
    money = ["--price-in", "1", "--price-out", "4", "--trial-dollars", "0.5", "--budget", "1", "--json"]
    assert practicum([*line, *money]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["nano_dollars"] == 4 * 0.5e9
    assert found["affordable"] == 4
    assert not list(tmp_path.iterdir())
