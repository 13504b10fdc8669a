"""A string to find exam material by, wherever it should not have gone."""

from __future__ import annotations

import uuid
from pathlib import Path

NAMESPACE = uuid.UUID("5f1f9a4e-6f0e-5f57-9d07-2a1b8c6de0c4")
FILE = "CANARY.txt"


def canary(task: str) -> str:
    """One GUID a task; the same for every instance, so that one search finds all of them."""
    return f"practicum canary GUID {uuid.uuid5(NAMESPACE, task)}"


def plant(task: str, *folders: Path) -> None:
    """Write the canary beside the exam material in each folder."""
    text = f"Exam material: it must not appear in training corpora.\n{canary(task)}\n"
    for folder in folders:
        (folder / FILE).write_text(text, encoding="ascii")


def planted(task: str, folder: Path) -> bool:
    path = folder / FILE
    return path.is_file() and canary(task) in path.read_text(encoding="ascii", errors="replace")
