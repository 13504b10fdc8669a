"""Building, on a real engine: tiny recipes on the bare Debian that the real images have left there."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from practicum.vm_images.builder import LABEL, Images, Progress
from practicum.vm_images.engine import Engine
from practicum.vm_images.errors import BuildFailed, EngineMissing, UnknownImage
from practicum.vm_images.recipe import Recipes

pytestmark = pytest.mark.docker

BASE = """ARG PARENT
FROM ${PARENT}
RUN mkdir -p /usr/share/desk && ln -sf true /usr/bin/python3
"""
REPOSITORY = "practicum-test"
OFFER = """
[[offers]]
name = "shell"
title = "Shell"
package = "bash"
argv = ["bash"]
window = "x"
"""


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine.connect() as connected:
        yield connected


@pytest.fixture
def images(house: Path, tmp_path: Path, engine: Engine) -> Iterator[Images]:
    """Recipes of this test alone: the name of its folder makes their digests its own."""
    (house / "debian" / "origin").write_text(str(tmp_path))
    (house / "base" / "Dockerfile").write_text(BASE)
    (house / "base" / "image.toml").write_text(f'summary = "desk"\nparent = "debian"\n{OFFER}')
    guest = tmp_path / "guest"
    guest.mkdir()
    (guest / "main.py").write_text("print()\n")
    yield Images(Recipes(house), guest, tmp_path / "cache", REPOSITORY)
    for built in engine.labelled(LABEL):
        for tag in built.tags:
            if tag.startswith(f"{REPOSITORY}/"):
                engine.remove(tag)


def test_image_is_built_once_and_its_manifest_says_what_is_in_it(images: Images, engine: Engine) -> None:
    assert images.find("base", engine) is None
    assert images.manifest("base", engine) is None
    first: list[Progress] = []
    manifest = images.build(["base"], engine, first.append)["base"]
    assert manifest.digest == images.digest("base")
    assert manifest.programs == {"shell": manifest.packages["bash"]}
    assert {news.name for news in first} == {"debian", "base-apps", "base"}
    assert len(first) > 3
    again: list[Progress] = []
    assert images.build(["base"], engine, again.append)["base"] == manifest
    assert [news.line for news in again] == ["built"] * 3
    assert images.manifest("base", engine) == manifest


def test_guest_program_is_the_only_layer_built_again_when_it_changes(images: Images, engine: Engine) -> None:
    images.build(["base"], engine)
    before = images.layers("base")[-1].tag
    (images.guest / "main.py").write_text("print(1)\n")
    news: list[Progress] = []
    images.build(["base"], engine, news.append)
    assert {one.name for one in news if one.line != "built"} == {"base"}
    assert images.stale(engine).count(before) == 1
    assert images.prune(engine)[before] is True
    assert images.find("base", engine) is not None


def test_two_builders_of_one_digest_do_the_work_once(images: Images, engine: Engine) -> None:
    worked: list[str] = []

    def build() -> None:
        with Engine.connect() as own:
            images.build(["base"], own, lambda news: worked.append(news.line))

    with ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(build), pool.submit(build)]:
            future.result()
    assert sum(line.startswith("Step 1/") for line in worked) == 3


def test_failed_step_shows_the_end_of_its_log_and_leaves_the_rest_built(
    images: Images, house: Path, engine: Engine
) -> None:
    (house / "office" / "Dockerfile").write_text(
        "ARG PARENT\nFROM ${PARENT}\nRUN echo the glue is dry >&2; false\n"
    )
    with pytest.raises(BuildFailed) as failed:
        replace(images, recipes=Recipes(house)).build(["base", "office"], engine)
    assert failed.value.stage == "layer office-apps"
    assert "the glue is dry" in failed.value.tail
    assert failed.value.log is not None
    assert "the glue is dry" in failed.value.log.read_text()
    assert engine.find(images.layers("base")[1].tag) is not None


def test_interrupted_build_stops_the_engine_too(images: Images, house: Path, engine: Engine) -> None:
    """What a person interrupts does not go on in the engine: its step never comes to its end."""
    (house / "base" / "Dockerfile").write_text(f"{BASE}RUN echo begun && timeout 120 tail -f /dev/null\n")
    begun = threading.Event()

    class Interrupted(Exception):
        pass

    def interrupt(news: Progress) -> None:
        if "begun" in news.line and not news.line.startswith("Step"):
            begun.set()
            raise Interrupted

    images = replace(images, recipes=Recipes(house))
    with pytest.raises(Interrupted):
        images.build(["base"], engine, interrupt)
    assert begun.is_set()
    assert engine.find(images.layers("base")[1].tag) is None


def test_unknown_image_is_refused_before_anything_is_built(images: Images, engine: Engine) -> None:
    with pytest.raises(UnknownImage):
        images.build(["base", "attic"], engine)
    assert images.find("base", engine) is None


def test_prune_leaves_the_images_of_others(images: Images, engine: Engine) -> None:
    """Every tag taken for stale is one that our own labels name."""
    images.build(["base"], engine)
    own = {layer.tag for layer in images.layers("base")}
    assert not own & set(images.stale(engine))
    assert all(tag.startswith(f"{REPOSITORY}/") for tag in images.stale(engine))


def test_engine_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    with pytest.raises(EngineMissing, match="no Docker engine answers"):
        Engine.connect()
