"""Grading by a task's own verifier, in the jail, wherever the task lives."""

from __future__ import annotations

from pathlib import Path

from practicum.tasks.desk_task import DeskTask
from practicum.tasks.spec import Params, Task
from practicum.verifiers import jail
from practicum.verifiers.verdict import Verdict


def grade(task: Task, outputs: Path, reference: Path, params: Params) -> Verdict:
    """Raises `VerifierError` where the verifier failed, never for anything in the outputs."""
    outside = task.search_path if isinstance(task, DeskTask) else ()
    return jail.grade(task.verifier, outputs, reference, params, search_path=outside)
