"""Damage and rewriting of pictures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
from PIL import Image, ImageEnhance, ImageFilter, ImageOps
from PIL.PngImagePlugin import PngInfo

from practicum.verifiers.mutation.kit import Damage, Kit, Rewriting

_SIZE = (144, 108)


def sample(path: Path, random: Random) -> None:
    """Soft shapes with some texture, lit unevenly, so that it has a right way up and round."""
    generator = np.random.default_rng(random.getrandbits(32))
    coarse = Image.fromarray(generator.integers(40, 216, (7, 9, 3), np.uint8)).resize(
        _SIZE, Image.Resampling.BICUBIC
    )
    fine = generator.normal(0.0, 6.0, (_SIZE[1], _SIZE[0], 1))
    ramp = (
        np.linspace(-25.0, 25.0, _SIZE[0])[None, :, None] + np.linspace(-12.0, 12.0, _SIZE[1])[:, None, None]
    )
    pixels = np.clip(np.asarray(coarse, np.float64) + fine + ramp, 0, 255)
    Image.fromarray(np.round(pixels).astype(np.uint8)).save(path)


def _edit(
    change: Callable[[Image.Image, float, Random], Image.Image],
) -> Callable[[Path, float, Random], None]:
    def apply(path: Path, severity: float, random: Random) -> None:
        change(Image.open(path).convert("RGB"), severity, random).save(path)

    return apply


def _shifted(image: Image.Image, severity: float, random: Random) -> Image.Image:
    moved = Image.new("RGB", image.size)
    moved.paste(image, (2 + round(20 * severity), 0))
    return moved


def _noisy(image: Image.Image, severity: float, random: Random) -> Image.Image:
    noise = np.random.default_rng(random.getrandbits(32)).normal(0.0, 1.0, (*image.size[::-1], 3))
    return Image.fromarray(np.clip(np.asarray(image) + (12 + 60 * severity) * noise, 0, 255).astype(np.uint8))


def _patched(image: Image.Image, severity: float, random: Random) -> Image.Image:
    side = 16 + round(50 * severity)
    x, y = random.randint(0, image.width - 66), random.randint(0, image.height - 66)
    image.paste((255, 0, 255), (x, y, x + side, y + side))
    return image


def _tinted(image: Image.Image, severity: float, random: Random) -> Image.Image:
    return Image.blend(image, Image.new("RGB", image.size, (255, 120, 0)), 0.1 + 0.6 * severity)


def _darker(image: Image.Image, severity: float, random: Random) -> Image.Image:
    return ImageEnhance.Brightness(image).enhance(0.9 - 0.7 * severity)


def _greyer(image: Image.Image, severity: float, random: Random) -> Image.Image:
    return ImageEnhance.Color(image).enhance(0.75 - 0.7 * severity)


def _flatter(image: Image.Image, severity: float, random: Random) -> Image.Image:
    return ImageEnhance.Contrast(image).enhance(0.75 - 0.7 * severity)


def _blurred(image: Image.Image, severity: float, random: Random) -> Image.Image:
    return image.filter(ImageFilter.GaussianBlur(1.5 + 8.0 * severity))


def _half(image: Image.Image, severity: float, random: Random) -> Image.Image:
    return image.resize((image.width // 2, image.height // 2))


def _swapped(image: Image.Image, severity: float, random: Random) -> Image.Image:
    r, g, b = image.split()
    return Image.merge("RGB", (b, g, r))


def _cut_off(path: Path, severity: float, random: Random) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 3])


def _saved(kind: str, mode: str = "RGB", **how: object) -> Callable[[Path, Random], None]:
    """Another container under the same name: content decides, not the suffix."""
    return lambda path, random: Image.open(path).convert(mode).save(path, kind, **how)


def _upright_elsewhere(path: Path, random: Random) -> None:
    """Stored lying on its side, with the note that says so."""
    image = Image.open(path)
    exif = Image.Exif()
    exif[0x0112] = 6
    image.rotate(90, expand=True).save(path, "PNG", exif=exif)


def _annotated(path: Path, random: Random) -> None:
    note = PngInfo()
    note.add_text("Comment", "made elsewhere" * 20)
    Image.open(path).save(path, "PNG", pnginfo=note, dpi=(300, 300))


KIT = Kit(
    kind="image",
    suffix=".png",
    sample=sample,
    damages=(
        Damage("darker", "colour, mean", _edit(_darker)),
        Damage("greyer", "colour, mean", _edit(_greyer)),
        Damage("flatter", "colour, mean", _edit(_flatter)),
        Damage("tinted", "colour, mean", _edit(_tinted)),
        Damage("blurred", "structure", _edit(_blurred)),
        Damage("noisy", "structure", _edit(_noisy)),
        Damage("shifted", "structure", _edit(_shifted)),
        Damage("a patch painted over", "worst place", _edit(_patched)),
        Damage("half the size", "size", _edit(_half), graded=False),
        Damage(
            "mirrored",
            "structure",
            _edit(lambda image, severity, random: ImageOps.mirror(image)),
            graded=False,
        ),
        Damage(
            "upside down", "structure", _edit(lambda image, severity, random: image.rotate(180)), graded=False
        ),
        Damage("red and blue exchanged", "colour, mean", _edit(_swapped), graded=False),
        Damage("cut off", "readable", _cut_off, graded=False),
    ),
    rewritings=(
        Rewriting("compressed harder", _saved("PNG", compress_level=9)),
        Rewriting("opaque alpha", _saved("PNG", mode="RGBA")),
        Rewriting("WebP without loss", _saved("WEBP", lossless=True)),
        Rewriting("TIFF", _saved("TIFF", compression="tiff_lzw")),
        Rewriting("BMP", _saved("BMP")),
        Rewriting("JPEG of high quality", _saved("JPEG", quality=97, subsampling=0)),
        Rewriting("metadata", _annotated),
        Rewriting("EXIF orientation", _upright_elsewhere),
    ),
)
