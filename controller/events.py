"""What happens in a run, as typed events: one JSON line each, for programs and for whoever watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from practicum.controller.files import now, read_lines
from practicum.controller.outcome import Trial
from practicum.controller.summary import Summary


class _Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    at: str = msgspec.field(default_factory=now)


class RunStarted(_Event, frozen=True, kw_only=True, tag="run_started"):
    """`due` of the `planned` trials are to be worked on by this controller."""

    run: str
    planned: int
    due: int
    workers: int


class TrialStarted(_Event, frozen=True, kw_only=True, tag="trial_started"):
    trial: Trial


class TrialEnded(_Event, frozen=True, kw_only=True, tag="trial_ended"):
    """`again` when a fault is going to be retried."""

    summary: Summary
    again: bool = False


class TrialSkipped(_Event, frozen=True, kw_only=True, tag="trial_skipped"):
    trial: Trial
    reason: str


class CapReached(_Event, frozen=True, kw_only=True, tag="cap_reached"):
    """No further trial of this agent starts until a cap is raised."""

    agent: str
    reason: str


class Held(_Event, frozen=True, kw_only=True, tag="held"):
    """Trials wait because the machine has no room for one more."""

    reason: str


class Draining(_Event, frozen=True, kw_only=True, tag="draining"):
    """Nothing more starts. `now` when what runs is asked to stop too."""

    reason: str
    now: bool = False


class Reaped(_Event, frozen=True, kw_only=True, tag="reaped"):
    """Environments that nobody owned any more were taken away."""

    trials: tuple[str, ...]


class RunEnded(_Event, frozen=True, kw_only=True, tag="run_ended"):
    scored: int
    fault: int
    cancelled: int
    pending: int


Event = (
    RunStarted | TrialStarted | TrialEnded | TrialSkipped | CapReached | Held | Draining | Reaped | RunEnded
)

Listener = Callable[[Event], None]


def lines(path: Path) -> Iterator[bytes]:
    """Whole lines so far; decoding one as an `Event` fails where a crash tore it."""
    return read_lines(path)
