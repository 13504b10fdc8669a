"""The runs that may be looked at. Names from the browser are looked up here and never opened as paths."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from practicum.controller.errors import BadRequest
from practicum.controller.outcome import Trial
from practicum.controller.store import Attempt, Run, TrialFolder
from practicum.infra.faults.inject import LOG, FaultLog

_SHA256 = re.compile(r"[0-9a-f]{64}\Z")


class NotHere(Exception):
    """The page asks for something that no open run has."""


@dataclass(frozen=True, slots=True)
class Library:
    """Runs by the name of their folder."""

    runs: dict[str, Run]

    @classmethod
    def of(cls, folders: Iterable[Path]) -> Library:
        """Raises `BadRecord` where a folder is no run and `BadRequest` where two have one name."""
        runs: dict[str, Run] = {}
        for folder in folders:
            run = Run.open(folder.resolve())
            run.record()
            if run.root.name in runs:
                raise BadRequest(f"two runs are named {run.root.name!r}")
            runs[run.root.name] = run
        return cls(runs)

    def run(self, name: str) -> Run:
        """Raises `NotHere`."""
        if name not in self.runs:
            raise NotHere(f"no run {name!r}")
        return self.runs[name]

    def trial(self, name: str, trial: str) -> tuple[Run, Trial]:
        """A planned trial of a run. Raises `NotHere`."""
        run = self.run(name)
        for planned in run.plan().trials:
            if planned.id == trial:
                return run, planned
        raise NotHere(f"no trial {trial!r} in {name!r}")

    def attempt(self, name: str, trial: str, number: str | None) -> Attempt:
        """The attempt of this number; without one, the attempt that counts, else the newest."""
        run, planned = self.trial(name, trial)
        return pick(run.trial(planned.id), number)

    def frame(self, name: str, trial: str, number: str, sha256: str) -> Path:
        return self._hashed(self.attempt(name, trial, number).frames, f"{_valid(sha256)}.png")

    def evidence(self, name: str, trial: str, number: str, sha256: str) -> Path:
        return self._hashed(self.attempt(name, trial, number).evidence, _valid(sha256))

    @staticmethod
    def _hashed(folder: Path, file: str) -> Path:
        path = folder / file
        if not path.is_file() or path.is_symlink():
            raise NotHere(file)
        return path


def pick(folder: TrialFolder, number: str | None) -> Attempt:
    """Raises `NotHere`."""
    attempts = {str(attempt.number): attempt for attempt in folder.attempts()}
    if number is not None:
        if number not in attempts:
            raise NotHere(f"no attempt {number!r}")
        return attempts[number]
    chosen = folder.counting_attempt() or (list(attempts.values())[-1] if attempts else None)
    if chosen is None:
        raise NotHere("this trial has not started")
    return chosen


def fault_log(attempt: Attempt) -> FaultLog | None:
    """What faults were injected, once the outputs are collected."""
    path = attempt.outputs / LOG
    if not path.is_file() or path.is_symlink():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=FaultLog)
    except msgspec.MsgspecError:
        return None  # an agent's own file of that name, on a run without faults


def _valid(sha256: str) -> str:
    if not _SHA256.match(sha256):
        raise NotHere("not a hash")
    return sha256
