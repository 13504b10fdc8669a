"""Every parser under a short run of its fuzz target; `make fuzz` runs longer."""

import importlib.util
import sys
from itertools import islice
from pathlib import Path
from types import ModuleType

import pytest

ROUNDS = 60


def load() -> ModuleType:
    path = Path(__file__).parents[1] / "fuzz" / "parsers.py"
    spec = importlib.util.spec_from_file_location("fuzz_parsers", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


fuzz = load()
TARGETS = fuzz.targets()


@pytest.mark.filterwarnings("ignore")  # damaged files make libraries warn; only what they raise counts here
@pytest.mark.parametrize("name", TARGETS)
def test_a_parser_reads_or_says_unreadable(name: str, tmp_path: Path) -> None:
    """Whatever the bytes, nothing else is raised."""
    reader, suffix, seed = TARGETS[name]
    for data in islice(fuzz.inputs(name, seed), ROUNDS):
        assert fuzz.attempt(reader, tmp_path / f"input{suffix}", data) is None


@pytest.mark.parametrize("name", TARGETS)
def test_the_seed_itself_is_read(name: str, tmp_path: Path) -> None:
    """A target that refuses its own seed would prove nothing."""
    reader, suffix, seed = TARGETS[name]
    (tmp_path / f"input{suffix}").write_bytes(
        seed if name != "stl-ascii" else seed.rpartition(b"facet normal")[0]
    )
    reader(tmp_path / f"input{suffix}")
