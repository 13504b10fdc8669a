"""Pictures as what a person sees: sRGB pixels after orientation, profile and transparency."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageCms, ImageOps, UnidentifiedImageError

from practicum.verifiers.bounds import read_bytes
from practicum.verifiers.errors import Unreadable

F8 = npt.NDArray[np.float64]
U1 = npt.NDArray[np.uint8]

MAX_BYTES = 128 << 20
MAX_PIXELS = 64_000_000
_FORMATS = ("PNG", "JPEG", "WEBP", "TIFF", "BMP", "GIF", "PPM")


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """`rgb` is (h, w, 3) over white, `alpha` (h, w) in 0–1. `mode` and `format` are as stored."""

    rgb: U1
    alpha: F8
    format: str
    mode: str
    dpi: tuple[float, float] | None

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return self.rgb.shape[1], self.rgb.shape[0]


def read(path: Path) -> Picture:
    """The first frame. Raises `Unreadable` for what is missing, broken, too large or no picture."""
    data = read_bytes(path, limit=MAX_BYTES)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
                return _picture(path, image)
    except (UnidentifiedImageError, Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise Unreadable(path, f"no picture that can be opened: {error}") from error
    except (
        OSError,
        SyntaxError,
        ValueError,
        EOFError,
        IndexError,
        KeyError,
        TypeError,
        OverflowError,
    ) as error:
        raise Unreadable(path, f"broken picture: {error}") from error


def _picture(path: Path, image: Image.Image) -> Picture:
    if image.width * image.height > MAX_PIXELS:
        raise Unreadable(path, f"{image.width} × {image.height} pixels, more than {MAX_PIXELS} allowed")
    stored, kind = image.mode, image.format or ""
    dpi = image.info.get("dpi")
    upright = _srgb(ImageOps.exif_transpose(image))
    channels = np.asarray(upright.convert("RGBA"), np.float64)
    alpha = channels[..., 3] / 255.0
    rgb = channels[..., :3] * alpha[..., None] + 255.0 * (1.0 - alpha[..., None])
    resolution = (float(dpi[0]), float(dpi[1])) if dpi else None
    return Picture(np.round(rgb).astype(np.uint8), alpha, kind, stored, resolution)


def _srgb(image: Image.Image) -> Image.Image:
    """Sixteen-bit greys scaled down, embedded profiles applied; a broken profile is passed over."""
    if image.mode.startswith("I;16") or image.mode == "I":
        deep = np.asarray(image, np.float64)
        image = Image.fromarray(np.round(np.clip(deep / 257.0, 0.0, 255.0)).astype(np.uint8))
    profile = image.info.get("icc_profile")
    if profile is None or image.mode not in ("RGB", "RGBA", "CMYK", "L"):
        return image
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        mode = "RGBA" if image.mode == "RGBA" else "RGB"
        changed = ImageCms.profileToProfile(image, source, ImageCms.createProfile("sRGB"), outputMode=mode)
    except (ImageCms.PyCMSError, OSError, ValueError):
        return image
    return image if changed is None else changed
