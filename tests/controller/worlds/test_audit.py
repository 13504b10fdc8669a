"""An audit finds what is planted, at its rate, and nothing where nothing is."""

from __future__ import annotations

from collections import Counter

import pytest

from practicum.controller.audit import audit, executable
from practicum.controller.errors import BadRequest
from practicum.controller.lent import Count
from practicum.controller.statistics.wilson import wilson
from practicum.controller.subjects import Faulty, subject
from practicum.infra.world.differences import Kind
from practicum.infra.world.planted import Planted
from practicum.tasks.worlds import library

SCENARIOS = tuple(library.scenarios().values())
POLICIES = ("oracle", "no-verify", "random-valid")


def test_the_executable_world_shows_no_difference_and_contradicts_itself_nowhere() -> None:
    """The control: zero findings over every scenario."""
    found = audit("executable", executable, SCENARIOS, (0,))
    assert found.calls > 1000
    assert {kind: rate.found for kind, rate in found.rates.items()} == dict.fromkeys(Kind, 0)
    assert (found.flips, found.faults, found.violations) == (0.0, 0, ())
    assert found.examined > 100


def test_each_planted_kind_is_found_exactly_as_often_as_it_was_planted() -> None:
    """No kind is taken for another, none is missed, and the planted rate lies in the interval."""
    simulator = Faulty(0.06)
    found = audit("planted", simulator, SCENARIOS, (0, 1), POLICIES)
    watched = [planted for number, planted in enumerate(simulator.made) if number % 4 != 3]
    planted = sum((world.planted for world in watched), Counter[Kind]())
    chances = sum((world.chances for world in watched), Counter[Kind]())
    assert {kind: rate.found for kind, rate in found.rates.items()} == {kind: planted[kind] for kind in Kind}
    for kind in Kind:
        assert planted[kind] > 0, kind
        assert 0.06 in wilson(planted[kind], chances[kind], 0.999), kind
    assert found.flips > 0.1
    assert found.violations


@pytest.mark.parametrize("kind", Kind)
def test_one_kind_planted_alone_is_the_only_one_found(kind: Kind) -> None:
    def only(scenario: object, setup: object, seed: int) -> Planted:
        return Planted(scenario.open(setup), {kind: 0.5}, f"{kind}/{seed}")  # type: ignore[attr-defined]

    found = audit("one", only, SCENARIOS[:8], (0,), ("random-valid", "oracle"))  # type: ignore[arg-type]
    assert {other for other, rate in found.rates.items() if rate.found} <= {kind}


@pytest.mark.parametrize("word", ["", "planted:x", "planted:2", "executable:1", "oracle", "language"])
def test_words_that_name_no_simulator_are_refused(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(BadRequest):
        subject(word, model="", constrained=True, max_output=100, meter=Count())
