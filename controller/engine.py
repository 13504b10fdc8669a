"""Execution engines: where jobs run. Code inside a trial is synchronous; this is all that is parallel.

`Local` keeps one process a slot and one pipe a process, with no lock or queue between them, so that killing
one at any moment hurts no other. A distributed engine has the same five methods; the work is `worker.work`.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Protocol, Self

from practicum.controller.job import Answer, Broken, Job
from practicum.controller.outcome import Fault, FaultKind, Phase
from practicum.controller.warm import Houses
from practicum.controller.worker import serve, work

_JOIN = 5.0


@dataclass(frozen=True, slots=True)
class Ended:
    job: Job
    answer: Answer


class Engine(Protocol):
    def free(self) -> int:
        """How many jobs could start now."""
        ...

    def start(self, job: Job) -> None:
        """Only while `free()`; the job is killed after its `wall` seconds."""
        ...

    def wait(self, seconds: float) -> Sequence[Ended]:
        """What ended, as soon as something did, at the latest after `seconds`."""
        ...

    def stop(self) -> None:
        """Ask all that runs to end at its next call."""
        ...

    def close(self) -> Sequence[Ended]:
        """Kill what still runs and let go of everything."""
        ...


class Inline:
    """Runs each job at once in this very process: for debuggers and tests. It cannot kill what hangs."""

    def __init__(self) -> None:
        self._ended: list[Ended] = []
        self._houses = Houses()

    def free(self) -> int:
        return 0 if self._ended else 1

    def start(self, job: Job) -> None:
        ours, theirs = multiprocessing.Pipe()
        with ours, theirs:
            self._ended.append(Ended(job, work(job, theirs, self._houses)))

    def wait(self, seconds: float) -> Sequence[Ended]:
        del seconds
        ended, self._ended = self._ended, []
        return ended

    def stop(self) -> None:
        """What was started has ended already."""

    def close(self) -> Sequence[Ended]:
        self._houses.close()
        return self.wait(0.0)


@dataclass(slots=True)
class _Slot:
    process: SpawnProcess
    pipe: Connection
    job: Job | None = None
    deadline: float = 0.0

    def kill(self) -> None:
        """The worker and everything that shares its session."""
        with suppress(ProcessLookupError):  # it ended by itself meanwhile
            os.killpg(self.process.pid or 0, signal.SIGKILL)
        self.process.kill()
        self.process.join()
        self.pipe.close()


class Local:
    """Worker processes of this machine, started when they are first needed and kept."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._context = multiprocessing.get_context("spawn")
        self._open: list[_Slot] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def free(self) -> int:
        return self.slots - sum(slot.job is not None for slot in self._open)

    def start(self, job: Job) -> None:
        slot = next((slot for slot in self._open if slot.job is None), None) or self._hire()
        slot.job, slot.deadline = job, time.monotonic() + job.wall
        try:
            slot.pipe.send(job)
        except OSError:  # it died while idle: its end is reported by the next wait
            slot.deadline = 0.0

    def wait(self, seconds: float) -> Sequence[Ended]:
        busy = {slot.pipe: slot for slot in self._open if slot.job is not None}
        if not busy:
            return ()
        until = min(seconds, *(slot.deadline - time.monotonic() for slot in busy.values()))
        ready = wait(list(busy), max(0.0, until))
        ended = [self._answer(slot) for pipe, slot in busy.items() if pipe in ready]
        late = [slot for slot in busy.values() if slot.job and time.monotonic() >= slot.deadline]
        return [*ended, *(self._end(slot, FaultKind.WALL_TIME, "took too long") for slot in late)]

    def stop(self) -> None:
        for slot in self._open:
            if slot.job is not None:
                with suppress(OSError):  # it is dead already
                    slot.pipe.send(None)

    def close(self) -> Sequence[Ended]:
        ended = [
            self._end(slot, FaultKind.WORKER_DIED, "killed by its controller")
            for slot in list(self._open)
            if slot.job is not None
        ]
        for slot in self._open:
            slot.pipe.close()
        for slot in self._open:
            slot.process.join(_JOIN)
            slot.process.kill()
            slot.process.join()
        self._open.clear()
        return ended

    def _hire(self) -> _Slot:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=serve, args=(theirs,), name="practicum-worker")
        process.start()
        theirs.close()
        slot = _Slot(process, ours)
        self._open.append(slot)
        return slot

    def _answer(self, slot: _Slot) -> Ended:
        try:
            answer: Answer = slot.pipe.recv()
        except (EOFError, OSError):
            slot.process.join(_JOIN)
            return self._end(slot, FaultKind.WORKER_DIED, f"worker ended with {slot.process.exitcode}")
        ended = Ended(self._job(slot), answer)
        slot.job = None
        return ended

    def _end(self, slot: _Slot, kind: FaultKind, error: str) -> Ended:
        job = self._job(slot)
        slot.kill()
        self._open.remove(slot)
        return Ended(job, Broken(Fault(phase=Phase.DRIVE, kind=kind, error=error)))

    @staticmethod
    def _job(slot: _Slot) -> Job:
        if slot.job is None:
            raise RuntimeError("an idle worker has no job")
        return slot.job
