"""Composition: what gates, weights and alternatives do to a score; a verdict survives its encoding."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from practicum.verifiers.verdict import Check, Role, Verdict, all_of, any_of, check, dumps, loads

scores = st.floats(0.0, 1.0)
leaves = st.builds(
    lambda name, passed, score, weight, role: Check(
        name, passed, 1.0 if passed else score * 0.9, weight=weight, role=role
    ),
    st.text(min_size=1, max_size=5),
    st.booleans(),
    scores,
    st.floats(0.01, 5.0),
    st.sampled_from(Role),
)


@given(st.lists(leaves, min_size=1, max_size=8))
def test_a_verdict_passes_when_all_required_do(checks: list[Check]) -> None:
    """Bonus checks never decide; a failing gate makes the score 0; the score stays in [0, 1]."""
    verdict = Verdict(tuple(checks))
    assert verdict.passed == all(item.passed for item in checks if item.role is not Role.BONUS)
    assert 0.0 <= verdict.score <= 1.0
    if any(item.role is Role.GATE and not item.passed for item in checks):
        assert verdict.score == 0.0


@given(st.lists(leaves, min_size=1, max_size=6))
def test_alternatives_do_not_see_one_another(checks: list[Check]) -> None:
    """`any_of` is the best child whatever the order; `all_of` passes no more than a verdict would."""
    forward, backward = any_of("x", checks), any_of("x", checks[::-1])
    assert forward.passed == backward.passed == any(item.passed for item in checks)
    assert forward.score == backward.score
    assert all_of("x", checks).passed == Verdict(tuple(checks)).passed


@given(st.lists(leaves, min_size=1, max_size=5))
def test_a_verdict_survives_its_encoding(checks: list[Check]) -> None:
    """Bytes and back is the same verdict."""
    verdict = Verdict((all_of("whole", checks),))
    assert loads(dumps(verdict)) == verdict


@pytest.mark.parametrize("score", [-0.1, 1.1, float("nan"), float("inf")])
def test_scores_outside_the_range_are_refused(score: float) -> None:
    """A verifier cannot hand out more than everything."""
    with pytest.raises(ValueError, match="outside"):
        check("x", False, score=score)


def test_nothing_to_check_is_no_pass() -> None:
    """A verdict without checks would pass everything."""
    with pytest.raises(ValueError, match="without checks"):
        Verdict(())
    with pytest.raises(msgspec.ValidationError):
        loads(b'{"checks": 1}')
