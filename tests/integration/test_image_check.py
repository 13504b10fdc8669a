"""`image check` on the real base image: it passes what works, and names what does not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PIL import Image

from practicum.controller.image_check import Checked, check_image
from practicum.infra.desk.container import ContainerDesks
from practicum.vm_images.builder import Images
from practicum.vm_images.recipe import RECIPES, Recipes

pytestmark = pytest.mark.docker

OFFER = """
[[offers]]
name = "trial"
title = "Trial"
package = "bash"
argv = {argv}
window = "{window}"
"""


def _offering(tmp_path: Path, argv: str, window: str) -> Checked:
    """What the check says of one program offered in place of those of the base image."""
    folder = tmp_path / "recipes"
    shutil.copytree(RECIPES, folder)
    toml = 'summary = "x"\nparent = "debian"\n' + OFFER.format(argv=argv, window=window)
    (folder / "base" / "image.toml").write_text(toml)
    images = Images(Recipes(folder))
    (result,) = check_image("base", images, ContainerDesks(), tmp_path / "pictures", bound=8.0)
    return result


def test_every_program_of_the_base_image_opens_alone_and_can_be_read(tmp_path: Path) -> None:
    results = list(check_image("base", Images(), ContainerDesks(), tmp_path))
    assert {result.program for result in results} == {"files", "terminal", "editor", "browser"}
    for result in results:
        assert result.ok, result.reason
        assert result.elements > 0
        with Image.open(result.screenshot) as picture:
            assert picture.size == (1280, 800)


def test_program_that_shows_no_window_fails_with_what_it_said(tmp_path: Path) -> None:
    result = _offering(tmp_path, '["sh", "-c", "echo no colours left"]', "Paint$")
    assert not result.ok
    assert "no window within 8 s" in result.reason
    assert "no colours left" in result.reason


def test_program_that_opens_with_a_greeting_fails(tmp_path: Path) -> None:
    script = "xmessage Welcome & until desk-windows | grep Xmessage; do :; done; mousepad"
    result = _offering(tmp_path, f'["sh", "-c", "{script}"]', "Mousepad$")
    assert not result.ok
    assert result.reason == "opens with another window: xmessage"
