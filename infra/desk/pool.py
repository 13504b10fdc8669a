"""Warm desks: booted before they are asked for, handed out in milliseconds, never used twice."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from types import TracebackType
from typing import Protocol, Self

from practicum.infra.desk.desk import Capability, Desk, DeskSpec, Label
from practicum.infra.errors import DeskFault, DeskLost, InfraError

WARM = Label(run="pool", trial="warm", deadline=0.0)
_KEEP_WARM = 3600.0
_RETRY = 5.0


class Machine(Protocol):
    """A booted machine that is not yet anybody's."""

    @property
    def desk(self) -> Desk: ...

    def lease(self, label: Label) -> None:
        """Make its deadline that of the label. Raises `DeskLost` when it no longer answers."""
        ...

    def explained(self, fault: DeskFault) -> DeskFault: ...

    def close(self) -> None: ...


class Starter(Protocol):
    """A provider whose machines can be started apart from the block that uses them."""

    @property
    def kind(self) -> str: ...

    def capabilities(self, spec: DeskSpec) -> frozenset[Capability]: ...

    def digest(self, spec: DeskSpec) -> str: ...

    def start(self, spec: DeskSpec, label: Label) -> Machine: ...

    def held(self) -> tuple[Label, ...]: ...

    def reap(self, now: float, abandoned: Callable[[Label], bool] = ...) -> tuple[Label, ...]: ...


class Pool:
    """A provider over another one. Keeps `size` machines warm for each spec that was asked for lately.

    What it holds dies with its block; after a kill, the next reaper finds its owner dead.
    """

    def __init__(self, starter: Starter, size: int, *, specs: int = 4) -> None:
        self.kind = starter.kind
        self._starter = starter
        self._size = size
        self._specs = specs
        self._warm: dict[DeskSpec, deque[Machine]] = {}
        self._changed = threading.Condition()
        self._closing = False
        self._failure: InfraError | None = None
        self._thread = threading.Thread(target=self._refill, daemon=True, name="desk-pool")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()
        for machines in self._warm.values():
            _close_all(machines)
        self._warm.clear()

    def capabilities(self, spec: DeskSpec) -> frozenset[Capability]:
        return self._starter.capabilities(spec)

    def digest(self, spec: DeskSpec) -> str:
        return self._starter.digest(spec)

    def held(self) -> tuple[Label, ...]:
        return self._starter.held()

    def reap(self, now: float, abandoned: Callable[[Label], bool] = lambda _: False) -> tuple[Label, ...]:
        return self._starter.reap(now, abandoned)

    def warm(self, spec: DeskSpec, *, bound: float) -> bool:
        """Begin to keep machines of this spec; returns whether all are ready within `bound` seconds.

        Raises what kept the first of them from starting.
        """
        with self._changed:
            self._want(spec)
            self._changed.wait_for(lambda: self._failure is not None or self._full(spec), bound)
            if self._failure is not None and not self._warm[spec]:
                raise self._failure
            return self._full(spec)

    def open(self, spec: DeskSpec, label: Label) -> AbstractContextManager[Desk]:
        """As the provider beneath, but at once where a machine is warm."""
        return self._opened(spec, label)

    @contextmanager
    def _opened(self, spec: DeskSpec, label: Label) -> Iterator[Desk]:
        machine = self._take(spec, label) or self._starter.start(spec, label)
        try:
            yield machine.desk
        except DeskLost as lost:
            raise machine.explained(lost) from lost
        finally:
            machine.close()

    def _take(self, spec: DeskSpec, label: Label) -> Machine | None:
        """A warm machine that still answers, leased."""
        while True:
            with self._changed:
                self._want(spec)
                machine = self._warm[spec].popleft() if self._warm[spec] else None
                self._changed.notify_all()
            if machine is None:
                return None
            try:
                machine.lease(label)
            except DeskLost:
                _close_all([machine])
            else:
                return machine

    def _want(self, spec: DeskSpec) -> None:
        """Mark as asked for last; the spec unused for longest makes room."""
        self._warm[spec] = self._warm.pop(spec, deque())
        while len(self._warm) > self._specs:
            oldest = next(iter(self._warm))
            _close_all(self._warm.pop(oldest))
        self._changed.notify_all()

    def _full(self, spec: DeskSpec) -> bool:
        return len(self._warm.get(spec, ())) >= self._size

    def _refill(self) -> None:
        while (spec := self._next()) is not None:
            label = Label(WARM.run, WARM.trial, time.time() + _KEEP_WARM)
            try:
                machine = self._starter.start(spec, label)
            except InfraError as error:
                self._rest(error)
                continue
            with self._changed:
                self._failure = None
                kept = spec in self._warm and not self._closing
                if kept:
                    self._warm[spec].append(machine)
                self._changed.notify_all()
            if not kept:
                machine.close()

    def _next(self) -> DeskSpec | None:
        """The spec that lacks a machine, asked for last; waits for one. None when closing."""
        with self._changed:
            while not self._closing:
                for spec in reversed(self._warm):
                    if not self._full(spec):
                        return spec
                self._changed.wait()
        return None

    def _rest(self, error: InfraError) -> None:
        """Whoever asks next will meet the error in person; until then an engine in trouble is left alone."""
        with self._changed:
            self._failure = error
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._closing, _RETRY)
            self._failure = None


def _close_all(machines: deque[Machine] | list[Machine]) -> None:
    while machines:
        with suppress(InfraError):  # a machine that cannot be taken away now is the reaper's
            machines.pop().close()
