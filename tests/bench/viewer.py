"""How long the viewer's pages take until a person sees them: a 2,000-step trial, a 5,000-trial run.

Beside them, as the naive way, a page that holds every row at once.
"""

from __future__ import annotations

import argparse
import io
import json
import socket
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw
from playwright.sync_api import Page, sync_playwright
from rich.console import Console
from rich.table import Table

from practicum.agents.agent import Ending, ToolStep
from practicum.controller.files import now, write_json
from practicum.controller.outcome import Result, Scored, Spent, Trial
from practicum.controller.records import FORMAT, InstanceRecord
from practicum.controller.store import Attempt, PlanRecord, Run, StepWriter
from practicum.controller.viewer.access import Keys
from practicum.controller.viewer.library import Library
from practicum.controller.viewer.serve import Server
from practicum.infra.desk.desk import Frame
from practicum.infra.environment import ToolCall, ToolResult
from practicum.tasks.spec import Limits, Tier
from practicum.verifiers.verdict import Verdict, check

TRIALS, STEPS, ROUNDS = 5_000, 2_000, 5
NAIVE = """rows => {
  document.body.replaceChildren(...rows.map(row => {
    const made = document.createElement("div");
    made.textContent = row;
    return made;
  }));
  document.body.getBoundingClientRect();
}"""


def plan(root: Path) -> Run:
    trials = tuple(
        Trial(
            id=f"{number:020x}",
            task=f"cluster/task-{number // 50}",
            task_digest="t",
            agent=("first", "second")[number % 2],
            agent_digest="a",
            environment_digest="e",
            seed=number // 2 % 25,
            repeat=0,
            tier=Tier.NEAR_TERM,
            cluster="c",
            subdomain="s",
            limits=Limits(),
            desk_kind="fake",
        )
        for number in range(TRIALS)
    )
    facts: dict[str, Any] = {"tasks": {}, "agents": {}, "trials": trials}
    record = PlanRecord(
        format=FORMAT, run=root.name, created=now(), version="0", house="h", desk="fake", **facts
    )
    return Run.create(root, record)


def frames(count: int) -> list[Frame]:
    made = []
    for number in range(count):
        picture = Image.effect_noise((1280, 800), 20).convert("RGB")
        ImageDraw.Draw(picture).text((600, 400), str(number), fill="red")
        buffer = io.BytesIO()
        picture.save(buffer, "PNG", compress_level=1)
        made.append(Frame(buffer.getvalue(), 1280, 800, True, 0.0))
    return made


def fill(run: Run) -> None:
    verdict = Verdict((check("all", True),))
    shown = frames(40)
    for number, trial in enumerate(run.plan().trials):
        folder = run.trial(trial.id)
        with folder.lease():
            attempt = folder.begin()
            if number == 0:
                drive(attempt, trial, shown)
            outcome = Scored(verdict=verdict, ending=Ending.DONE)
            folder.finish(
                Result(trial=trial, outcome=outcome, spent=Spent(), attempt=1, started=now(), finished=now())
            )


def drive(attempt: Attempt, trial: Trial, shown: list[Frame]) -> None:
    question = InstanceRecord(
        format=FORMAT,
        task=trial.task,
        task_digest="t",
        verifier="m:f",
        seed=0,
        title="Long",
        instruction="Go on.",
        params={},
        tools=(),
    )
    write_json(attempt.instance_path, question)
    writer = StepWriter(attempt)
    for number in range(STEPS):
        call = ToolCall(str(number), "computer", {"action": "click", "x": number % 1280, "y": number % 800})
        writer.step(ToolStep(call, ToolResult(text="x" * 200, frames=(shown[number % len(shown)],)), 0.01))
    writer.close()


def timed(page: Page, url: str, seen: str) -> float:
    page.goto("about:blank")
    began = time.perf_counter()
    page.goto(url)
    page.wait_for_selector(seen)
    return time.perf_counter() - began


def walked(page: Page, steps: int) -> float:
    """Seconds a step while the right arrow is pressed."""
    began = time.perf_counter()
    for _ in range(steps):
        page.keyboard.press("ArrowRight")
    return (time.perf_counter() - began) / steps


def naive(page: Page) -> float:
    page.goto("about:blank")
    rows = [f"row {number} " + "x" * 200 for number in range(TRIALS)]
    began = time.perf_counter()
    page.evaluate(NAIVE, rows)
    return time.perf_counter() - began


def measure(run: Run) -> dict[str, list[float]]:
    keys, figures = Keys(), {}
    with socket.create_server(("127.0.0.1", 0)) as listener:
        host = f"127.0.0.1:{listener.getsockname()[1]}"
        server = Server.of(Library.of([run.root]), keys, frozenset({host}))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        with sync_playwright() as driver:
            browser = driver.chromium.launch(
                executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
            )
            page = browser.new_page()
            page.goto(f"http://{host}/enter#{keys.token}")
            page.wait_for_url("**/run/**")
            base = f"http://{host}/run/{run.root.name}"
            trial = f"{base}/trial/{run.plan().trials[0].id}/"
            rounds = range(ROUNDS)
            figures["run page, 5,000 trials"] = [timed(page, f"{base}/", "#matrix .dot") for _ in rounds]
            figures["trial page, 2,000 steps"] = [timed(page, trial, ".step.on") for _ in rounds]
            figures["one step by key"] = [walked(page, 50) for _ in rounds]
            figures["naive: 5,000 rows, no data, no links"] = [naive(page) for _ in rounds]
            browser.close()
        server.should_exit = True
        thread.join()
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    as_json = parser.parse_args().json
    with tempfile.TemporaryDirectory() as folder:
        run = plan(Path(folder) / "run")
        fill(run)
        figures = measure(run)
    told = {
        name: {"median": statistics.median(v), "min": min(v), "max": max(v), "unit": "s"}
        for name, v in figures.items()
    }
    if as_json:
        print(json.dumps(told))
        return
    table = Table("page", "median s", "min", "max")
    for name, row in told.items():
        table.add_row(name, *(f"{row[key]:.3f}" for key in ("median", "min", "max")))
    Console().print(table)


if __name__ == "__main__":
    main()
