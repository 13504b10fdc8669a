"""What an image is made of: `recipes/<name>/` holds `image.toml`, a Dockerfile and the files it copies.

The digest of a recipe covers its folder and its parents, so that equal digests mean equal images up to the
versions a mirror offers on the day; those are in the manifest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import msgspec

from practicum.vm_images.errors import MalformedRecipe, UnknownImage

ROOM = Path(__file__).parent
RECIPES = ROOM / "recipes"
GUEST_LOCK = ROOM / "guest.lock"
"""Versions and hashes of the guest's Python packages; made from `handsd/requirements.txt` by `make lock`."""
ROOT = "debian"
"""The layer every image stands on; it has a recipe folder, and offers nothing."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A program of an image. `window` is a regular expression that finds the title or class of its window;
    `version` is a prefix that its package's upstream version must have, empty where any will do."""

    name: str
    title: str
    package: str
    argv: tuple[str, ...]
    window: str
    version: str = ""


@dataclass(frozen=True, slots=True)
class Recipe:
    """One image. `offers` are its own programs; `parent` brings its own."""

    name: str
    summary: str
    folder: Path = field(compare=False)
    parent: str = ""
    offers: tuple[Offer, ...] = ()


class _Declared(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    summary: str
    parent: str = ""
    offers: tuple[Offer, ...] = ()


def read(folder: Path) -> Recipe:
    """The recipe in `folder`. Raises `MalformedRecipe`."""
    try:
        declared = msgspec.toml.decode((folder / "image.toml").read_bytes(), type=_Declared)
    except (OSError, msgspec.DecodeError) as error:
        raise MalformedRecipe(f"{folder.name}/image.toml: {error}") from error
    if not (folder / "Dockerfile").is_file():
        raise MalformedRecipe(f"{folder.name}: has no Dockerfile")
    return Recipe(folder.name, declared.summary, folder, declared.parent, declared.offers)


class Recipes:
    """The recipes of one folder as they were when it was read, checked to form a tree on `debian`."""

    def __init__(self, folder: Path = RECIPES) -> None:
        found = (read(path) for path in sorted(folder.iterdir()) if path.is_dir())
        self._by_name: Mapping[str, Recipe] = {recipe.name: recipe for recipe in found}
        self._digests = {recipe.name: digest_of(recipe.folder) for recipe in self._by_name.values()}
        for name in self._by_name:
            self.lineage(name)

    def names(self) -> tuple[str, ...]:
        """Every image a desk can be opened on."""
        return tuple(name for name in self._by_name if name != ROOT)

    def get(self, name: str) -> Recipe:
        """Raises `UnknownImage`."""
        if name not in self._by_name:
            raise UnknownImage(name, self.names())
        return self._by_name[name]

    def lineage(self, name: str) -> tuple[Recipe, ...]:
        """From the root layer to the image itself."""
        line = [self.get(name)]
        while parent := line[-1].parent:
            if parent not in self._by_name or any(recipe.name == parent for recipe in line):
                raise MalformedRecipe(f"{line[-1].name}: its parent {parent!r} is missing or its own child")
            line.append(self._by_name[parent])
        if line[-1].name != ROOT:
            raise MalformedRecipe(f"{name}: does not stand on {ROOT!r}")
        return tuple(reversed(line))

    def offers(self, name: str) -> tuple[Offer, ...]:
        """Every program of an image, its parents' first."""
        return tuple(offer for recipe in self.lineage(name) for offer in recipe.offers)

    def layer_digest(self, name: str) -> str:
        """Of everything in the image but the guest program."""
        return _fold(self._digests[recipe.name] for recipe in self.lineage(name))

    def digest(self, name: str, guest: Path) -> str:
        """Of the whole image, with the guest program in `guest` and its locked packages: hex SHA-256."""
        lock = hashlib.sha256(GUEST_LOCK.read_bytes()).hexdigest()
        return _fold((self.layer_digest(name), digest_of(guest), lock))


@cache
def standard() -> Recipes:
    """The recipes as shipped."""
    return Recipes()


def digest_of(folder: Path) -> str:
    """Of the names and bytes of all files below a folder, whatever their modes and times."""
    return _fold(
        part
        for path in files_of(folder)
        for part in (path.relative_to(folder).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest())
    )


def files_of(folder: Path) -> tuple[Path, ...]:
    """Its source files in a fixed order."""
    every = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return tuple(sorted(every, key=lambda path: path.relative_to(folder).as_posix()))


def _fold(parts: Iterable[str]) -> str:
    state = hashlib.sha256()
    for part in parts:
        state.update(part.encode() + b"\0")
    return state.hexdigest()
