"""Summaries of all trials of a run, from a cache trusted no further than a file's size and time."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from practicum.controller.files import read_lines, write_whole
from practicum.controller.outcome import Trial
from practicum.controller.store import Run
from practicum.controller.summary import Summary, pending, summarise


class Line(msgspec.Struct, frozen=True):
    """One line of `index.jsonl`: the summary of a `result.json` of this size and time (ns)."""

    size: int
    modified: int
    summary: Summary


def summaries(run: Run) -> tuple[Summary, ...]:
    """One for each planned trial, in the order of the plan; those without a record are pending."""
    trials = run.plan().trials
    known = _load(run.index)
    lines = {trial.id: _line(run, trial, known) for trial in trials}
    fresh = {key: line for key, line in lines.items() if line is not None}
    if fresh != known and os.access(run.root, os.W_OK):
        write_whole(run.index, b"".join(msgspec.json.encode(line) + b"\n" for line in fresh.values()))
    return tuple(pending(trial) if (line := lines[trial.id]) is None else line.summary for trial in trials)


def _line(run: Run, trial: Trial, known: Mapping[str, Line]) -> Line | None:
    folder = run.trial(trial.id)
    try:
        stat = folder.result_path.stat()
    except FileNotFoundError:
        return None
    line = known.get(trial.id)
    if line is not None and (line.size, line.modified) == (stat.st_size, stat.st_mtime_ns):
        return line
    result = folder.result()
    return None if result is None else Line(stat.st_size, stat.st_mtime_ns, summarise(result))


def _load(path: Path) -> Mapping[str, Line]:
    """Whatever can be read of the cache; what cannot is read again from the trials."""
    lines: dict[str, Line] = {}
    for raw in read_lines(path):
        try:
            line = msgspec.json.decode(raw, type=Line)
        except msgspec.MsgspecError:
            continue
        lines[line.summary.trial.id] = line
    return lines
