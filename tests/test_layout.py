"""The packaging traps that linked rooms open, each kept closed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("controller", "agents", "tasks", "infra", "vm_images", "verifiers")
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text())


def run(*argv: str, cwd: Path = ROOT, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        argv, cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True, check=False, timeout=300
    )


def tool(name: str) -> str:
    return str(Path(sys.executable).parent / name)


def sources(room: Path) -> set[Path]:
    return {path for path in room.rglob("*.py") if "__pycache__" not in path.parts}


def tracked_copy(target: Path, *, symlinks: bool = True) -> Path:
    """The tree as git would check it out, with or without symbolic links; uncommitted files included."""
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").stdout
    for name in filter(None, listed.split("\0")):
        source, copy = ROOT / name, target / name
        if not (source.is_symlink() or source.exists()):
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not source.is_symlink():
            shutil.copy2(source, copy)
        elif symlinks:
            copy.symlink_to(source.readlink())
        else:
            copy.write_text(str(source.readlink()))
    return target


def build(tree: Path, out: Path, *what: str) -> Path:
    done = run(tool("python"), "-m", "build", "--no-isolation", *what, "--outdir", str(out), str(tree))
    assert done.returncode == 0, done.stdout + done.stderr
    return next(out.glob("*.whl"))


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("RECORD")}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    tree = tracked_copy(tmp_path_factory.mktemp("tree"))
    return contents(build(tree, tmp_path_factory.mktemp("direct"), "--wheel"))


def test_the_umbrella_links_the_six_rooms_and_nothing_else() -> None:
    """`src/practicum` holds one relative link a room, so that the code lives at the top level."""
    links = {p.name: str(p.readlink()) for p in (ROOT / "src/practicum").iterdir() if p.is_symlink()}
    assert links == {room: f"../../{room}" for room in ROOMS}


def test_rooms_are_namespaces_and_their_packages_are_not() -> None:
    """No room has an `__init__.py` at its own top; each deeper folder of imported code has one."""
    for room in ROOMS:
        assert not (ROOT / room / "__init__.py").exists()
        for path in sources(ROOT / room):
            inner = path.parent.relative_to(ROOT / room)
            payload = {"files", "starter"} & set(inner.parts)  # copied to where it runs, never imported here
            if inner.parts and not payload:
                assert (path.parent / "__init__.py").exists(), f"{path.parent} is not a package"


def test_other_peoples_packages_are_not_shadowed(tmp_path: Path) -> None:
    """A top-level `agents` or `verifiers` of somebody else wins over our folders, even from our root."""
    for room in ROOMS:
        (tmp_path / room).mkdir()
        (tmp_path / room / "__init__.py").write_text("theirs = True\n")
    code = "; ".join(f"import {room}; assert {room}.theirs" for room in ROOMS)
    done = run(sys.executable, "-c", code, PYTHONPATH=str(tmp_path))
    assert done.returncode == 0, done.stderr


def test_the_wheel_holds_every_module_once(wheel: dict[str, bytes]) -> None:
    """Each source file of each room is in the wheel under `practicum/`, and nothing lies outside."""
    expected = {f"practicum/{path.relative_to(ROOT)}" for room in ROOMS for path in sources(ROOT / room)}
    packed = {name for name in wheel if name.endswith(".py")}
    assert packed == expected | {"practicum/__init__.py"}
    assert "practicum/py.typed" in wheel
    assert all(name.startswith(("practicum/", "practicum-")) for name in wheel)


def test_wheel_from_sdist_equals_wheel_from_tree(wheel: dict[str, bytes], tmp_path: Path) -> None:
    """Whoever builds from the source distribution gets the same bytes."""
    tree = tracked_copy(tmp_path / "tree")
    assert contents(build(tree, tmp_path / "out")) == wheel


def test_a_clone_without_symlinks_builds_the_same_wheel(wheel: dict[str, bytes], tmp_path: Path) -> None:
    """The wheel is built from the rooms and never through the links."""
    tree = tracked_copy(tmp_path / "tree", symlinks=False)
    assert contents(build(tree, tmp_path / "out", "--wheel")) == wheel


def test_import_linter_sees_a_wrong_import_in_every_room(tmp_path: Path) -> None:
    """The layers contract names the six roots, so an upward import anywhere is found."""
    assert CONFIG["tool"]["importlinter"]["root_packages"] == [f"practicum.{room}" for room in ROOMS]
    tree = tracked_copy(tmp_path / "tree")
    for room in ROOMS[1:]:
        (tree / room / "planted.py").write_text("import practicum.controller.outcome\n")
    done = run(tool("lint-imports"), "--no-cache", cwd=tree, PYTHONPATH=str(tree / "src"))
    assert done.returncode != 0
    for room in ROOMS[1:]:
        assert f"practicum.{room}.planted -> practicum.controller.outcome" in done.stdout


def test_pyright_reads_every_file_of_every_room() -> None:
    """Given only `src` pyright follows no links and passes without looking; each room is named."""
    done = run(tool("pyright"), "--pythonpath", sys.executable, "--outputjson")
    report = json.loads(done.stdout)
    expected = sum(len(sources(ROOT / room)) for room in ROOMS)
    assert report["summary"]["filesAnalyzed"] >= expected
    rules = {item.get("rule") for item in report["generalDiagnostics"] if item["severity"] == "error"}
    assert not rules & {"reportMissingImports", "reportMissingModuleSource"}, "an import leads nowhere"


def test_mypy_is_given_every_room() -> None:
    """The check target names each room; a namespace umbrella alone would be skipped."""
    makefile = (ROOT / "Makefile").read_text()
    assert f"ROOMS := {' '.join(ROOMS)}" in makefile
    assert "mypy $(addprefix -p practicum.,$(ROOMS))" in makefile


def test_coverage_measures_the_linked_code(tmp_path: Path) -> None:
    """Coverage is configured by paths: by package name it would see nothing through the links."""
    script = tmp_path / "script.py"
    script.write_text("import practicum.verifiers.verdict\n")
    data = f"--data-file={tmp_path / 'coverage'}"
    assert run(tool("coverage"), "run", data, str(script)).returncode == 0
    report = json.loads(run(tool("coverage"), "json", data, "-o", "-").stdout)
    assert report["files"]["verifiers/verdict.py"]["summary"]["covered_lines"] > 0
