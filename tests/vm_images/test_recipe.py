from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from practicum.vm_images.errors import MalformedRecipe, UnknownImage
from practicum.vm_images.recipe import Recipes, digest_of, read, standard

OFFER = """
[[offers]]
name = "paint"
title = "Paint"
package = "paint"
argv = ["paint"]
window = "Paint$"
"""


def test_shipped_recipes_offer_the_programs_of_the_near_term_tasks() -> None:
    """Each shipped image stands on debian and offers at least its own kind of program."""
    recipes = standard()
    assert set(recipes.names()) >= {"base", "office", "cad", "media"}
    offered = {name: {offer.name for offer in recipes.offers(name)} for name in recipes.names()}
    assert offered["base"] >= {"files", "terminal", "editor", "browser"}
    assert offered["office"] >= {"calc", "writer", "impress"} | offered["base"]
    assert offered["cad"] >= {"freecad", "openscad"}
    assert offered["media"] >= {"inkscape", "gimp"}


def test_shipped_offers_can_be_started_and_recognised() -> None:
    """Every offer has a command, a package and a regular expression that compiles."""
    recipes = standard()
    for name in recipes.names():
        offers = recipes.offers(name)
        assert len({offer.name for offer in offers}) == len(offers)
        for offer in offers:
            assert offer.argv
            assert offer.package
            re.compile(offer.window)


def test_unknown_image_names_the_known_ones(house: Path) -> None:
    with pytest.raises(UnknownImage, match=r"no image 'offices'; there are base, media, office"):
        Recipes(house).get("offices")


def test_root_layer_is_not_an_image_to_open(house: Path) -> None:
    assert "debian" not in Recipes(house).names()


@pytest.mark.parametrize(
    ("toml", "reason"),
    [
        ("summary = 1\n", "summary"),
        ('parent = "debian"\n', "summary"),
        ('summary = "x"\nparent = "debian"\ncolour = "red"\n', "colour"),
        ('summary = "x"\nparent = "debian"\n[[offers]]\nname = "a"\n', "title"),
        ('summary = "x', "(?i)unterminated"),
        ('summary = "x"\nparent = "attic"\n', "attic"),
        ('summary = "x"\n', "debian"),
    ],
)
def test_malformed_recipe_is_refused_by_name(house: Path, toml: str, reason: str) -> None:
    """A recipe that cannot mean an image is refused, saying which and why."""
    (house / "base" / "image.toml").write_text(toml)
    with pytest.raises(MalformedRecipe, match=reason) as refused:
        Recipes(house)
    assert "base" in str(refused.value)


def test_recipe_without_dockerfile_is_refused(house: Path) -> None:
    (house / "base" / "Dockerfile").unlink()
    with pytest.raises(MalformedRecipe, match="Dockerfile"):
        Recipes(house)


def test_circle_of_parents_is_refused(house: Path) -> None:
    (house / "base" / "image.toml").write_text('summary = "x"\nparent = "office"\n')
    with pytest.raises(MalformedRecipe, match="own child"):
        Recipes(house)


def test_offers_come_parents_first(house: Path) -> None:
    with (house / "base" / "image.toml").open("a") as file:
        file.write(OFFER)
    with (house / "office" / "image.toml").open("a") as file:
        file.write(OFFER.replace("paint", "sheet"))
    assert [offer.name for offer in Recipes(house).offers("office")] == ["paint", "sheet"]
    assert read(house / "base").offers[0].argv == ("paint",)


@pytest.mark.parametrize(
    ("changed", "moved"),
    [
        ("debian/Dockerfile", {"base", "office", "media"}),
        ("base/Dockerfile", {"base", "office", "media"}),
        ("office/Dockerfile", {"office"}),
        ("media/image.toml", {"media"}),
    ],
)
def test_a_change_moves_exactly_the_images_that_stand_on_it(
    house: Path, tmp_path: Path, changed: str, moved: set[str]
) -> None:
    guest = tmp_path / "guest"
    guest.mkdir()
    before = {name: Recipes(house).digest(name, guest) for name in Recipes(house).names()}
    with (house / changed).open("a") as file:
        file.write("\n# later\n")
    after = {name: Recipes(house).digest(name, guest) for name in Recipes(house).names()}
    assert {name for name in before if before[name] != after[name]} == moved


def test_guest_program_moves_every_image_and_no_program_layer(house: Path, tmp_path: Path) -> None:
    guest = tmp_path / "guest"
    guest.mkdir()
    recipes = Recipes(house)
    before = [(recipes.layer_digest(name), recipes.digest(name, guest)) for name in recipes.names()]
    (guest / "main.py").write_text("print()\n")
    after = [(recipes.layer_digest(name), recipes.digest(name, guest)) for name in recipes.names()]
    for (layer, image), (layer_later, image_later) in zip(before, after, strict=True):
        assert layer == layer_later
        assert image != image_later


def test_digest_ignores_modes_times_and_caches(house: Path, tmp_path: Path) -> None:
    """A clone, a wheel and a tree that was run in are the same recipe."""
    twin = tmp_path / "twin"
    shutil.copytree(house / "base", twin)
    for path in twin.iterdir():
        path.chmod(0o755)
        os.utime(path, (0, 0))
    (twin / "__pycache__").mkdir()
    (twin / "__pycache__" / "x.pyc").write_bytes(b"x")
    assert digest_of(twin) == digest_of(house / "base")


NAMES = st.text("abcdef", min_size=1, max_size=3)


@given(
    st.dictionaries(NAMES, st.binary(max_size=8), max_size=4), st.dictionaries(NAMES, st.binary(max_size=8))
)
def test_digests_are_equal_where_names_and_bytes_are(
    tmp_path_factory: pytest.TempPathFactory, one: dict[str, bytes], other: dict[str, bytes]
) -> None:
    digests = []
    for files in (one, other):
        folder = tmp_path_factory.mktemp("recipe")
        for name, content in files.items():
            (folder / name).write_bytes(content)
        digests.append(digest_of(folder))
    assert (digests[0] == digests[1]) == (one == other)
