"""A photograph that never was: a lake below mountains, with a test card in the foreground, computed."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np
import numpy.typing as npt
from scipy import ndimage

Picture = npt.NDArray[np.float64]
"""(height, width, 3) or (height, width), sRGB-encoded values in 0–1."""

WIDTH, HEIGHT = 960, 640
HORIZON = 330
CARD = (40, 532)
PATCH = 64
GAP = 10
PATCHES = {"white": 240, "grey": 128, "black": 16}


@dataclass(frozen=True, slots=True)
class Mood:
    """Colours of one day, sRGB in 0–1."""

    zenith: tuple[float, float, float]
    haze: tuple[float, float, float]
    sun: tuple[float, float, float]
    rock: tuple[float, float, float]
    grass: tuple[float, float, float]


MOODS = (
    Mood((0.30, 0.50, 0.78), (0.80, 0.86, 0.90), (1.0, 0.96, 0.86), (0.30, 0.36, 0.46), (0.33, 0.44, 0.17)),
    Mood((0.38, 0.52, 0.70), (0.88, 0.82, 0.76), (1.0, 0.90, 0.72), (0.36, 0.33, 0.40), (0.40, 0.41, 0.18)),
    Mood((0.26, 0.44, 0.66), (0.74, 0.80, 0.84), (0.98, 0.97, 0.93), (0.26, 0.34, 0.38), (0.24, 0.40, 0.20)),
)


def patch_box(name: str) -> tuple[int, int, int, int]:
    """x, y, width, height of a patch of the test card, in pixels from the top-left corner."""
    x, y = CARD
    return x + list(PATCHES).index(name) * (PATCH + GAP), y, PATCH, PATCH


def photograph(rng: Random) -> Picture:
    """As the camera should have recorded it, before rounding to 8 bits."""
    noise = np.random.Generator(np.random.PCG64(rng.getrandbits(64)))
    mood = rng.choice(MOODS)
    land = _mountains(_sky(noise, mood), noise, mood)
    land = _forest(land, noise)
    image = _lake(land, noise)
    image = _meadow(image, noise, mood)
    _hut(image, rng)
    image = ndimage.gaussian_filter(image, (0.6, 0.6, 0.0))
    image *= _vignette()[..., None]
    grain = ndimage.gaussian_filter(noise.normal(0.0, 1.0, image.shape), (0.5, 0.5, 0.0))
    image = image + 0.011 * grain
    _card(image, noise)
    return np.clip(image, 0.0, 1.0)


def _fractal(noise: np.random.Generator, shape: tuple[int, int], octaves: int, coarsest: int) -> Picture:
    """Smooth noise in 0–1, summed over octaves of half the size and half the weight."""
    total = np.zeros(shape)
    for octave in range(octaves):
        cell = max(2, coarsest >> octave)
        grid = noise.random((shape[0] // cell + 3, shape[1] // cell + 3))
        fine = ndimage.zoom(grid, cell, order=3, mode="nearest", grid_mode=False)
        total += fine[: shape[0], : shape[1]] * 0.5**octave
    low, high = total.min(), total.max()
    return np.asarray((total - low) / (high - low))


def _sky(noise: np.random.Generator, mood: Mood) -> Picture:
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(float)
    down = np.clip(y / HORIZON, 0, 1)[..., None] ** 0.8
    sky = (1 - down) * np.array(mood.zenith) + down * np.array(mood.haze)
    flat = ndimage.zoom(_fractal(noise, (HEIGHT, WIDTH // 2), 6, 128), (1, 2), order=1)[:, :WIDTH]
    cloud = np.clip((flat - 0.52) * 2.6, 0, 1)[..., None] ** 1.3 * (1 - 0.4 * down)
    sky = sky * (1 - 0.75 * cloud) + 0.75 * cloud * np.array([0.97, 0.96, 0.95])
    glow = np.exp(-(((x - 0.72 * WIDTH) / 260) ** 2 + ((y - 0.75 * HORIZON) / 150) ** 2))[..., None]
    return np.asarray(sky * (1 - 0.45 * glow) + 0.45 * glow * np.array(mood.sun))


def _mountains(image: Picture, noise: np.random.Generator, mood: Mood) -> Picture:
    rows = np.arange(HEIGHT)[:, None]
    relief = _fractal(noise, (HEIGHT, WIDTH), 6, 64) - 0.5
    for layer, (base, reach, haze) in enumerate(((196, 130, 0.62), (246, 100, 0.36), (292, 62, 0.12))):
        ridge = base - reach * (_fractal(noise, (8, WIDTH), 6 - layer, 256)[4] - 0.35)
        below = 1 / (1 + np.exp(-(rows - ridge[None, :]) * 1.6))
        colour = np.array(mood.rock) * (1 - haze) + np.array(mood.haze) * haze
        lit = colour * (1 + (0.55 - 0.4 * haze) * relief[..., None])
        fog = np.clip((rows - ridge[None, :]) / 150, 0, 1)[..., None] * 0.25
        lit = lit * (1 - fog) + np.array(mood.haze) * fog
        image = image * (1 - below[..., None]) + lit * below[..., None]
    return np.asarray(image)


def _forest(image: Picture, noise: np.random.Generator) -> Picture:
    """A row of conifers on the far shore: narrow triangles with ragged edges."""
    shade = np.zeros((HEIGHT, WIDTH))
    rows = np.arange(HEIGHT)[:, None]
    columns = np.arange(WIDTH)[None, :]
    ragged = noise.normal(0.0, 1.2, (HEIGHT, WIDTH))
    for _ in range(150):
        x, tall = noise.uniform(0, WIDTH), noise.uniform(18, 46)
        depth = rows - (HORIZON - tall)
        half = depth * noise.uniform(0.16, 0.24)
        inside = (depth > 0) & (rows <= HORIZON) & (np.abs(columns - x) + ragged < half)
        shade[inside] = noise.uniform(0.75, 1.0)
    tone = np.array([0.10, 0.17, 0.13]) * (1 + 0.5 * (noise.random((HEIGHT, WIDTH, 1)) - 0.5))
    return np.asarray(image * (1 - shade[..., None]) + tone * shade[..., None])


def _lake(land: Picture, noise: np.random.Generator) -> Picture:
    """The land upside down, smeared and shaken by ripples that grow towards the viewer."""
    rows = np.arange(HORIZON, HEIGHT)
    depth = (rows - HORIZON).astype(float)
    ripple = ndimage.gaussian_filter(noise.normal(0, 1, (len(rows), WIDTH)), (0.8, 14)) * 9
    y = HORIZON - depth[:, None] * 1.05 + ripple * (0.4 + depth[:, None] / 90)
    x = np.arange(WIDTH)[None, :] + ripple * 1.5
    mirrored = np.stack(
        [
            ndimage.map_coordinates(land[..., c], [np.clip(y, 0, HORIZON - 1), x], order=1, mode="nearest")
            for c in range(3)
        ],
        axis=-1,
    )
    water = mirrored * 0.78 + np.array([0.02, 0.07, 0.10]) + 0.035 * ripple[..., None]
    image = land.copy()
    image[HORIZON:] = water
    image[HORIZON - 1 : HORIZON + 1] *= 0.6
    return image


def _meadow(image: Picture, noise: np.random.Generator, mood: Mood) -> Picture:
    rows = np.arange(HEIGHT)[:, None]
    edge = 468 - 55 * _fractal(noise, (8, WIDTH), 4, 256)[4][None, :]
    blades = ndimage.gaussian_filter(noise.normal(0, 1, (HEIGHT, WIDTH)), (3.0, 0.6)) * 2.2
    below = 1 / (1 + np.exp(-(rows - edge + blades * 5) * 0.9))
    patches = _fractal(noise, (HEIGHT, WIDTH), 4, 128) - 0.5
    light = 1 + 0.55 * patches + 0.32 * blades
    near = 0.72 + 0.35 * np.clip((rows - edge) / 160, 0, 1)
    grass = np.array(mood.grass) * (light * near)[..., None]
    flowers = (noise.random((HEIGHT, WIDTH)) > 0.9993) & (rows > edge + 12)
    bloom = np.clip(ndimage.gaussian_filter(flowers.astype(float), 1.1) * 9, 0, 1)[..., None]
    grass = grass * (1 - bloom) + bloom * np.array([0.93, 0.86, 0.45])
    return np.asarray(image * (1 - below[..., None]) + np.clip(grass, 0, 1) * below[..., None])


def _hut(image: Picture, rng: Random) -> None:
    """A red boathouse on the near shore, with a gable, planks and two lit windows."""
    x, y, w, h = rng.randrange(560, 760), 420, 120, 66
    wall = np.array([0.52, 0.16, 0.12])
    planks = 1 - 0.16 * ((np.arange(w) % 9) < 1)
    image[y : y + h, x : x + w] = wall * planks[None, :, None]
    for row in range(44):
        half = round((row + 1) * (w / 2 + 9) / 44)
        middle = x + w // 2
        image[y - 44 + row, middle - half : middle + half] = np.array([0.22, 0.21, 0.23]) * (1 + row / 260)
    for left in (18, 76):
        image[y + 18 : y + 44, x + left : x + left + 26] = (0.92, 0.92, 0.90)
        image[y + 21 : y + 41, x + left + 3 : x + left + 23] = (0.96, 0.80, 0.45)
        image[y + 30 : y + 32, x + left + 3 : x + left + 23] = (0.92, 0.92, 0.90)
    image[y + h : y + h + 7, x - 4 : x + w + 4] *= 0.55


def _vignette() -> Picture:
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(float)
    radius = ((x - WIDTH / 2) / WIDTH) ** 2 + ((y - HEIGHT / 2) / HEIGHT) ** 2
    return np.asarray(1 - 0.28 * radius)


def _card(image: Picture, noise: np.random.Generator) -> None:
    """A board with three patches of known value, evenly lit, with next to no grain."""
    x, y = CARD
    margin, across = 12, len(PATCHES) * (PATCH + GAP) - GAP
    image[y - margin + 5 : y + PATCH + margin + 6, x - margin + 4 : x + across + margin + 5] *= 0.55
    image[y - margin : y + PATCH + margin, x - margin : x + across + margin] = (0.62, 0.50, 0.36)
    for name, value in PATCHES.items():
        left, top, w, h = patch_box(name)
        image[top : top + h, left : left + w] = value / 255 + noise.normal(0, 0.002, (h, w, 1))
