"""The generalist agent: an agent file, put together anew for every exam."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from practicum.agents.agent import Exam
from practicum.agents.generalist.file import (
    AgentFile,
    Chat,
    Scripted,
    body,
    brain,
    check,
    endpoint,
    layers,
)
from practicum.agents.identity import digest, file_digest
from practicum.agents.strict import load_toml


@dataclass(frozen=True, slots=True)
class Generalist:
    """`path` is where the agent file lies; scripts and records are found from there."""

    name: str
    digest: str
    path: Path
    file: AgentFile

    @property
    def models(self) -> tuple[str, ...]:
        """Which models it may ask, by their names in the price table."""
        chosen, _ = brain(self.path, self.file.brain)
        return (chosen.name,)

    def sit(self, exam: Exam) -> None:
        body(self.file.body).work(exam, layers(self.path, self.file))


def load(path: Path) -> Generalist:
    """Raises `BadFile`, also for a script or record the file names, and `AgentUnavailable`."""
    file = load_toml(path, AgentFile)
    check(path, file)
    brain(path, file.brain)
    facts = {"file": file, **_beside(path, file)}
    return Generalist(path.stem, digest(path.stem, facts), path, file)


def _beside(path: Path, file: AgentFile) -> dict[str, Any]:
    """What decides behaviour and is not in the agent file. The key does not."""
    match file.brain:
        case Chat() as chat:
            where = endpoint(chat)
            return {"model": where.model, "base_url": where.base_url}
        case Scripted(script=script):
            return {"script": file_digest(path.parent / script)}
        case recorded:
            return {"record": file_digest(path.parent / recorded.record)}
