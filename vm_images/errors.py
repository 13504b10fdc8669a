"""What may go wrong with images, typed once.

ImageError
├── UnknownImage       no recipe of that name
├── MalformedRecipe    image.toml or the folder beside it does not say what an image needs
├── EngineMissing      no Docker engine answers
├── NoMirror           the base layer can neither be pulled nor bootstrapped
└── BuildFailed        a step failed; carries the stage, the end of its log and where the whole log lies
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


class ImageError(Exception):
    """Root of everything below."""


class UnknownImage(ImageError):
    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__(f"no image {name!r}; there are {', '.join(sorted(known))}")
        self.name = name


class MalformedRecipe(ImageError):
    """A recipe that cannot be read, and what is wrong with it."""


class EngineMissing(ImageError):
    """No Docker engine answers."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"no Docker engine answers: {reason} (mend: scripts/setup)")
        self.reason = reason


class NoMirror(ImageError):
    """Neither a registry nor a Debian mirror can give the base layer."""


class BuildFailed(ImageError):
    """A build step failed. `tail` is the end of its log."""

    def __init__(self, image: str, stage: str, tail: str, log: Path | None = None) -> None:
        where = f" (whole log: {log})" if log else ""
        last = tail.strip().rsplit("\n", 1)[-1]
        super().__init__(f"building {image} failed at {stage}: {last}{where}")
        self.image = image
        self.stage = stage
        self.tail = tail
        self.log = log
