"""A recorded run: made with the real store and the fake desk, holding every outcome and hostile strings."""

from __future__ import annotations

import io
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from practicum.agents.agent import Ending, ModelStep, NoteStep, Reply, ToolStep, Usage
from practicum.controller.files import now, write_json
from practicum.controller.outcome import (
    Cancelled,
    Fault,
    FaultKind,
    Outcome,
    Phase,
    Result,
    Scored,
    Spent,
    Trial,
)
from practicum.controller.records import FORMAT, InstanceRecord
from practicum.controller.store import Attempt, PlanRecord, Run, StepWriter
from practicum.infra.desk.applications import Targets
from practicum.infra.desk.desk import DeskSpec, Label
from practicum.infra.desk.fake import FakeDesks
from practicum.infra.desk.tools import DeskEnvironment, DeskTool
from practicum.infra.environment import ToolCall
from practicum.tasks.spec import Limits, Tier
from practicum.verifiers.verdict import Evidence, Verdict, all_of, check

HOSTILE = (
    "<script>document.title='owned'</script><img src=x onerror=alert(1)>\x1b[31mred\x1b]0;t\x07\u202egnp"
)
CLICKS = (0, 7, 19, 39)


def trial(number: int, task: str, agent: str) -> Trial:
    return Trial(
        id=f"{number:020x}",
        task=task,
        task_digest="t",
        agent=agent,
        agent_digest="a",
        environment_digest="e",
        seed=number % 3,
        repeat=0,
        tier=Tier.NEAR_TERM,
        cluster="engineering",
        subdomain="Electronics",
        limits=Limits(),
        desk_kind="fake",
    )


def _png() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (40, 30), "teal").save(buffer, "PNG")
    return buffer.getvalue()


def verdict(*, passed: bool) -> Verdict:
    picture = Evidence("deviation.png", "image/png", _png(), "where it differs")
    drawing = Evidence(
        "drawing.svg", "image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"
    )
    bore = replace(check("bore", passed, expected="Ø 16 mm", found=HOSTILE), evidence=(picture, drawing))
    return Verdict((check("opens", True), all_of("holes", [bore, check("slot", True)])))


def describe(attempt: Attempt, planned: Trial) -> None:
    record = InstanceRecord(
        format=FORMAT,
        task=planned.task,
        task_digest="t",
        verifier="m:f",
        seed=planned.seed,
        title="Hit the targets",
        instruction=f"Click them all.\n{HOSTILE}",
        params={},
        tools=(),
    )
    write_json(attempt.instance_path, record)


def drive(attempt: Attempt, clicks: tuple[int, ...]) -> None:
    """A short sitting on a page of numbered discs, with a thought before each click."""
    page = Targets(1280, 800)
    writer = StepWriter(attempt)
    spec = DeskSpec("base")
    with FakeDesks(application=lambda _: page).open(spec, Label("r", "t", time.time() + 600)) as desk:
        box = DeskEnvironment(desk, frozenset(DeskTool), ())
        calls = [{"action": "screenshot"}]
        calls += [{"action": "click", "x": page.centre(n).x, "y": page.centre(n).y} for n in clicks]
        calls += [{"action": "type", "text": "naïve ✓"}, {"action": "drag", "path": [[10, 10], [400, 300]]}]
        for number, arguments in enumerate(calls):
            usage = Usage(input=100, output=20)
            reply = Reply(text=f"thinking about {number} {HOSTILE}")
            writer.step(
                ModelStep(model="m", reply=reply, usage=usage, cost=1_000_000, seconds=0.5, prompt_messages=2)
            )
            call = ToolCall(str(number), "computer", arguments)
            writer.step(ToolStep(call, box.call(call), 0.02))
        shell = ToolCall("bash", "bash", {"command": "printf '\\033[31mred'"})
        writer.step(ToolStep(shell, box.call(shell), 0.01))
        writer.step(NoteStep("body", "all targets are hit"))
    writer.close()


def finish(run: Run, planned: Trial, outcome: Outcome, clicks: tuple[int, ...] = CLICKS) -> None:
    folder = run.trial(planned.id)
    with folder.lease():
        attempt = folder.begin()
        describe(attempt, planned)
        drive(attempt, clicks)
        spent = Spent(seconds=3.0, steps=7, tokens=840, nano_dollars=7_000_000)
        folder.finish(
            Result(
                trial=planned,
                outcome=outcome,
                spent=spent,
                attempt=attempt.number,
                started=now(),
                finished=now(),
                environment={"left_out": ("b.txt: not there",)},
            )
        )


def make_run(root: Path) -> Run:
    tasks = ("engineering/bracket", "office/ledger")
    trials = [trial(n, tasks[n % 2], ("oracle", "nop")[n // 2 % 2]) for n in range(6)]
    record = PlanRecord(
        format=FORMAT,
        run=root.name,
        created=now(),
        version="0",
        house="h",
        desk="fake",
        tasks={},
        agents={},
        trials=tuple(trials),
    )
    run = Run.create(root, record)
    finish(run, trials[0], Scored(verdict=verdict(passed=True), ending=Ending.DONE))
    finish(run, trials[1], Scored(verdict=verdict(passed=False), ending=Ending.STEPS), clicks=(0, 8))
    finish(run, trials[2], Fault(phase=Phase.DRIVE, kind=FaultKind.DESK, error=HOSTILE, logs="log"))
    finish(run, trials[3], Cancelled(reason="told to stop"))
    return run


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("viewer") / "recorded").root


@pytest.fixture
def run(recorded: Path, tmp_path: Path) -> Run:
    """A copy of one's own, so that a test may go on recording."""
    return Run.open(shutil.copytree(recorded, tmp_path / recorded.name))


@pytest.fixture
def finish_well() -> Callable[[Run, Trial], None]:
    """Finishes a pending trial as passed."""
    return lambda run, planned: finish(run, planned, Scored(verdict=verdict(passed=True), ending=Ending.DONE))
