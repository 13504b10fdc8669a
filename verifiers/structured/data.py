"""JSON, YAML, TOML and XML as one kind of tree, read without trusting it.

Sources: RFC 8259; YAML 1.1 as PyYAML's safe loader reads it; TOML 1.0; XML 1.0.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from lxml import etree

from practicum.verifiers import xml
from practicum.verifiers.bounds import read_bytes
from practicum.verifiers.errors import Unreadable
from practicum.verifiers.extras import need

MAX_BYTES = 32 << 20
_MAX_DEPTH = 200
_MAX_ALIASES = 1000

Scalar = None | bool | int | float | str
Tree = Scalar | list["Tree"] | dict[str, "Tree"]


def read(path: Path) -> Tree:
    """By suffix. Raises `Unreadable`, and `MissingExtra` for YAML without PyYAML."""
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise Unreadable(path, f"{path.suffix or 'a name without suffix'} is none of {', '.join(_READERS)}")
    data = read_bytes(path, limit=MAX_BYTES)
    try:
        return _plain(path, reader(path, data), 0)
    except RecursionError as error:
        raise Unreadable(path, "nested beyond reason") from error


def _text(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeError as error:
        raise Unreadable(path, f"not UTF-8 text: {error}") from error


def _json(path: Path, data: bytes) -> object:
    def unique(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
        found: dict[str, object] = {}
        for name, value in pairs:
            if name in found:
                raise Unreadable(path, f"the name {name!r} twice in one object")
            found[name] = value
        return found

    try:
        return json.loads(_text(path, data), object_pairs_hook=unique)
    except ValueError as error:
        raise Unreadable(path, f"not JSON: {error}") from error


def _json_lines(path: Path, data: bytes) -> object:
    lines = [line for line in _text(path, data).splitlines() if line.strip()]
    return [_json(path, line.encode()) for line in lines]


def _toml(path: Path, data: bytes) -> object:
    try:
        return tomllib.loads(_text(path, data).replace("\r\n", "\n"))
    except ValueError as error:
        raise Unreadable(path, f"not TOML: {error}") from error


def _yaml(path: Path, data: bytes) -> object:
    """Aliases are counted first: a few of them can stand for more than any memory."""
    library = need("yaml", extra="yaml")
    text = _text(path, data)
    try:
        aliases = sum(
            isinstance(event, library.AliasEvent) for event in library.parse(text, library.SafeLoader)
        )
        if aliases > _MAX_ALIASES:
            raise Unreadable(path, f"more than {_MAX_ALIASES} aliases")
        return library.safe_load(text)
    except (library.YAMLError, ValueError, OverflowError, TypeError, AttributeError) as error:
        raise Unreadable(path, f"not YAML: {error}") from error


def _xml(path: Path, data: bytes) -> object:
    return {"root": _element(xml.parse(path, data))}


def _element(element: etree._Element) -> dict[str, object]:
    """Name, attributes, text and children in order; blanks around text do not count."""
    children = [_element(child) for child in element if isinstance(child.tag, str)]
    parts = [element.text or "", *(child.tail or "" for child in element)]
    words = " ".join("".join(parts).split())
    made: dict[str, object] = {"name": str(element.tag)}
    made |= {"@" + str(name): str(value) for name, value in element.attrib.items()}
    return made | ({"text": words} if words else {}) | ({"children": children} if children else {})


def _plain(path: Path, value: Any, depth: int) -> Tree:
    """Only our scalars, lists and string-named objects; a budget keeps shared parts from multiplying."""
    budget = [2_000_000]

    def visit(item: Any, level: int) -> Tree:
        budget[0] -= 1
        if budget[0] < 0 or level > _MAX_DEPTH:
            raise Unreadable(path, "larger or deeper than any data worth comparing")
        if isinstance(item, dict):
            return {str(name): visit(inner, level + 1) for name, inner in item.items()}
        if isinstance(item, list | tuple | set):
            return [visit(inner, level + 1) for inner in item]
        if isinstance(item, float) and not math.isfinite(item):
            return str(item)
        if item is None or isinstance(item, bool | int | float | str):
            return item
        return item.isoformat() if isinstance(item, dt.date | dt.time) else str(item)

    return visit(value, depth)


_READERS: dict[str, Callable[[Path, bytes], object]] = {
    ".json": _json,
    ".geojson": _json,
    ".jsonl": _json_lines,
    ".yaml": _yaml,
    ".yml": _yaml,
    ".toml": _toml,
    ".xml": _xml,
}
