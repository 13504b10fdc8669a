"""Conduct a run in the foreground: a sweep, its progress on the terminal, its events, its signals."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from types import FrameType

import typer

from practicum.controller import launch
from practicum.controller.admission import Admission
from practicum.controller.engine import Engine, Local
from practicum.controller.events import Event, Listener
from practicum.controller.files import appending
from practicum.controller.house import open_house
from practicum.controller.index import summaries
from practicum.controller.ledger import RUN, Ledger, Unit
from practicum.controller.order import AsPlanned, Order, Wisely
from practicum.controller.policy import Policy
from practicum.controller.progress import Board, LiveBoard
from practicum.controller.runfile import RunFile, Spend
from practicum.controller.show import console, encode
from practicum.controller.store import PlanRecord, Run
from practicum.controller.summary import Counts
from practicum.controller.sweep import Sweep


def conduct(run: Run, spec: RunFile, policy: Policy, *, as_json: bool = False) -> Counts:
    """Work on the run until nothing is due or somebody stops it; returns how its trials stand."""
    with ExitStack() as stack:
        engine = stack.enter_context(Local(spec.workers))
        lines = stack.enter_context(appending(run.events, sync=False))
        listeners: list[Listener] = [lines.append]
        if as_json:
            listeners.append(lambda event: typer.echo(encode(event)))
        else:
            listeners.append(_on_terminal(stack, run).hear)
        sweep = make_sweep(run, spec, engine, policy, lambda event: _tell(listeners, event))
        with signals(sweep):
            return sweep.go()


def make_sweep(run: Run, spec: RunFile, engine: Engine, policy: Policy, tell: Listener) -> Sweep:
    record, hours = run.record(), spec.caps.wall_hours
    return Sweep(
        run=run,
        record=record,
        house=open_house(record.house),
        engine=engine,
        prices=launch.load_prices(run),
        policy=policy,
        admission=Admission(desks=spec.desks),
        tell=tell,
        order=_order(run, spec, record),
        warm=spec.warm,
        until=None if hours is None else time.monotonic() + hours * 3600,
    )


def _order(run: Run, spec: RunFile, record: PlanRecord) -> Order:
    if spec.spend is Spend.ALL:
        return AsPlanned()
    return Wisely(run.rounds, record.run, record.trials, summaries(run))


@contextmanager
def signals(sweep: Sweep) -> Iterator[None]:
    """Ctrl-C once: finish what runs. Twice, or SIGTERM: stop now. Nothing is left behind either way."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        del frame
        if number == signal.SIGTERM or sweep.draining:
            sweep.stop("stopped")
        else:
            sweep.drain("interrupted; once more to stop now")

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def money_of(run: Run) -> Callable[[], tuple[int, int | None]]:
    """A reader of the book for the board: spent and held together, and the cap."""

    def read() -> tuple[int, int | None]:
        with closing(Ledger(run.ledger)) as ledger:
            total = ledger.total(RUN, Unit.NANO_DOLLARS)
            return total.spent + total.held, ledger.cap(RUN, Unit.NANO_DOLLARS)

    return read


def _on_terminal(stack: ExitStack, run: Run) -> LiveBoard:
    board = Board(money_of(run))
    board.load(summaries(run))
    return stack.enter_context(LiveBoard(board, console(stderr=True)))


def _tell(listeners: list[Listener], event: Event) -> None:
    for listener in listeners:
        listener(event)
