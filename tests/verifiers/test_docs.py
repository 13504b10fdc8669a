"""docs/verifiers.md and the registry hold each other to what they say."""

import re
import subprocess
import sys
from pathlib import Path
from random import Random

import msgspec
import pytest

from practicum import verifiers
from practicum.verifiers import mutation, registry
from practicum.verifiers.errors import BadSpec
from practicum.verifiers.registry import Family
from practicum.verifiers.verdict import Check

PAGE = (Path(__file__).parents[2] / "docs" / "verifiers.md").read_text(encoding="utf-8")
FAMILIES = list(registry.families())
BLOCK = re.compile(r"^```(\w+) (\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| ([^|]+) \| ([^|]*) \| ([^|]+) \| ([^|]*) \|$", re.MULTILINE)

by_kind = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.kind)


def section(kind: str) -> str:
    return PAGE.split(f"\n## {kind}: ", 1)[1].split("\n## ", 1)[0]


@by_kind
def test_every_family_has_its_section_and_every_check_its_row(family: Family) -> None:
    """Name, unit, meaning and source on the page are those of the registry, no more and no fewer."""
    text = section(family.kind)
    assert text.startswith(family.title)
    rows = [tuple(cell.strip() for cell in row) for row in ROW.findall(text)][1:]
    assert rows == [(fact.name, fact.unit, fact.says, fact.source) for fact in family.facts]
    for suffix in family.suffixes:
        assert f"`{suffix}`" in text
    assert f"`{family.spec.__name__}`" in text


def test_no_section_is_about_nothing() -> None:
    """Each section that names a kind has a family."""
    kinds = re.findall(r"^## (\w+): ", PAGE, re.MULTILINE)
    assert kinds == sorted(family.kind for family in FAMILIES)


@by_kind
def test_the_worked_example_is_a_spec(family: Family, tmp_path: Path) -> None:
    """The example on the page decodes as the family's spec, and says something other than the default."""
    example = next(
        body for language, kind, body in BLOCK.findall(PAGE) if (language, kind) == ("toml", family.kind)
    )
    path = tmp_path / "spec.toml"
    path.write_text(example)
    assert registry.load_spec(family, path) != family.spec()


@by_kind
def test_a_spec_with_a_wrong_field_type_is_named(family: Family, tmp_path: Path) -> None:
    """A spec that does not fit says which file and why."""
    path = tmp_path / "wrong.json"
    path.write_bytes(msgspec.json.encode([1]))
    with pytest.raises(BadSpec, match=r"wrong\.json"):
        registry.load_spec(family, path)


@pytest.mark.parametrize("kind", mutation.kinds())
def test_checks_are_documented_by_the_name_they_have(kind: str, tmp_path: Path) -> None:
    """Every top-level check of a real verdict has a row, or the family documents names that specs give."""
    kit, family = mutation.kit(kind), registry.family(kind)
    path = tmp_path / f"a{kit.suffix}"
    kit.sample(path, Random(1))
    named = {fact.name for fact in family.facts}
    open_ended = any(name.startswith("<") for name in named)
    checks: tuple[Check, ...] = family.run(path, path, kit.spec).checks
    assert all(check.name in named or open_ended for check in checks)
    assert {check.name for check in checks} & named


def test_how_to_add_a_verifier_works_to_the_letter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module on the page, put in place, is found by name, passes what is right and fails what is not."""
    body = next(
        body for language, name, body in BLOCK.findall(PAGE) if (language, name) == ("python", "tally")
    )
    assert len(body.splitlines()) < 60
    room = tmp_path / "room"
    room.mkdir()
    (room / "tally.py").write_text(body)
    monkeypatch.setattr(verifiers, "__path__", [*verifiers.__path__, str(room)])
    monkeypatch.delitem(sys.modules, "practicum.verifiers.tally", raising=False)
    right, wrong, junk = (tmp_path / name for name in ("right.json", "wrong.json", "junk.json"))
    right.write_text('{"a": 1, "b": 2}')
    wrong.write_text('{"a": 1, "b": 3}')
    junk.write_text("[[[")
    family = registry.family("tally")
    assert "tally" in registry.kinds()
    assert family.run(right, right).passed
    assert family.run(wrong, right).failures() == ("counts", "counts/b")
    assert family.run(wrong, right, family.spec(tolerance=1)).passed
    assert family.run(junk, right).failures() == ("readable",)
    monkeypatch.delitem(sys.modules, "practicum.verifiers.tally")


@by_kind
def test_importing_a_family_is_light(family: Family) -> None:
    """Nothing heavy is loaded until it is used."""
    heavy = ["numpy", "scipy", "trimesh", "manifold3d", "PIL", "openpyxl", "lxml", "sqlite3", "networkx"]
    code = f"import sys, practicum.verifiers.{family.kind}; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
