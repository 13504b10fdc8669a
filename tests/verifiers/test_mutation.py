"""Damage is seen for its named reason and graded; rewriting is never held against anyone."""

import shutil
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from practicum.verifiers import mutation, registry
from practicum.verifiers.mutation import Damage, Kit, Rewriting
from practicum.verifiers.verdict import Verdict

KITS = [mutation.kit(kind) for kind in mutation.kinds()]
DAMAGES = [pytest.param(kit, item, id=f"{kit.kind}: {item.name}") for kit in KITS for item in kit.damages]
REWRITINGS = [
    pytest.param(kit, item, id=f"{kit.kind}: {item.name}") for kit in KITS for item in kit.rewritings
]
ROUNDING = 0.02
"""Partial credit is measured on samples: more damage may score this much higher by chance."""

bounded = settings(
    max_examples=2,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def judged(kit: Kit, candidate: Path, reference: Path) -> Verdict:
    return registry.family(kit.kind).run(candidate, reference, kit.spec)


def pair(kit: Kit, folder: Path, seed: int) -> tuple[Path, Path]:
    for old in folder.iterdir():
        old.unlink()
    reference, candidate = folder / f"reference{kit.suffix}", folder / f"candidate{kit.suffix}"
    kit.sample(reference, Random(seed))
    shutil.copyfile(reference, candidate)
    return candidate, reference


@pytest.mark.parametrize("kit", KITS, ids=lambda kit: kit.kind)
def test_each_kit_is_rich_enough(kit: Kit) -> None:
    """Eight kinds of damage and five of rewriting is the least a family may ship."""
    assert len(kit.damages) >= 8
    assert len(kit.rewritings) >= 5
    assert len({item.name for item in (*kit.damages, *kit.rewritings)}) == len(kit.damages) + len(
        kit.rewritings
    )


@pytest.mark.parametrize(("kit", "damage"), DAMAGES)
@bounded
@given(seed=st.integers(0, 2**32), severity=st.floats(0.05, 0.5))
def test_damage_is_seen_and_graded(
    kit: Kit, damage: Damage, tmp_path: Path, seed: int, severity: float
) -> None:
    """A damaged file fails the check the damage names, and twice the damage scores no better."""
    candidate, reference = pair(kit, tmp_path, seed)
    damage.apply(candidate, severity, Random(seed))
    mild = judged(kit, candidate, reference)
    assert not mild.passed
    assert damage.fails in mild.failures()
    assert mild.score < 1.0
    if damage.graded:
        shutil.copyfile(reference, candidate)
        damage.apply(candidate, min(1.0, severity * 2.0), Random(seed))
        severe = judged(kit, candidate, reference)
        assert not severe.passed
        assert severe.score <= mild.score + ROUNDING


@pytest.mark.parametrize(("kit", "rewriting"), REWRITINGS)
@bounded
@given(seed=st.integers(0, 2**32))
def test_rewriting_is_not_held_against_anyone(
    kit: Kit, rewriting: Rewriting, tmp_path: Path, seed: int
) -> None:
    """A file that says the same in another way still passes with full score."""
    candidate, reference = pair(kit, tmp_path, seed)
    rewriting.apply(candidate, Random(seed))
    verdict = judged(kit, candidate, reference)
    assert verdict.failures() == ()
    assert verdict.score == 1.0


@pytest.mark.parametrize("kit", KITS, ids=lambda kit: kit.kind)
@bounded
@given(seed=st.integers(0, 2**32))
def test_another_sample_is_no_answer(kit: Kit, tmp_path: Path, seed: int) -> None:
    """A right file of another instance fails."""
    candidate, reference = pair(kit, tmp_path, seed)
    kit.sample(candidate, Random(seed + 1))
    assert not judged(kit, candidate, reference).passed


@pytest.mark.parametrize("kit", KITS, ids=lambda kit: kit.kind)
@bounded
@given(seed=st.integers(0, 2**32), share=st.floats(0.0, 0.999))
def test_a_truncated_file_never_passes_and_never_raises(
    kit: Kit, tmp_path: Path, seed: int, share: float
) -> None:
    """Cut anywhere, a file either fails or still says the whole of it."""
    candidate, reference = pair(kit, tmp_path, seed)
    data = reference.read_bytes()
    candidate.write_bytes(data[: int(share * (len(data) - 20))])
    assert not judged(kit, candidate, reference).passed
