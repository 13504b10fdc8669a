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
_ANGLE = 2.4


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
        step = round(_ANGLE * self.radius)
        return (step, 0), (-step, 0)


def draw_levels(rng: Random) -> tuple[Levels, ...]:
    """A flat, dark and warm picture: each channel its own limits and gamma."""
    highs = [rng.randrange(214, 236), rng.randrange(192, 214), rng.randrange(160, 188)]
    return tuple(Levels(rng.randrange(14, 34), high, round(rng.uniform(1.15, 1.55), 2)) for high in highs)


def draw_dust(rng: Random, count: int) -> tuple[Dust, ...]:
    """Apart from one another and from the edges, each in a third of the sky's width."""
    share = WIDTH // count
    return tuple(
        Dust(n * share + rng.randrange(70, share - 70), rng.randrange(42, 96), rng.randrange(11, 17))
        for n in range(count)
    )


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
        cover = np.clip((1.6 * spot.radius - np.hypot(x - spot.x, y - spot.y)) / (0.6 * spot.radius), 0, 1)
        beside = sum(np.roll(picture, (-dy, -dx), axis=(0, 1)) for dx, dy in spot.sides()) / 2
        picture = picture * (1 - cover[..., None]) + beside * cover[..., None]
    return to_bytes(picture)


def to_bytes(picture: Picture) -> Bytes:
    return (np.clip(picture, 0, 1) * 255 + 0.5).astype(np.uint8)
