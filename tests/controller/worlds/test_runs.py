"""Worlds in the ordinary run: same store, same report, under faults, and played by a model under a ledger."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from practicum.agents.agent import Prompt, Reply, Text
from practicum.agents.serve.server import ChatServer
from practicum.controller import launch
from practicum.controller.cli.main import run as command
from practicum.controller.cli.worlds import fault_totals
from practicum.controller.conduct import make_sweep
from practicum.controller.engine import Inline
from practicum.controller.errors import BadRequest
from practicum.controller.index import summaries
from practicum.controller.ledger import RUN, Ledger, Unit
from practicum.controller.outcome import FaultKind, Phase
from practicum.controller.policy import Policy
from practicum.controller.report import read
from practicum.controller.runfile import Prices, RunFile
from practicum.controller.store import Run
from practicum.controller.summary import Standing
from practicum.infra.environment import ToolCall
from practicum.infra.faults.account import FaultAccount
from practicum.infra.world.engine import WorldEnvironment
from practicum.tasks.worlds import library

DISPATCH = "worlds/public/dispatch"


def go(root: Path, *tasks: str, **settings: object) -> Run:
    spec = RunFile(tasks=tasks, desk="fake", prices=Prices(input=1.0, output=4.0), **settings)  # type: ignore[arg-type]
    run = launch.begin(launch.propose(spec), root)
    make_sweep(run, spec, Inline(), Policy(), lambda _: None).go()
    return run


def test_policies_sit_worlds_like_any_agent_and_faults_are_accounted(tmp_path: Path) -> None:
    run = go(tmp_path / "r", DISPATCH, agents=("oracle", "no-retry"), faults=("E0", "E1"), seeds="0-1")
    passed = {
        (summary.trial.agent, summary.trial.faults, summary.trial.seed): summary.passed
        for summary in summaries(run)
    }
    assert passed == {
        (agent, level, seed): not (agent == "no-retry" and level == "E1")
        for agent in ("oracle", "no-retry")
        for level in ("E0", "E1")
        for seed in (0, 1)
    }
    assert command(["worlds", "replay", str(run.root)]) == 0
    totals = fault_totals(run)
    assert totals["oracle", "E1"] == FaultAccount(4, 4, 4, 4, 0)
    assert totals["no-retry", "E1"].harmed == 2
    ratios = {line.agent: line.ratio for line in read(run).robustness}
    assert ratios == {"oracle": 1.0, "no-retry": 0.0}


def test_a_journal_that_was_edited_does_not_replay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = go(tmp_path / "r", DISPATCH, agents=("oracle",), seeds="0-1")
    journal = sorted(run.root.rglob("journal.jsonl"))[0]
    journal.write_bytes(journal.read_bytes().replace(b'"reached":true', b'"reached":false', 1))
    assert command(["worlds", "replay", str(run.root)]) == 1
    assert "1 of 2 journals" in capsys.readouterr().out


def honest(prompt: Prompt) -> Reply:
    """Plays dispatch rightly: works the call out with the real tools on the state that it is shown."""
    (part,) = prompt.messages[-1].parts  # type: ignore[union-attr]
    assert isinstance(part, Text)
    shown, _, call = part.text.rpartition("\n\nThe call:\n")
    state, asked = json.loads(shown.partition("The state now:\n")[2]), json.loads(call)
    rules = library.scenario("public/dispatch").rules
    world = WorldEnvironment(rules, rules.load(state))
    result = world.call(ToolCall("1", asked["tool"], asked["arguments"]))
    data = result.data or {}
    changes = [{"table": c.table, "id": c.id, "row": c.after} for c in world.entries[-1].changes]
    reply = {"refused": "", "answer": data.get("items", data.get("record")), "changes": changes}
    if result.error is not None:
        reply = {"refused": result.text, "answer": None, "changes": []}
    return Reply(text=json.dumps(reply))


def at(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")


def test_a_model_plays_a_world_under_the_ledger_and_is_paid_from_the_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same oracle passes, graded by state; what the world cost is in the book of the run."""
    with ChatServer(honest) as server:
        at(server, monkeypatch)
        run = go(tmp_path / "r", f"{DISPATCH}@ledger:stub", agents=("oracle",), faults=("E0", "E2"))
        billed = sum(1_000 * (usage.input or 0) + 4_000 * (usage.output or 0) for usage in server.billed)
    assert [(s.trial.task, s.passed) for s in summaries(run)] == [(f"{DISPATCH}@ledger:stub", True)] * 2
    with closing(Ledger(run.ledger)) as book:
        assert book.total(RUN, Unit.NANO_DOLLARS).spent >= billed > 0


def test_a_world_that_is_played_invalidly_is_a_fault_of_the_world(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ChatServer(lambda _: Reply(text="I would rather not.")) as server:
        at(server, monkeypatch)
        run = go(tmp_path / "r", f"{DISPATCH}@ledger:stub", agents=("oracle",))
    (summary,) = summaries(run)
    assert (summary.standing, summary.phase, summary.kind) == (Standing.FAULT, Phase.DRIVE, FaultKind.WORLD)


@pytest.mark.parametrize("pattern", [f"{DISPATCH}@ledger:", f"{DISPATCH}@language:x", f"{DISPATCH}@"])
def test_other_players_are_refused_while_planning(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(BadRequest, match="ledger:MODEL"):
        go(tmp_path / "r", pattern, agents=("oracle",))


@pytest.mark.parametrize(
    "words",
    [
        ["audit", "executable", "--world", "public/dispatch", "--json"],
        ["audit", "planted:0.2", "--world", "public/dispatch"],
        ["worlds", "list", "--json"],
        ["worlds", "ladder", "public/dispatch", "--seeds", "0", "--policies", "oracle", "--json"],
    ],
)
def test_commands_answer(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command(words) == 0
    printed = capsys.readouterr().out
    assert printed
    if words[-1] == "--json":
        json.loads(printed)


def test_the_page_of_an_audit_has_the_table_and_examples(tmp_path: Path) -> None:
    page = tmp_path / "audit.md"
    assert command(["audit", "planted:0.3", "--world", "public/dispatch", "--page", str(page)]) == 0
    text = page.read_text()
    assert text.startswith("# Audit of `planted:0.3`")
    assert "| rule invention |" in text
    assert "## Examples" in text


def test_runs_are_compared_by_rank(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two runs of the same agents agree; the ceiling is told or said to be untellable."""
    for name in ("a", "b"):
        go(tmp_path / name, "worlds/public/*", agents=("oracle", "no-verify", "nop"), seeds="0-1")
    assert command(["agree", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    printed = capsys.readouterr().out
    assert "tau-b" in printed
    assert "with itself" in printed
    assert command(["agree", str(tmp_path / "a")]) == 1


@pytest.mark.parametrize("level", ["E1x12x2", "E3x12x2"])
def test_desks_meet_faults_too_and_their_oracles_come_through(lab: Any, level: str) -> None:
    """A desk that fails for a while is not the agent's end; what struck is in the record."""
    run = lab.go("toys/near-term/0", "toys/near-term/1", faults=(level,), seeds="0-2")
    assert all(summary.passed for summary in summaries(run))
    (total,) = fault_totals(run).values()
    assert total.planned == 72
    assert total.met > 0
    assert total.harmed == 0
