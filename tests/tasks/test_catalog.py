"""Tasks are found by the words a person would use, and a word that finds nothing is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from practicum.tasks import catalog
from practicum.tasks.errors import UnknownTask
from practicum.tasks.scaffold import scaffold
from practicum.tasks.spec import Kind, Tier
from practicum.tasks.taxonomy import taxonomy

NEAR_TERM = {
    "business/reconciliation",
    "business/web-order",
    "computing/records",
    "engineering/bracket",
    "media/photo",
    "media/poster",
}


def ids(*patterns: str) -> set[str]:
    return {task.spec.id for task in catalog.select(*patterns)}


def test_the_six_near_term_tasks_are_there() -> None:
    """By tier, and each by its id."""
    assert ids("near-term") >= NEAR_TERM
    for name in NEAR_TERM:
        assert ids(name) == {name}


def test_tiers_clusters_subdomains_globs_and_kinds_select() -> None:
    """Whatever is selected fits the word."""
    assert ids("business") == {name for name in ids("desk") if name.startswith("business/")}
    assert ids("media/p*") == {"media/photo", "media/poster"}
    assert "business/reconciliation" in ids("Accounting & Finance")
    assert all(task.spec.kind is Kind.WORLD for task in catalog.select("worlds"))
    assert ids("all") == ids("desk") | ids("worlds")
    assert set().union(*(ids(tier) for tier in Tier if _has(tier))) == ids("all")


def _has(tier: Tier) -> bool:
    return any(task.spec.tier is tier for task in catalog.catalog().values())


def test_each_task_comes_once_in_the_order_of_the_patterns() -> None:
    """Naming a task twice does not sit it twice."""
    chosen = [task.spec.id for task in catalog.select("media/poster", "media", "media/poster")]
    assert chosen == ["media/poster", "media/photo"]


def test_a_folder_outside_the_house_can_be_selected(tmp_path: Path) -> None:
    """A task under work is named by its path."""
    folder = scaffold("legal/bates-stamps", tmp_path)
    assert ids(str(folder)) == {"legal/bates-stamps"}


@pytest.mark.parametrize("pattern", ["media/poste", "nearterm", "business/web_orders", "x*y"])
def test_a_word_that_finds_nothing_is_an_error(pattern: str) -> None:
    """With the nearest name where there is one."""
    with pytest.raises(UnknownTask) as caught:
        catalog.select(pattern)
    if "*" not in pattern:
        assert "did you mean" in str(caught.value)


def test_every_task_lies_on_the_map() -> None:
    """Thirteen clusters and fifty-five subdomains, and each desk task in one of them."""
    clusters = taxonomy().clusters
    assert len(clusters) == 13
    assert sum(len(cluster.subdomains) for cluster in clusters.values()) == 55
    for task in catalog.desk_catalog().values():
        assert task.spec.subdomain in clusters[task.spec.cluster].subdomains
