"""Reading a TOML file into msgspec structs, where a key nobody knows is an error that names its neighbour."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

T = TypeVar("T", bound=msgspec.Struct)


class BadFile(ValueError):
    """A file that cannot be read as what it should be. One line, with the place in the file."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


def load_toml(path: Path, kind: type[T]) -> T:
    """Raises `BadFile` for anything that keeps the file from being a `kind`."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadFile(path, str(error)) from error
    _refuse_unknown(path, data, inspect.type_info(kind), "")
    try:
        return msgspec.convert(data, type=kind)
    except msgspec.ValidationError as error:
        raise BadFile(path, str(error)) from error


def suggestion(word: str, known: Sequence[str]) -> str:
    """` (did you mean …?)`, or what there is."""
    close = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(sorted(known))}"


def _refuse_unknown(path: Path, value: Any, kind: inspect.Type, place: str) -> None:
    match kind:
        case inspect.StructType() if isinstance(value, Mapping):
            _check_struct(path, value, kind, place)
        case inspect.UnionType() if isinstance(value, Mapping):
            structs = [each for each in kind.types if isinstance(each, inspect.StructType)]
            chosen = _by_tag(path, value, structs, place)
            if chosen is not None:
                _check_struct(path, value, chosen, place)
        case inspect.DictType() if isinstance(value, Mapping):
            for key, inner in value.items():
                _refuse_unknown(path, inner, kind.value_type, f"{place}{key}.")
        case inspect.ListType() | inspect.VarTupleType() if isinstance(value, list):
            for index, inner in enumerate(value):
                _refuse_unknown(path, inner, kind.item_type, f"{place}{index}.")
        case _:
            pass


def _check_struct(path: Path, value: Mapping[str, Any], kind: inspect.StructType, place: str) -> None:
    fields = {field.encode_name: field for field in kind.fields}
    known = [*fields, *([kind.tag_field] if kind.tag_field else [])]
    for key, inner in value.items():
        if key not in known:
            raise BadFile(path, f"unknown key {place}{key!s}; {suggestion(key, known)}")
        if key in fields:
            _refuse_unknown(path, inner, fields[key].type, f"{place}{key}.")


def _by_tag(
    path: Path, value: Mapping[str, Any], kinds: Sequence[inspect.StructType], place: str
) -> inspect.StructType | None:
    if not kinds:
        return None
    tags = {str(kind.tag): kind for kind in kinds}
    field = kinds[0].tag_field or "type"
    if field not in value:
        raise BadFile(path, f"{place}{field} is missing; there are: {', '.join(sorted(tags))}")
    tag = str(value[field])
    if tag not in tags:
        raise BadFile(path, f"{place}{field} is {tag!r}; {suggestion(tag, list(tags))}")
    return tags[tag]
