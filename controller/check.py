"""The authoring gate: what must be true of a task before anybody may be scored by it.

On paper (no desk): generation is deterministic and depends on the seed; nothing is hidden (lint); empty,
untouched, truncated and foreign outputs do not pass; the ideal output does; each mutant fails for its named
reason; each benign variant passes. At the desk: doing nothing scores 0, the oracle passes in other locales
and time zones, red-team agents get nothing and leave a trace, and the tier is what the rule says.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from practicum.tasks.desk_task import DeskTask
from practicum.tasks.lint import lint
from practicum.tasks.readable import input_files
from practicum.tasks.spec import Instance, Task
from practicum.verifiers import jail
from practicum.verifiers.errors import VerifierError
from practicum.verifiers.verdict import Verdict


class Gate(StrEnum):
    """In the order in which an author would mend them."""

    DESK = "desk"
    GENERATION = "generation"
    LINT = "lint"
    EMPTY = "empty"
    UNTOUCHED = "untouched"
    FOREIGN = "foreign"
    TRUNCATED = "truncated"
    IDEAL = "ideal"
    NOP = "nop"
    ORACLE = "oracle"
    MUTANTS = "mutants"
    BENIGN = "benign"
    RED_TEAM = "red team"
    TIER = "tier"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One demand on one seed. `subject` names the mutant, variant or attack where there are several."""

    task: str
    gate: Gate
    seed: int
    passed: bool
    subject: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """All findings about one task. `actions` are the oracle's, over the seeds that it sat."""

    task: str
    findings: tuple[Finding, ...]
    actions: tuple[int, ...] = ()
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        return bool(self.findings) and all(finding.passed for finding in self.findings)

    def of(self, gate: Gate) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.gate is gate)


@dataclass(slots=True)
class Bench:
    """One instance of a task laid out for its gates, with everything that was found so far."""

    task: Task
    instance: Instance
    folder: Path
    findings: list[Finding] = field(default_factory=list)
    _copies: int = 0

    def note(self, gate: Gate, passed: bool, detail: str = "", subject: str = "") -> None:
        self.findings.append(
            Finding(
                task=self.task.spec.id,
                gate=gate,
                seed=self.instance.seed,
                passed=passed,
                subject=subject,
                detail="" if passed else detail,
            )
        )

    def fresh(self, source: Path | None = None) -> Path:
        """An empty output folder, or a copy of one."""
        self._copies += 1
        folder = self.folder / f"outputs-{self._copies}"
        if source is None:
            folder.mkdir()
        else:
            shutil.copytree(source, folder)
        return folder

    def grade(self, outputs: Path) -> Verdict:
        return grade(self.task, outputs, self.instance)


def grade(task: Task, outputs: Path, instance: Instance) -> Verdict:
    """In the jail. Raises `VerifierError` where the verifier itself fails."""
    outside = task.search_path if isinstance(task, DeskTask) else ()
    return jail.grade(task.verifier, outputs, instance.reference, instance.params, search_path=outside)


@contextmanager
def bench(task: Task, seed: int) -> Iterator[Bench]:
    with tempfile.TemporaryDirectory(prefix="practicum-check-") as name:
        folder = Path(name)
        yield Bench(task, task.instantiate(seed, folder / "instance"), folder)


def on_paper(task: DeskTask, seeds: Sequence[int]) -> Report:
    """Every gate that needs no desk."""
    begun = time.monotonic()
    findings: list[Finding] = []
    for seed in seeds:
        with bench(task, seed) as it:
            paper_gates(it, task)
            base = ideal(it, task)
            if base is not None:
                doubt(it, base)
            findings += it.findings
    return Report(task.spec.id, tuple(findings), seconds=time.monotonic() - begun)


def paper_gates(it: Bench, task: DeskTask) -> None:
    _generation(it)
    found = lint(task, it.instance)
    it.note(Gate.LINT, not found, "; ".join(found))
    _must_not_pass(it, Gate.EMPTY, "", it.fresh(), zero=True)
    for source in input_files(it.instance.inputs):
        _must_not_pass(it, Gate.UNTOUCHED, source.name, _as_outputs(it, task, source), zero=True)
    foreign = it.fresh()
    _make_foreign(it, task, foreign)
    _must_not_pass(it, Gate.FOREIGN, "", foreign)


def ideal(it: Bench, task: DeskTask) -> Path | None:
    """The task's own right output, if it is right."""
    outputs = it.fresh()
    task.functions.ideal(outputs, it.instance.reference, it.instance.params)
    return outputs if must_pass(it, Gate.IDEAL, "", outputs) else None


def doubt(it: Bench, base: Path) -> None:
    """Damage a right output in every way its task knows, and rewrite it in every way that is still right."""
    for output in it.task.spec.outputs:
        cut = it.fresh(base)
        path = cut / output.path
        if path.is_file():
            os.truncate(path, path.stat().st_size // 2)
            _must_not_pass(it, Gate.TRUNCATED, output.path, cut)
    params = it.instance.params
    for mutant in it.task.mutants(base, params):
        outputs = it.fresh(base)
        mutant.apply(outputs)
        _must_fail_for(it, mutant.name, mutant.fails, outputs)
    for variant in it.task.benign(base, params):
        outputs = it.fresh(base)
        variant.apply(outputs)
        must_pass(it, Gate.BENIGN, variant.name, outputs)


def must_pass(it: Bench, gate: Gate, subject: str, outputs: Path) -> bool:
    verdict = _graded(it, gate, subject, outputs)
    if verdict is None:
        return False
    well = verdict.passed and verdict.score >= 1.0 - 1e-9
    it.note(gate, well, f"score {verdict.score:.3f}, failing: {reasons(verdict)}", subject)
    return well


def at_most(it: Bench, gate: Gate, subject: str, outputs: Path, most: float) -> None:
    verdict = _graded(it, gate, subject, outputs)
    if verdict is not None:
        well = not verdict.passed and verdict.score <= most
        it.note(
            gate, well, f"passed: {verdict.passed}, score {verdict.score:.3f}, more than {most:g}", subject
        )


def reasons(verdict: Verdict) -> str:
    """Leaf failures with their reasons, short."""
    words = [f"{item.name} ({item.reason})" for item in verdict.checks if not item.passed]
    return "; ".join(words)[:600] or "nothing"


def _generation(it: Bench) -> None:
    """Equal seeds give equal bytes, another seed another instance."""
    seed = it.instance.seed
    again = it.task.instantiate(seed, it.folder / "again")
    other = it.task.instantiate(seed + 1, it.folder / "other")
    same = (
        again.params == it.instance.params
        and again.instruction == it.instance.instruction
        and _tree(it.folder / "again") == _tree(it.folder / "instance")
    )
    it.note(Gate.GENERATION, same, "two generations of one seed differ", "repeated")
    it.note(Gate.GENERATION, other.params != it.instance.params, "another seed changes nothing", "seeded")


def _tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _as_outputs(it: Bench, task: DeskTask, source: Path) -> Path:
    """The input handed in as it is, under the name of each deliverable."""
    outputs = it.fresh()
    for output in task.spec.outputs:
        target = outputs / output.path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    return outputs


def _make_foreign(it: Bench, task: DeskTask, outputs: Path) -> None:
    """What would be right for another seed."""
    other = task.instantiate(it.instance.seed + 1, it.folder / "foreign")
    task.functions.ideal(outputs, other.reference, other.params)


def _must_not_pass(it: Bench, gate: Gate, subject: str, outputs: Path, *, zero: bool = False) -> None:
    at_most(it, gate, subject, outputs, 0.0 if zero else 1.0)


def _must_fail_for(it: Bench, subject: str, name: str, outputs: Path) -> None:
    verdict = _graded(it, Gate.MUTANTS, subject, outputs)
    if verdict is None:
        return
    named = any(failure == name or failure.endswith(f"/{name}") for failure in verdict.failures())
    well = named and not verdict.passed and verdict.score < 1.0
    found = ", ".join(verdict.failures()) or "nothing"
    it.note(Gate.MUTANTS, well, f"should fail {name!r}, failed: {found}; score {verdict.score:.3f}", subject)


def _graded(it: Bench, gate: Gate, subject: str, outputs: Path) -> Verdict | None:
    try:
        return it.grade(outputs)
    except VerifierError as error:
        it.note(gate, False, f"{type(error).__name__}: {error}", subject)
        return None


def gather(tasks: Iterable[Task], reports: Iterable[Report]) -> tuple[Report, ...]:
    """One report a task, in the order of the tasks, from reports of single seeds."""
    by_task: dict[str, list[Report]] = {}
    for report in reports:
        by_task.setdefault(report.task, []).append(report)
    return tuple(
        Report(
            task.spec.id,
            tuple(finding for part in by_task[task.spec.id] for finding in part.findings),
            tuple(count for part in by_task[task.spec.id] for count in part.actions),
            sum(part.seconds for part in by_task[task.spec.id]),
        )
        for task in tasks
    )


def each(
    work: Sequence[Callable[[], Report]], workers: int, done: Callable[[Report], None]
) -> tuple[Report, ...]:
    """Run the parts of a check side by side; what one raises is raised, and no further part begins."""
    reports: list[Report] = []
    with ThreadPoolExecutor(max_workers=workers) as pool:
        futures = [pool.submit(part) for part in work]
        try:
            for future in futures:
                reports.append(future.result())
                done(reports[-1])
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    return tuple(reports)
