"""The language path with a real model: opt-in, because the model and its server are heavy.

Serve any small model at OPENAI_BASE_URL and name it in PRACTICUM_LOCAL_MODEL; docs/worlds.md says how.
"""

from __future__ import annotations

import os

import pytest

from practicum.controller.audit import audit
from practicum.controller.lent import Count
from practicum.controller.subjects import subject
from practicum.infra.world.differences import Kind
from practicum.tasks.worlds import library


@pytest.fixture
def model() -> str:
    name = os.environ.get("PRACTICUM_LOCAL_MODEL")
    if not name:
        pytest.skip("PRACTICUM_LOCAL_MODEL does not name a served model")
    return name


@pytest.mark.slow
@pytest.mark.parametrize("word", ["language", "ledger"])
def test_a_small_model_is_a_poor_world_and_the_audit_says_how(model: str, word: str) -> None:
    """Every answer is either compared or a fault; a model of this size does not get through clean."""
    meter = Count()
    weak = subject(word, model=model, constrained=True, max_output=300, meter=meter)
    found = audit(word, weak, [library.scenario("science/freezer")], (0,), ("oracle",))
    assert meter.calls["world"] >= found.calls
    assert found.faults + sum(rate.found for rate in found.rates.values()) > 0
    assert set(found.rates) == set(Kind)
