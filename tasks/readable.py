"""The text that a person at the desk can read out of an instance: what the lint holds the facts against."""

from __future__ import annotations

import html
import re
import zipfile
from collections.abc import Iterable
from pathlib import Path

from openpyxl import load_workbook

from practicum.tasks.canary import FILE

_ENCODINGS = ("utf-8-sig", "cp932", "cp1252")
_BINARY = frozenset({".png", ".jpg", ".jpeg", ".tif", ".tiff", ".stl", ".glb", ".wav", ".flac", ".pdf"})
_TAG = re.compile(r"<[^>]*>")
_BLANKS = re.compile(r"\s+")


def plain(text: str) -> str:
    """Tags dropped, entities read, white space made one blank: how lint compares."""
    return _BLANKS.sub(" ", html.unescape(_TAG.sub(" ", text))).strip()


def input_files(inputs: Path) -> Iterable[Path]:
    return (path for path in sorted(inputs.rglob("*")) if path.is_file() and path.name != FILE)


def text_of(path: Path) -> str:
    """Empty for pictures and other formats that have no text of their own."""
    if path.suffix.lower() in _BINARY:
        return ""
    data = path.read_bytes()
    if zipfile.is_zipfile(path):
        return _sheet_text(path) if path.suffix.lower() == ".xlsx" else ""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    for encoding in _ENCODINGS:
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return ""


def _sheet_text(path: Path) -> str:
    book = load_workbook(path, read_only=True)
    try:
        return "\n".join(
            " ".join(str(value) for value in row if value is not None)
            for sheet in book.worksheets
            for row in sheet.iter_rows(values_only=True)
        )
    finally:
        book.close()
