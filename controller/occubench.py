"""Sitting agents at imported worlds: a folder and transcript for each, and a judge's opinion if asked."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from practicum.agents.agent import Agent, Ending, Meter, ModelFault, NoteStep, Step
from practicum.controller.exam import Sitting
from practicum.controller.files import write_json
from practicum.infra.errors import WorldFault
from practicum.infra.world.backends.chat import Chat
from practicum.tasks.spec import Limits
from practicum.tasks.worlds.occubench.judge import judge
from practicum.tasks.worlds.occubench.reader import ImportedTask
from practicum.tasks.worlds.occubench.world import ImportedWorld

RECORD = "result.json"
SECONDS = 1800.0


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one imported task. `judged` is a model's opinion, `None` where none was asked.

    `fault` when the world or a model failed: that is no score.
    """

    task: str
    industry: str
    difficulty: int
    agent: str
    calls: int
    ending: Ending | None
    response: str | None
    judged: bool | None = None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Sitters:
    """Who does what: `agent` makes one for each task, `world` plays it, `judge` may read the transcript."""

    agent: Callable[[], Agent]
    world: Chat
    meter: Meter
    judge: Chat | None = None
    mended: bool = False
    steps: int = 60


@dataclass(slots=True)
class _Notes:
    """What an agent says of itself; the transcript has everything else."""

    notes: list[str] = field(default_factory=list)

    def step(self, step: Step) -> None:
        if isinstance(step, NoteStep):
            self.notes.append(f"{step.layer}: {step.text}")


def sit_all(tasks: Iterable[ImportedTask], who: Sitters, out: Path, *, workers: int = 2) -> list[Imported]:
    """Every task once; each leaves a folder under `out`. In the order of the tasks."""
    out.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda task: sit(task, who, out / task.id.replace("/", "-")), tasks))


def sit(task: ImportedTask, who: Sitters, folder: Path) -> Imported:
    folder.mkdir()
    world = ImportedWorld(task, who.world, mended=who.mended)
    agent, notes = who.agent(), _Notes()
    exam = Sitting(
        instruction=task.task.agent_instruction,
        tools=world.tools(),
        seed=zlib.crc32(task.id.encode()),
        environment=world,
        limits=Limits(steps=who.steps, seconds=SECONDS),
        meter=who.meter,
        recorder=notes,
    )
    ending: Ending | None = None
    judged: bool | None = None
    fault = ""
    try:
        ending = exam.seat(agent)
        judged = _opinion(task, who, world, folder)
    except (WorldFault, ModelFault) as error:
        fault = str(error)
    world.collect(folder)
    result = Imported(
        task=task.id,
        industry=task.industry,
        difficulty=task.task.difficulty_level,
        agent=agent.name,
        calls=len(world.exchanges),
        ending=ending,
        response=world.response,
        judged=judged,
        fault=fault,
    )
    write_json(folder / RECORD, result)
    return result


def _opinion(task: ImportedTask, who: Sitters, world: ImportedWorld, folder: Path) -> bool | None:
    if who.judge is None:
        return None
    found = judge(who.judge, task.task, world.exchanges, world.response)
    write_json(folder / "judgement.json", found)
    return found.passed
