"""A task folder is read strictly, and what is wrong with it is said in one line that names the file."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from practicum.tasks.errors import MalformedTask, TaskError
from practicum.tasks.lint import lint
from practicum.tasks.loader import digest, load
from practicum.tasks.scaffold import STARTER, scaffold


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return scaffold("business/fuel-log", tmp_path)


def rewrite(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_a_scaffolded_task_loads_under_its_own_id(folder: Path) -> None:
    """The id is the last two parts of the path, and the task knows how to make and grade an instance."""
    task = load(folder)
    assert task.spec.id == "business/fuel-log"
    assert task.spec.title == "Fuel log"
    assert task.search_path == (folder,)


def test_a_scaffolded_task_passes_the_lint(folder: Path, tmp_path: Path) -> None:
    """An author begins from something that is already right."""
    task = load(folder)
    assert lint(task, task.instantiate(3, tmp_path / "instance")) == ()


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("task.toml", "difficulty = 1", "dificulty = 1", "did you mean 'difficulty'"),
        ("task.toml", "software =", "softwares =", "unknown key desk.softwares"),
        ("task.toml", "steps = 30", 'steps = "30"', "$.limits.steps"),
        ("task.toml", 'tier = "near-term"', 'tier = "nearly"', "$.tier"),
        ("task.toml", 'path = "answer.txt"', 'path = "../answer.txt"', "not a path inside"),
        ("task.toml", 'subdomain = "Accounting & Finance"', 'subdomain = "Acounting"', "did you mean"),
        ("task.toml", "[desk]", "[desk", "not TOML"),
        ("task.py", "def verify(outputs", "def check_it(outputs", "defines no verify"),
        ("task.py", "def facts(params:", "def facts(stuff:", "should be facts(params)"),
        ("task.py", "ANSWER =", "ANSWER ==", "NameError"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(folder: Path, file: str, old: str, new: str, said: str) -> None:
    """Unknown keys get a suggestion, wrong types their place, missing functions their signature."""
    rewrite(folder / file, old, new)
    with pytest.raises(MalformedTask) as caught:
        load(folder)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(folder) in str(caught.value)


@pytest.mark.parametrize("file", ["task.toml", "instruction.md", "task.py"])
def test_a_missing_file_is_named(folder: Path, file: str) -> None:
    """Each of the three files is needed."""
    (folder / file).unlink()
    with pytest.raises(MalformedTask, match=file):
        load(folder)


def test_any_change_of_the_folder_is_another_task(folder: Path) -> None:
    """The digest covers names and bytes of everything but byte code."""
    before = digest(folder)
    (folder / "__pycache__").mkdir(exist_ok=True)
    (folder / "__pycache__" / "task.cpython-311.pyc").write_bytes(b"x")
    assert digest(folder) == before
    (folder / "notes.txt").write_text("x")
    assert digest(folder) != before


@pytest.mark.parametrize(
    "name", ["fuel-log", "busines/fuel-log", "business/Fuel", "business/", "business/a/b"]
)
def test_names_that_cannot_be_a_task_are_refused(tmp_path: Path, name: str) -> None:
    """Nothing is written for them."""
    with pytest.raises(TaskError):
        scaffold(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_task_is_never_overwritten(folder: Path, tmp_path: Path) -> None:
    """Scaffolding a name that is taken is an error."""
    with pytest.raises(MalformedTask, match="already"):
        scaffold("business/fuel-log", tmp_path)
    assert (folder / "task.py").read_bytes() == (STARTER / "task.py").read_bytes()


def test_a_folder_in_a_cluster_off_the_map_is_refused(folder: Path, tmp_path: Path) -> None:
    """The first part of an id is a cluster of the taxonomy."""
    moved = tmp_path / "bussiness" / "fuel_log"
    shutil.copytree(folder, moved)
    with pytest.raises(MalformedTask, match="did you mean 'business'"):
        load(moved)
