"""The record of a run: a folder that a person can read and a crash cannot spoil.

    RUN/plan.json, run.toml, ledger.db, events.jsonl, index.jsonl
    RUN/trials/<trial id>/result.json
    RUN/trials/<trial id>/attempts/<n>/{instance.json, steps.jsonl, frames/, outputs/, evidence/, result.json}

`result.json` is renamed into place last; its presence is the only meaning of *finished*. A trial is worked on
under its lease. Nothing is ever deleted: each attempt keeps its own folder. See `docs/records.md`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self, TypeVar

import msgspec

from practicum.agents.agent import ModelStep, NoteStep, Step, ToolStep
from practicum.controller import locks
from practicum.controller.errors import BadRecord, BadRequest
from practicum.controller.files import Appender, now, read_lines, write_json, write_whole
from practicum.controller.outcome import Cancelled, Fault, Outcome, Result, Scored, Trial
from practicum.controller.plan import Plan
from practicum.controller.records import (
    FORMAT,
    FrameRef,
    InstanceRecord,
    ModelRecord,
    NoteRecord,
    StepRecord,
    ToolRecord,
)
from practicum.infra.desk.desk import Frame
from practicum.infra.environment import Tool
from practicum.tasks.spec import Instance, Task
from practicum.verifiers.verdict import Check, Evidence, Verdict

T = TypeVar("T")


class PlanRecord(msgspec.Struct, frozen=True, kw_only=True):
    """`plan.json`. `house` names where workers find tasks, agents and desks, as `module:attribute`.

    `tasks` and `agents` say what the house calls each task id and each agent name of the trials.
    """

    format: str
    run: str
    created: str
    version: str
    house: str
    desk: str
    tasks: dict[str, str]
    agents: dict[str, str]
    trials: tuple[Trial, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """One run's folder."""

    root: Path

    @classmethod
    def create(cls, root: Path, record: PlanRecord) -> Run:
        """Write the plan before anything starts. Raises `BadRequest` when the folder holds a run already."""
        run = cls(root)
        run.trials.mkdir(parents=True, exist_ok=True)
        with locks.exclusive(run.lock, wait=True):
            if run.plan_path.exists():
                raise BadRequest(f"{root} already holds a run; go on with --resume or choose another --out")
            write_json(run.plan_path, record)
        return run

    @classmethod
    def open(cls, root: Path) -> Run:
        """Raises `BadRecord` when the folder is not a run of a known format."""
        run = cls(root)
        if not run.plan_path.is_file():
            raise BadRecord(f"{root} is not a run: it has no plan.json")
        return run

    @property
    def plan_path(self) -> Path:
        return self.root / "plan.json"

    @property
    def trials(self) -> Path:
        return self.root / "trials"

    @property
    def ledger(self) -> Path:
        return self.root / "ledger.db"

    @property
    def events(self) -> Path:
        return self.root / "events.jsonl"

    @property
    def index(self) -> Path:
        return self.root / "index.jsonl"

    @property
    def rounds(self) -> Path:
        return self.root / "rounds.jsonl"

    @property
    def prices(self) -> Path:
        return self.root / "prices.json"

    @property
    def lock(self) -> Path:
        return self.root / "run.lock"

    def record(self) -> PlanRecord:
        record = _read(self.plan_path, PlanRecord)
        if record.format != FORMAT:
            raise BadRecord(f"{self.root}: format {record.format!r} is not {FORMAT!r}")
        return record

    def plan(self) -> Plan:
        return Plan(self.record().trials)

    def trial(self, trial: str) -> TrialFolder:
        return TrialFolder(self.trials / trial)


@dataclass(frozen=True, slots=True)
class TrialFolder:
    """What is known of one trial."""

    root: Path

    @property
    def result_path(self) -> Path:
        return self.root / "result.json"

    @property
    def lease_path(self) -> Path:
        return self.root / "lease"

    def result(self) -> Result | None:
        """The record of the finished trial; `None` while it is pending."""
        return _read(self.result_path, Result) if self.result_path.exists() else None

    def attempts(self) -> tuple[Attempt, ...]:
        numbers = sorted(int(path.name) for path in (self.root / "attempts").glob("[0-9]*"))
        return tuple(self.attempt(number) for number in numbers)

    def attempt(self, number: int) -> Attempt:
        return Attempt(self.root / "attempts" / str(number), number)

    def counting_attempt(self) -> Attempt | None:
        """The attempt whose result is the trial's."""
        result = self.result()
        if result is None:
            return None
        return self.attempt(result.attempt)

    @contextmanager
    def lease(self) -> Iterator[Self]:
        """Own the trial for the block, in this process. Raises `locks.Held`."""
        self.root.mkdir(exist_ok=True)
        with locks.exclusive(self.lease_path):
            self._settle()
            yield self

    def leased(self) -> bool:
        return locks.is_held(self.lease_path)

    def finished(self) -> int:
        """How many attempts have a result."""
        return sum(attempt.result_path.exists() for attempt in self.attempts())

    def begin(self) -> Attempt:
        """A new attempt in an empty folder of its own. Only for the holder of the lease."""
        number = max((attempt.number for attempt in self.attempts()), default=0) + 1
        attempt = self.attempt(number)
        attempt.root.mkdir(parents=True)
        return attempt

    def finish(self, result: Result, *, again: bool = False) -> None:
        """Record the result of an attempt, `again` when it was graded anew; only for the holder of the lease.

        The trial's own result is that of its latest scored attempt, else of its latest fault: an attempt that
        was cancelled, or failed through us, takes nothing away from what was known.
        """
        attempt = self.attempt(result.attempt)
        write_json(attempt.result_path, attempt.externalise(result))
        self._settle(again=again)

    def _settle(self, *, again: bool = False) -> None:
        """Make the counting attempt's result the trial's; a crash may have come between the two."""
        done = [attempt.result() for attempt in self.attempts() if attempt.result_path.exists()]
        if not done:
            return
        counting = max(done, key=lambda result: (_RANK[type(result.outcome)], result.attempt))
        known = self.result()
        if again or known is None or known.attempt != counting.attempt:
            write_json(self.result_path, counting)


_RANK: Mapping[type[Outcome], int] = {Cancelled: 0, Fault: 1, Scored: 2}


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at a trial, in a fresh environment."""

    root: Path
    number: int

    @property
    def result_path(self) -> Path:
        return self.root / "result.json"

    @property
    def steps_path(self) -> Path:
        return self.root / "steps.jsonl"

    @property
    def frames(self) -> Path:
        return self.root / "frames"

    @property
    def outputs(self) -> Path:
        return self.root / "outputs"

    @property
    def evidence(self) -> Path:
        return self.root / "evidence"

    @property
    def instance_folder(self) -> Path:
        return self.root / "instance"

    @property
    def instance_path(self) -> Path:
        return self.root / "instance.json"

    def result(self) -> Result:
        return _read(self.result_path, Result)

    def instance(self) -> InstanceRecord | None:
        return _read(self.instance_path, InstanceRecord) if self.instance_path.exists() else None

    def describe(self, task: Task, instance: Instance, tools: Sequence[Tool]) -> None:
        """Write down the question as the agent is about to see it."""
        record = InstanceRecord(
            format=FORMAT,
            task=task.spec.id,
            task_digest=task.spec.digest,
            verifier=task.verifier,
            seed=instance.seed,
            title=task.spec.title,
            instruction=instance.instruction,
            params=dict(instance.params),
            tools=tuple(tools),
        )
        write_json(self.instance_path, record)

    def steps(self) -> Iterator[StepRecord]:
        """Steps in order; a last line torn by a crash is left out."""
        for line in read_lines(self.steps_path):
            yield msgspec.json.decode(line, type=StepRecord)

    def frame_path(self, sha256: str) -> Path:
        return self.frames / f"{sha256}.png"

    def externalise(self, result: Result) -> Result:
        """The result with its evidence moved into files named by their hash."""
        if not isinstance(result.outcome, Scored):
            return result
        checks = tuple(self._store_evidence(check) for check in result.outcome.verdict.checks)
        outcome = Scored(verdict=Verdict(checks), ending=result.outcome.ending)
        return replace(result, outcome=outcome)

    def _store_evidence(self, check: Check) -> Check:
        return replace(
            check,
            evidence=tuple(self._store_file(evidence) for evidence in check.evidence),
            children=tuple(self._store_evidence(child) for child in check.children),
        )

    def _store_file(self, evidence: Evidence) -> Evidence:
        if evidence.sha256:
            return evidence
        self.evidence.mkdir(exist_ok=True)
        sha256 = hashlib.sha256(evidence.data).hexdigest()
        if not (self.evidence / sha256).exists():
            write_whole(self.evidence / sha256, evidence.data)
        return replace(evidence, data=b"", sha256=sha256)


class StepWriter:
    """The `Recorder` of one attempt: a step is on the disk, frames first, when `step` returns."""

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._lines = Appender(attempt.steps_path)
        self._count = 0
        attempt.frames.mkdir(exist_ok=True)

    def step(self, step: Step) -> None:
        """Raises `OSError`."""
        self._count += 1
        self._lines.append(self._stored(step))

    def close(self) -> None:
        self._lines.close()

    def _stored(self, step: Step) -> StepRecord:
        match step:
            case ModelStep():
                return ModelRecord(
                    n=self._count,
                    at=now(),
                    model=step.model,
                    purpose=step.purpose,
                    reply=step.reply,
                    usage=step.usage,
                    cost=step.cost,
                    seconds=step.seconds,
                    prompt_messages=step.prompt_messages,
                )
            case ToolStep(call, result, seconds):
                return ToolRecord(
                    n=self._count,
                    at=now(),
                    call=call,
                    text=result.text,
                    frames=tuple(self._keep(frame) for frame in result.frames),
                    error=result.error,
                    data=None if result.data is None else dict(result.data),
                    seconds=seconds,
                )
            case NoteStep(layer, text):
                return NoteRecord(n=self._count, at=now(), layer=layer, text=text)

    def _keep(self, frame: Frame) -> FrameRef:
        path = self._attempt.frame_path(frame.digest)
        if not path.exists():
            write_whole(path, frame.png)
        return FrameRef(frame.digest, frame.width, frame.height, frame.settled, frame.waited)


def _read(path: Path, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except msgspec.MsgspecError as error:
        raise BadRecord(f"{path}: {error}") from error
