"""From recipes to layers: what has to be built for an image, on what, and under which tag.

An image is two layers on its parent's: its programs, and the guest program. The guest program comes last so
that changing it never installs a program again:

    debian ── base-apps ─┬─ base                 (+ guest program)
                         ├─ office-apps ── office (+ guest program)
                         └─ …
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from practicum.vm_images.recipe import ROOM, ROOT, Recipe, Recipes

REPOSITORY = "practicum"
GUEST = ROOM / "handsd"
GUEST_DOCKERFILE = ROOM / "guest.Dockerfile"
TAG_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Layer:
    """One thing to build. With no parent it stands on bare Debian; no recipe means the guest program."""

    image: str
    name: str
    digest: str
    parent: str
    recipe: Recipe | None
    repository: str

    @property
    def tag(self) -> str:
        return tag_of(self.repository, self.name, self.digest)


def tag_of(repository: str, layer: str, digest: str) -> str:
    return f"{repository}/{layer}:{digest[:TAG_DIGITS]}"


def layers_of(
    recipes: Recipes, image: str, guest: Path = GUEST, repository: str = REPOSITORY
) -> tuple[Layer, ...]:
    """All layers of one image, in building order. Raises `UnknownImage`."""
    line = list(_program_layers(recipes, image, repository))
    return (*line, Layer(image, image, recipes.digest(image, guest), line[-1].tag, None, repository))


def _program_layers(recipes: Recipes, image: str, repository: str) -> Iterator[Layer]:
    parent = ""
    for recipe in recipes.lineage(image):
        name = recipe.name if recipe.name == ROOT else f"{recipe.name}-apps"
        layer = Layer(recipe.name, name, recipes.layer_digest(recipe.name), parent, recipe, repository)
        yield layer
        parent = layer.tag
