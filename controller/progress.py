"""What a person sees while a run goes on: agents so far, money, time left, and what is running now."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from practicum.controller import events
from practicum.controller.events import Event
from practicum.controller.outcome import Trial
from practicum.controller.show import duration, ending_cell, money, plain, score_cell, share
from practicum.controller.statistics.wilson import wilson
from practicum.controller.summary import Standing, Summary

Money = Callable[[], tuple[int, int | None]]
"""Spent and held together, and the cap, in nano-dollars."""


@dataclass(slots=True)
class _AgentSoFar:
    passed: int = 0
    scored: int = 0
    faults: int = 0
    planned: int = 0


@dataclass(slots=True)
class Board:
    """The state of a run, kept up to date by its events."""

    money: Money
    planned: int = 0
    ended: int = 0
    ended_here: int = 0
    due: int = 0
    notice: str = ""
    started: float = field(default_factory=time.monotonic)
    agents: dict[str, _AgentSoFar] = field(default_factory=lambda: defaultdict(_AgentSoFar))
    running: dict[str, tuple[Trial, float]] = field(default_factory=dict)

    def load(self, summaries: Iterable[Summary]) -> None:
        """What was there before the first event."""
        for summary in summaries:
            self.agents[summary.trial.agent].planned += 1
            if summary.standing is not Standing.PENDING:
                self._count(summary)

    def hear(self, event: Event) -> None:
        match event:
            case events.RunStarted(planned=planned, due=due):
                self.planned, self.due = planned, due
            case events.TrialStarted(trial=trial):
                self.running[trial.id] = (trial, time.monotonic())
                self.notice = ""
            case events.TrialEnded(summary=summary, again=again):
                self.running.pop(summary.trial.id, None)
                if not again:
                    self.ended_here += 1
                    self._count(summary)
            case events.TrialSkipped(trial=trial, reason=reason):
                self.running.pop(trial.id, None)
                self.notice = reason
            case events.Held(reason=reason) | events.CapReached(reason=reason):
                self.notice = reason
            case events.Draining(reason=reason, now=now):
                self.notice = f"{reason}: {'stopping what runs' if now else 'finishing what runs'}"
            case _:
                pass

    def eta(self) -> float | None:
        """Seconds until the due trials are done at the pace so far."""
        left = self.due - self.ended_here
        if not self.ended_here or left <= 0:
            return None
        return (time.monotonic() - self.started) / self.ended_here * left

    def _count(self, summary: Summary) -> None:
        so_far = self.agents[summary.trial.agent]
        so_far.scored += summary.standing is Standing.SCORED
        so_far.passed += bool(summary.passed)
        so_far.faults += summary.standing is Standing.FAULT
        self.ended += 1

    def __rich__(self) -> Group:
        spent, cap = self.money()
        limit = "" if cap is None else f" of {money(cap)}"
        eta = self.eta()
        line = Text.assemble(
            f"{self.ended}/{self.planned} trials  ",
            f"${money(spent)}{limit}  ",
            f"{duration(time.monotonic() - self.started)}",
            f", about {duration(eta)} left" if eta is not None else "",
            (f"  {plain(self.notice, 80)}" if self.notice else "", "yellow"),
        )
        bar = Table.grid()  # a bar alone does not end its line
        bar.add_row(ProgressBar(total=max(self.planned, 1), completed=self.ended, width=60))
        return Group(line, bar, self._agents(), self._running())

    def _agents(self) -> Table:
        table = Table(box=None, header_style="bold", pad_edge=False)
        for name in ("agent", "scored", "passed", "90 % interval", "faults"):
            table.add_column(name, justify="left" if name == "agent" else "right")
        for name, so_far in self.agents.items():
            interval, rate = "–", None
            if so_far.scored:
                bounds = wilson(so_far.passed, so_far.scored, 0.9)
                interval, rate = f"{share(bounds.low)} – {share(bounds.high)}", so_far.passed / so_far.scored
            table.add_row(
                plain(name),
                f"{so_far.scored}/{so_far.planned}",
                share(rate),
                interval,
                str(so_far.faults),
            )
        return table

    def _running(self) -> Table:
        table = Table(box=None, show_header=False, pad_edge=False, style="dim")
        for trial, since in list(self.running.values())[:8]:
            clock = duration(time.monotonic() - since)
            table.add_row("▸", plain(trial.task), plain(trial.agent), f"seed {trial.seed}", clock)
        return table


class LiveBoard:
    """The board, redrawn on a terminal; a line a trial where there is none."""

    def __init__(self, board: Board, console: Console) -> None:
        self.board = board
        self._console = console
        self._live = Live(board, console=console, refresh_per_second=4, transient=True)
        self._held = False

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def hear(self, event: Event) -> None:
        self.board.hear(event)
        again = self._held and isinstance(event, events.Held)
        self._held = isinstance(event, events.Held)
        if not self._console.is_terminal and not again:
            line = narrate(event)
            if line is not None:
                self._console.print(line)


def narrate(event: Event) -> Text | None:
    """One line about an event, where it is worth one."""
    match event:
        case events.RunStarted(planned=planned, due=due, workers=workers):
            return Text(f"{planned} trials planned, {due} to do, {workers} at a time")
        case events.TrialEnded(summary=summary, again=again):
            trial = summary.trial
            return Text.assemble(
                f"{plain(trial.task)}  {plain(trial.agent)}  seed {trial.seed}  ",
                score_cell(summary),
                f"  {ending_cell(summary)}  {summary.spent.steps} steps  {summary.spent.seconds:.1f} s",
                "  (again)" if again else "",
            )
        case events.Draining(reason=reason) | events.Held(reason=reason) | events.CapReached(reason=reason):
            return Text(plain(reason), style="yellow")
        case events.TrialSkipped(trial=trial, reason=reason):
            return Text(
                f"{plain(trial.task)}  {plain(trial.agent)}  skipped: {plain(reason)}", style="yellow"
            )
        case events.Reaped(trials=trials):
            return Text(f"took away {len(trials)} abandoned desks", style="yellow")
        case _:
            return None
