"""`practicum watch`: follow a run from another terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from watchfiles import watch as changes

from practicum.controller import events
from practicum.controller.conduct import money_of
from practicum.controller.events import Event, RunEnded, TrialEnded
from practicum.controller.index import summaries
from practicum.controller.progress import Board, LiveBoard
from practicum.controller.show import console, encode
from practicum.controller.store import Run
from practicum.controller.summary import Standing, Summary

POLL_MS = 500


def watch(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of the run.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Events as JSON lines on stdout.")] = False,
) -> None:
    """Follow a run until it ends, or Ctrl-C; the run does not notice."""
    run = Run.open(folder)
    run.record()
    if as_json:
        for event in follow(run):
            typer.echo(encode(event))
        return
    standing = summaries(run)
    board = Board(money_of(run), planned=len(standing))
    board.load(standing)
    with LiveBoard(board, console(stderr=True)) as shown:
        for event in _news(follow(run), standing):
            shown.hear(event)


def follow(run: Run) -> Iterator[Event]:
    """Events from the first on, then as they are written, until nobody works on the run any more."""
    seen = 0
    for lines in _growing(run):
        for line in lines[seen:]:
            try:
                yield msgspec.json.decode(line, type=Event)
            except msgspec.MsgspecError:
                continue  # torn by a crash, or of a newer version
        seen = len(lines)
        if lines and is_over(run, lines[-1]):
            return


def is_over(run: Run, last: bytes) -> bool:
    """Whether the last word is that a controller ended, and no other holds a trial."""
    try:
        ended = isinstance(msgspec.json.decode(last, type=Event), RunEnded)
    except msgspec.MsgspecError:
        return False
    return ended and not any(run.trial(trial.id).leased() for trial in run.plan().trials)


def _growing(run: Run) -> Iterator[list[bytes]]:
    """All whole lines of the event stream, again whenever it grew."""
    yield list(events.lines(run.events))
    for _ in changes(run.root, recursive=False, rust_timeout=POLL_MS, yield_on_timeout=True):
        yield list(events.lines(run.events))


def _news(stream: Iterable[Event], standing: Iterable[Summary]) -> Iterator[Event]:
    """Events that say something the summaries did not."""
    known = {(one.trial.id, one.attempt) for one in standing if one.standing is not Standing.PENDING}
    for event in stream:
        if not isinstance(event, TrialEnded) or (event.summary.trial.id, event.summary.attempt) not in known:
            yield event
