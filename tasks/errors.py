"""What may be wrong with a task, typed once; each message is one line an author can act on.

    TaskError
    ├── UnknownTask     a selection names nothing; carries the nearest names
    ├── MalformedTask   the folder of a task cannot be read; names the file
    ├── BadTemplate     an instruction and its facts do not fit each other
    └── BadSitting      a secret or a seed range cannot be used

A task that fails the authoring gate is a report, not an exception.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path


class TaskError(Exception):
    """Root of everything below."""


class UnknownTask(TaskError):
    """Nothing in the catalog has this name."""

    def __init__(self, pattern: str, known: Iterable[str]) -> None:
        super().__init__(f"no task matches {pattern!r}{suggestion(pattern, known)}")
        self.pattern = pattern


class MalformedTask(TaskError):
    """A file of the task is missing or says something that cannot be."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class BadTemplate(TaskError):
    """A placeholder without a fact, or a fact that is never said."""


class BadSitting(TaskError):
    """A sitting cannot be made of this."""


def suggestion(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?`, or nothing where no name is near."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else ""
