"""Text that looks like Python calls, read as data: parsed by `ast`, literals only, never executed."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from practicum.agents.generalist.hands.reading import Unreadable

LONGEST = 20_000
"""Characters of one utterance; more than any real one, and little enough for the parser."""


@dataclass(frozen=True, slots=True)
class Call:
    """`function` is a dotted name. `span` is the text it was read from."""

    function: str
    given: tuple[Any, ...]
    named: Mapping[str, Any]
    span: str


def read_statements(source: str, *, imports: frozenset[str] = frozenset()) -> tuple[Call, ...]:
    """The calls of a text that consists of nothing else, in order; imports of known modules are passed over.

    Raises `Unreadable` with the offending span.
    """
    tree = _parse(source)
    calls = []
    for statement in tree.body:
        if isinstance(statement, ast.Import) and {alias.name for alias in statement.names} <= imports:
            continue
        span = ast.get_source_segment(source, statement) or source
        if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
            raise Unreadable(span, "not a call of an action")
        calls.append(_read_call(statement.value, span))
    return tuple(calls)


def _parse(source: str) -> ast.Module:
    if len(source) > LONGEST:
        raise Unreadable(source[:80], f"longer than {LONGEST} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            return ast.parse(source)
    except SyntaxError as error:
        raise Unreadable((error.text or source).strip(), f"not readable as calls: {error.msg}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(source[:80], f"not readable as calls: {error}") from error


def _read_call(call: ast.Call, span: str) -> Call:
    given = tuple(_literal(value, span) for value in call.args)
    named = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise Unreadable(span, "** is not read")
        named[keyword.arg] = _literal(keyword.value, span)
    return Call(_dotted(call.func, span), given, named, span)


def _dotted(node: ast.expr, span: str) -> str:
    match node:
        case ast.Name(name):
            return name
        case ast.Attribute(ast.Name(module), name):
            return f"{module}.{name}"
        case _:
            raise Unreadable(span, "not a call by name")


def _literal(node: ast.expr, span: str) -> Any:
    """Strings, numbers, booleans, None, and lists or tuples of them."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError) as error:
        raise Unreadable(span, "an argument is not a plain value") from error
    if isinstance(value, list | tuple):
        return list(value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise Unreadable(span, "an argument is not a plain value")
