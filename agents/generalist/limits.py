"""What each model family accepts in one request, from `models.toml`; unknown models get the strictest row."""

from __future__ import annotations

import functools
import math
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from practicum.agents.generalist.view import Space
from practicum.agents.strict import load_toml


class ImageRule(StrEnum):
    """How a provider counts the tokens of a picture."""

    TILES = "tiles"
    """OpenAI's 512-pixel tiles of a picture with a 768-pixel short side: 85 tokens and 170 a tile."""
    TILES_MINI = "tiles-mini"
    """The same for gpt-4o-mini, which counts 2,833 and 5,667."""
    PATCHES = "patches"
    """OpenAI's 32-pixel patches, at most 10,000 of them (`detail: original`), times at most 2.46."""
    AREA_750 = "area-750"
    """Anthropic: width × height / 750."""
    AREA_784 = "area-784"
    """Qwen-VL and kin: one token for 28 × 28 pixels, rounded up, with start and end."""
    CROPS_258 = "crops-258"
    """Gemini: 258 tokens a 768-pixel crop."""
    UNKNOWN = "unknown"
    """The largest of all, but for the one model that has a row of its own because of it."""


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Upper bounds of one request. `side` in pixels; `pixels` is width × height of one picture; bytes are of
    the PNG and of the JSON body; `bytes_per_token` divides UTF-8 text into tokens when context is fitted."""

    match: str
    context: int
    images: int
    side: int
    pixels: int
    image_bytes: int
    request_bytes: int
    image_rule: ImageRule
    space: Space
    hands: str = "canonical"
    bytes_per_token: float = 2.0


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    model: list[Limits]


def limits_of(model: str) -> Limits:
    """The first row whose pattern fits the model's name, which may carry a provider before a slash."""
    name = model.lower()
    short = name.rsplit("/", 1)[-1]
    return next(row for row in _rows() if fnmatchcase(name, row.match) or fnmatchcase(short, row.match))


@functools.cache
def _rows() -> tuple[Limits, ...]:
    return tuple(load_toml(Path(__file__).with_name("models.toml"), _Table).model)


def image_tokens(rule: ImageRule, width: int, height: int) -> int:
    """An upper bound of the tokens of a picture of this size in pixels."""
    match rule:
        case ImageRule.TILES:
            return 85 + 170 * _tiles(width, height)
        case ImageRule.TILES_MINI:
            return 2833 + 5667 * _tiles(width, height)
        case ImageRule.PATCHES:
            patches = min(math.ceil(width / 32) * math.ceil(height / 32), 10_000)
            return math.ceil(patches * 2.46)
        case ImageRule.AREA_750:
            return math.ceil(width * height / 750) + 16
        case ImageRule.AREA_784:
            return math.ceil(width / 28) * math.ceil(height / 28) + 2
        case ImageRule.CROPS_258:
            return 258 * math.ceil(width / 384) * math.ceil(height / 384)
        case ImageRule.UNKNOWN:
            known = set(ImageRule) - {ImageRule.UNKNOWN, ImageRule.TILES_MINI}
            return max(image_tokens(each, width, height) for each in known)


def _tiles(width: int, height: int) -> int:
    scale = min(1.0, 2048 / max(width, height))
    scale = min(scale, 768 / max(1.0, min(width, height) * scale) * scale)
    return math.ceil(width * scale / 512) * math.ceil(height * scale / 512)
