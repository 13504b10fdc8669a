"""How the photograph was spoiled, and how that is undone: levels a channel, and dust in the sky."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import numpy.typing as npt

from practicum.tasks.desk.media.photo.scene import WIDTH, Picture

Bytes = npt.NDArray[np.uint8]
CHANNELS = ("red", "green", "blue")
_PLACES = 8
_BESIDE, _COVERED, _FADED = 2.4, 1.05, 1.3
"""In radii of a spot: how far off clean sky is taken, and between which distances its cover fades out."""


@dataclass(frozen=True, slots=True)
class Levels:
    """What to enter in a Levels dialogue for one channel: input limits 0–255 and gamma.

    Corrected = ((recorded − low) / (high − low)) ^ (1 / gamma), of values in 0–1.
    """

    low: int
    high: int
    gamma: float

    def spoil(self, right: Picture) -> Picture:
        return np.asarray((self.low + (self.high - self.low) * right**self.gamma) / 255)

    def mend(self, recorded: Picture) -> Picture:
        stretched = np.clip((recorded * 255 - self.low) / (self.high - self.low), 0, 1)
        return np.asarray(stretched ** (1 / self.gamma))


@dataclass(frozen=True, slots=True)
class Dust:
    """A soft dark disc; centre and radius in pixels. Beyond `radius` the picture is untouched."""

    x: int
    y: int
    radius: int

    def mask(self, shape: tuple[int, ...]) -> Picture:
        """0–1: how much of the light it takes."""
        y, x = np.mgrid[0 : shape[0], 0 : shape[1]].astype(float)
        distance = np.hypot(x - self.x, y - self.y) / self.radius
        return np.asarray(0.55 * np.clip(1.6 * (1 - distance), 0, 1))

    def sides(self) -> tuple[tuple[int, int], ...]:
        """Offsets to clean sky of about the same height, right and left."""
        step = round(_BESIDE * self.radius)
        return (step, 0), (-step, 0)


def draw_levels(rng: Random) -> tuple[Levels, ...]:
    """A flat, dark and warm picture: each channel its own limits and gamma."""
    highs = [rng.randrange(214, 236), rng.randrange(192, 214), rng.randrange(160, 188)]
    return tuple(Levels(rng.randrange(14, 34), high, round(rng.uniform(1.15, 1.55), 2)) for high in highs)


def draw_dust(rng: Random, right: Picture, count: int) -> tuple[Dust, ...]:
    """One in each share of the sky's width, where the sky beside it is most like the sky it hides.

    What was under a spot cannot be known, so an able hand must be able to come near it.
    """
    share = WIDTH // count

    def somewhere(n: int) -> Dust:
        x = n * share + rng.randrange(70, share - 70)
        return Dust(x, rng.randrange(42, 96), rng.randrange(11, 17))

    places = [[somewhere(n) for _ in range(_PLACES)] for n in range(count)]
    return tuple(min(several, key=lambda spot: _surprise(right, spot)) for several in places)


def _surprise(right: Picture, spot: Dust) -> float:
    """Mean difference between what a spot hides and what lies to its sides, in 0–1."""
    reach = slice(spot.y - spot.radius, spot.y + spot.radius)
    here, *sides = (
        right[reach, spot.x + dx - spot.radius : spot.x + dx + spot.radius]
        for dx in (0, *(dx for dx, _ in spot.sides()))
    )
    return float(np.abs(here - sum(sides) / len(sides)).mean())


def spoiled(right: Picture, levels: Sequence[Levels], dust: Sequence[Dust]) -> Bytes:
    dirty = right.copy()
    for spot in dust:
        dirty *= 1 - spot.mask(right.shape)[..., None]
    return to_bytes(np.stack([level.spoil(dirty[..., c]) for c, level in enumerate(levels)], axis=-1))


def mended(recorded: Bytes, levels: Sequence[Levels], dust: Sequence[Dust]) -> Bytes:
    """As an able hand would: levels a channel, then clean sky from beside each spot laid softly over it."""
    picture = np.stack(
        [level.mend(recorded[..., c].astype(float) / 255) for c, level in enumerate(levels)], axis=-1
    )
    for spot in dust:
        y, x = np.mgrid[0 : picture.shape[0], 0 : picture.shape[1]].astype(float)
        distance = np.hypot(x - spot.x, y - spot.y) / spot.radius
        cover = np.clip((_FADED - distance) / (_FADED - _COVERED), 0, 1)
        beside = sum(np.roll(picture, (-dy, -dx), axis=(0, 1)) for dx, dy in spot.sides()) / 2
        picture = picture * (1 - cover[..., None]) + beside * cover[..., None]
    return to_bytes(picture)


def to_bytes(picture: Picture) -> Bytes:
    return (np.clip(picture, 0, 1) * 255 + 0.5).astype(np.uint8)
