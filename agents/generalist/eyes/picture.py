"""Frames as pictures: decoding what a desk sent, scaling it under a model's limits, encoding it again."""

from __future__ import annotations

import io
import math

from PIL import Image as Pictures

from practicum.agents.agent import Image
from practicum.agents.generalist.limits import Limits
from practicum.agents.generalist.view import Size
from practicum.infra.desk.desk import Frame

Picture = Pictures.Image


def fitted(size: Size, side: int, pixels: int) -> Size:
    """The largest size of the same shape within a side and an area; never larger than it was."""
    area = math.sqrt(pixels / (size.width * size.height))
    scale = min(1.0, side / max(size.width, size.height), area)
    return Size(max(1, math.floor(size.width * scale)), max(1, math.floor(size.height * scale)))


def decode(frame: Frame) -> Picture:
    """The frame as RGB."""
    with Pictures.open(io.BytesIO(frame.png), formats=["PNG"]) as picture:
        return picture.convert("RGB")


def encode(picture: Picture) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, format="PNG", compress_level=6)
    return buffer.getvalue()


def show(frame: Frame, limits: Limits, side: int | None) -> Image:
    """The frame as one picture under the model's limits, scaled only where it must be."""
    wanted = fitted(Size(frame.width, frame.height), min(side or limits.side, limits.side), limits.pixels)
    if wanted == Size(frame.width, frame.height) and len(frame.png) <= limits.image_bytes:
        return Image(frame.png, frame.width, frame.height)
    return shrink(decode(frame), wanted, limits.image_bytes)


def shrink(picture: Picture, size: Size, max_bytes: int) -> Image:
    """The picture at this size, or smaller where its PNG would be more than `max_bytes`."""
    while True:
        scaled = (
            picture
            if picture.size == (size.width, size.height)
            else picture.resize((size.width, size.height), Pictures.Resampling.LANCZOS)
        )
        png = encode(scaled)
        if len(png) <= max_bytes or min(size.width, size.height) <= 16:
            return Image(png, size.width, size.height)
        size = fitted(size, max(size.width, size.height) * 4 // 5, size.width * size.height)
