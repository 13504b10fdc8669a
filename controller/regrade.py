"""Grade recorded outputs again, after a verifier was mended: without the agent, without a desk.

The attempt's new result takes the place of the old one, which is kept beside it as `graded-<n>.json`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from practicum.agents.agent import Ending
from practicum.controller.blame import TrialFault, phase
from practicum.controller.files import now, write_json
from practicum.controller.grading import grade
from practicum.controller.house import House
from practicum.controller.outcome import Fault, Outcome, Phase, Result, Scored, Trial
from practicum.controller.records import InstanceRecord
from practicum.controller.store import Attempt, PlanRecord, Run
from practicum.tasks.spec import Task
from practicum.verifiers.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Regraded:
    """`before` and `after` are scores, `None` for a fault. `task_changed` since the trial was planned."""

    trial: Trial
    before: float | None
    after: float | None
    task_changed: bool


def regrade(run: Run, house: House) -> Iterator[Regraded]:
    """Every trial whose outputs were collected: the scored ones, and those whose verifier failed.

    Raises `locks.Held` where a trial is being worked on.
    """
    record = run.record()
    for trial in record.trials:
        attempt = run.trial(trial.id).counting_attempt()
        if attempt is None or not _was_collected(attempt.result()):
            continue
        yield _regrade_one(run, record, house, attempt)


def _regrade_one(run: Run, record: PlanRecord, house: House, attempt: Attempt) -> Regraded:
    before = attempt.result()
    task = house.task(record.tasks[before.trial.task])
    after = replace(
        before,
        outcome=_grade(task, attempt, _ending(before)),
        environment={**before.environment, "graded": [*before.environment.get("graded", ()), now()]},
    )
    folder = run.trial(before.trial.id)
    with folder.lease():
        number = len(list(attempt.root.glob("graded-*.json"))) + 1
        write_json(attempt.root / f"graded-{number}.json", before)
        folder.finish(after, again=True)
    changed = task.spec.digest != before.trial.task_digest
    return Regraded(before.trial, _score(before.outcome), _score(after.outcome), changed)


def _grade(task: Task, attempt: Attempt, ending: Ending) -> Outcome:
    instance = attempt.instance()
    try:
        with phase(Phase.VERIFY):
            return Scored(verdict=_verdict(task, attempt, instance), ending=ending)
    except TrialFault as error:
        return error.fault


def _verdict(task: Task, attempt: Attempt, instance: InstanceRecord | None) -> Verdict:
    if instance is None:
        raise FileNotFoundError(attempt.instance_path)
    reference: Path = attempt.instance_folder / "reference"
    return grade(task, attempt.outputs, reference, instance.params)


def _was_collected(result: Result) -> bool:
    outcome = result.outcome
    return isinstance(outcome, Scored) or (isinstance(outcome, Fault) and outcome.phase is Phase.VERIFY)


def _ending(result: Result) -> Ending:
    if isinstance(result.outcome, Scored):
        return result.outcome.ending
    return Ending(result.environment["ending"])


def _score(outcome: Outcome) -> float | None:
    return outcome.verdict.score if isinstance(outcome, Scored) else None
