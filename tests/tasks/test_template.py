"""An instruction and its facts fit each other exactly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from practicum.tasks.errors import BadTemplate
from practicum.tasks.template import fill

NAMES = st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True)
FACTS = st.dictionaries(NAMES, st.text(max_size=20), max_size=6)


@given(FACTS)
def test_every_fact_is_said_as_it_is(facts: dict[str, str]) -> None:
    """Values are never read again: a dollar sign in one stays one."""
    template = "|".join(f"${{{name}}}" for name in facts)
    assert fill(template, facts) == "|".join(facts.values())


@given(FACTS, NAMES)
def test_a_missing_or_an_unused_fact_is_an_error(facts: dict[str, str], name: str) -> None:
    """One placeholder more than facts, and one fact more than placeholders, both name the culprit."""
    template = " ".join(f"${{{known}}}" for known in facts)
    if name not in facts:
        with pytest.raises(BadTemplate, match=f"without a fact: {name}"):
            fill(f"{template} ${{{name}}}", facts)
        with pytest.raises(BadTemplate, match=f"never says: {name}"):
            fill(template, facts | {name: ""})


def test_a_stray_dollar_is_an_error_and_a_doubled_one_is_a_dollar() -> None:
    """Prices are written `$$ 5`."""
    assert fill("$$ 5", {}) == "$ 5"
    with pytest.raises(BadTemplate):
        fill("$ 5", {})
