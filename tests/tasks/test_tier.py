"""The tier follows from what the oracle needed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from practicum.infra.environment import ToolCall
from practicum.tasks.loader import load
from practicum.tasks.scaffold import STARTER, scaffold
from practicum.tasks.spec import Limits, Output, TaskSpec, Tier
from practicum.tasks.tier import is_action, tier_by_rule


@pytest.fixture
def spec(tmp_path: Path) -> TaskSpec:
    assert STARTER.is_dir()
    return load(scaffold("business/fuel-log", tmp_path)).spec


def with_software(spec: TaskSpec, *software: str) -> TaskSpec:
    assert spec.desk is not None
    return replace(spec, desk=replace(spec.desk, software=software))


@pytest.mark.parametrize(
    ("actions", "tier"),
    [
        (0, Tier.NEAR_TERM),
        (15, Tier.NEAR_TERM),
        (16, Tier.FULL_SPECTRUM),
        (59, Tier.FULL_SPECTRUM),
        (60, Tier.LAST_EXAM),
    ],
)
def test_actions_decide(spec: TaskSpec, actions: int, tier: Tier) -> None:
    """At most 15 are near-term, 60 and more the last exam."""
    assert tier_by_rule(spec, actions) is tier


def test_applications_deliverables_and_hours_decide(spec: TaskSpec) -> None:
    """Two applications are not near-term; three of anything, or hours, are the last exam."""
    assert tier_by_rule(with_software(spec, "a", "b"), 3) is Tier.FULL_SPECTRUM
    assert tier_by_rule(with_software(spec, "a", "b", "c"), 3) is Tier.LAST_EXAM
    three = tuple(Output(f"{name}.txt") for name in "abc")
    assert tier_by_rule(replace(spec, outputs=three), 3) is Tier.LAST_EXAM
    assert tier_by_rule(replace(spec, limits=Limits(steps=10, seconds=7200.0)), 3) is Tier.LAST_EXAM


@pytest.mark.parametrize(
    ("name", "arguments", "counts"),
    [
        ("computer", {"action": "click", "x": 1, "y": 1}, True),
        ("computer", {"action": "type", "text": "many words"}, True),
        ("computer", {"action": "screenshot"}, False),
        ("computer", {"action": "elements"}, False),
        ("computer", {"action": "wait", "seconds": 1}, False),
        ("bash", {"command": "true"}, True),
        ("write_file", {"path": "x", "text": ""}, True),
        ("read_file", {"path": "x"}, False),
    ],
)
def test_looking_reading_and_waiting_are_no_actions(
    name: str, arguments: dict[str, object], counts: bool
) -> None:
    """What changes nothing is free."""
    assert is_action(ToolCall("1", name, arguments)) is counts
