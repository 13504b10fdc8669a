"""The six near-term tasks, without a desk: right outputs pass, each mutant fails for its named reason."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from practicum.tasks.catalog import select
from practicum.tasks.desk_task import DeskTask
from practicum.tasks.lint import lint
from practicum.tasks.spec import Instance, Surface, Tier

NEAR_TERM = (
    "business/web-order",
    "computing/records",
    "media/poster",
    "media/photo",
    "engineering/bracket",
    "business/reconciliation",
)
SEED = 5
MOST = 3
"""Mutants and variants of a task that are tried here; `practicum check` tries all of them."""


def desk_task(name: str) -> DeskTask:
    (task,) = select(name)
    assert isinstance(task, DeskTask)
    return task


Made = tuple[DeskTask, Instance, Path]


@pytest.fixture(params=NEAR_TERM, scope="module")
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A task, an instance of it, and its ideal output."""
    task = desk_task(request.param)
    folder = tmp_path_factory.mktemp("task")
    instance = task.instantiate(SEED, folder / "instance")
    outputs = folder / "outputs"
    outputs.mkdir()
    task.functions.ideal(outputs, instance.reference, instance.params)
    return task, instance, outputs


def test_the_ideal_output_scores_one(made: Made) -> None:
    """Made on the host, without the desk."""
    task, instance, outputs = made
    verdict = task.verify(outputs, instance.reference, instance.params)
    assert verdict.passed, verdict.failures()
    assert verdict.score == pytest.approx(1.0)


def test_nothing_scores_nothing(made: Made, tmp_path: Path) -> None:
    """An empty folder is graded, and gets 0."""
    task, instance, _ = made
    verdict = task.verify(tmp_path, instance.reference, instance.params)
    assert not verdict.passed
    assert verdict.score == 0.0


def test_mutants_fail_for_their_named_reason(made: Made, tmp_path: Path) -> None:
    """There are at least three, and the first few are tried."""
    task, instance, outputs = made
    mutants = list(task.mutants(outputs, instance.params))
    assert len(mutants) >= 3
    for number, mutant in enumerate(mutants[:MOST]):
        damaged = shutil.copytree(outputs, tmp_path / str(number))
        mutant.apply(damaged)
        verdict = task.verify(damaged, instance.reference, instance.params)
        assert not verdict.passed, mutant.name
        assert any(f"/{failure}".endswith(f"/{mutant.fails}") for failure in verdict.failures()), mutant.name


def test_benign_variants_pass(made: Made, tmp_path: Path) -> None:
    """There are at least two, and they are right however they are written."""
    task, instance, outputs = made
    variants = list(task.benign(outputs, instance.params))
    assert len(variants) >= 2
    for number, variant in enumerate(variants[:MOST]):
        rewritten = shutil.copytree(outputs, tmp_path / str(number))
        variant.apply(rewritten)
        verdict = task.verify(rewritten, instance.reference, instance.params)
        assert verdict.passed, (variant.name, verdict.failures())


def test_the_lint_finds_nothing(made: Made) -> None:
    """Facts are stated, canaries planted, names and formats and units said, answers nowhere."""
    task, instance, _ = made
    assert lint(task, instance) == ()


def test_the_tasks_are_near_term_and_fill_their_templates_on_many_seeds(made: Made) -> None:
    """No placeholder is left in an instruction."""
    task, instance, _ = made
    assert task.spec.tier is Tier.NEAR_TERM
    assert not re.search(r"\$\{?\w", instance.instruction)


def test_the_web_order_offers_the_screen_only() -> None:
    """No shell, no files: what is graded is what the portal received."""
    task = desk_task("business/web-order")
    assert task.needs.surfaces == {Surface.COMPUTER}
    assert [output.source for output in task.spec.outputs] == ["/var/lib/practicum/portal/orders.json"]
