"""Thumbnails of frames, made once and kept by the frame's hash."""

from __future__ import annotations

import io
from pathlib import Path

import platformdirs
from PIL import Image, UnidentifiedImageError

from practicum.controller.files import write_whole

WIDTH = 176


def thumbnail(frame: Path, sha256: str) -> bytes:
    """JPEG bytes, `WIDTH` pixels wide. Raises `ValueError` where the frame is no picture."""
    cached = _folder() / f"{sha256}.{WIDTH}.jpg"
    if cached.is_file():
        return cached.read_bytes()
    data = _shrink(frame.read_bytes())
    write_whole(cached, data)
    return data


def _shrink(png: bytes) -> bytes:
    try:
        with Image.open(io.BytesIO(png), formats=("PNG",)) as picture:
            picture.draft("RGB", (WIDTH, WIDTH))
            height = max(1, round(picture.height * WIDTH / picture.width))
            small = picture.convert("RGB").resize((WIDTH, height), Image.Resampling.BOX, reducing_gap=2.0)
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError) as error:
        raise ValueError(f"not a picture: {error}") from error
    buffer = io.BytesIO()
    small.save(buffer, "JPEG", quality=78)
    return buffer.getvalue()


def _folder() -> Path:
    folder = platformdirs.user_cache_path("practicum") / "thumbs"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
