"""A tool made from a typed function: its JSON schemas, its checked arguments, its rendered answer.

The first paragraph of the docstring is the description; lines `name: text` below it describe arguments.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from typing import Annotated, Any, get_origin, get_type_hints

import msgspec

from practicum.infra.environment import JSON, Tool
from practicum.infra.faults.operations import Access

Function = Callable[..., Any]
_ARGUMENT = re.compile(r"^(\w+): (.+)$")


class BadArguments(Exception):
    """The arguments do not fit the schema; says where and why."""


class Signature:
    """The arguments of a tool: their JSON schema and the check against it."""

    __slots__ = ("_struct", "schema", "summary")

    def __init__(self, source: Callable[..., Any], parameters: Iterable[inspect.Parameter]) -> None:
        """`source` carries the docstring and the type hints: a function, or a dataclass of arguments."""
        self.summary, notes = _docstring(source)
        hints = get_type_hints(source, include_extras=True)
        fields = [_field(parameter, hints[parameter.name], notes) for parameter in parameters]
        if unknown := set(notes) - {field[0] for field in fields}:
            raise TypeError(f"{source.__name__} documents arguments it does not take: {sorted(unknown)}")
        self._struct = msgspec.defstruct(source.__name__, fields, kw_only=True, forbid_unknown_fields=True)
        self.schema = inlined(self._struct)

    def read(self, arguments: JSON) -> dict[str, Any]:
        """Checked arguments by name. Raises `BadArguments`; nothing is coerced."""
        try:
            return msgspec.structs.asdict(msgspec.convert(arguments, self._struct, strict=True))
        except msgspec.ValidationError as error:
            raise BadArguments(str(error)) from error


class WorldTool:
    """One function `(World or View, **arguments) -> rows` behind the tool interface.

    `record_schema` is the JSON schema of its record, or of one item where it lists.
    """

    __slots__ = ("access", "function", "lists", "name", "read", "record_schema", "returns", "spec")

    def __init__(self, function: Function, access: Access) -> None:
        self.name = function.__name__
        self.function = function
        self.access = access
        self.returns: Any = get_type_hints(function, include_extras=True)["return"]
        self.lists = get_origin(self.returns) is list
        parameters = list(inspect.signature(function).parameters.values())
        self.record_schema = inlined(self.returns.__args__[0] if self.lists else self.returns)
        _require_complete(self.name, self.record_schema)
        signature = Signature(function, parameters[1:])
        self.read = signature.read
        self.spec = Tool(self.name, f"{signature.summary} {self._promise()}", signature.schema)

    def answer(self, value: Any, revision: int) -> dict[str, Any]:
        """The answer as JSON values, with the revision of the state it was made from."""
        plain = msgspec.to_builtins(value)
        if self.lists:
            return {"revision": revision, "total": len(plain), "items": plain}
        return {"revision": revision, "record": plain}

    def _promise(self) -> str:
        shape = describe(self.record_schema)
        revision = "Returns `revision` (how many changes there were so far)"
        if self.lists:
            return f"{revision}, `total` (how many there are) and `items`, all of them, each {shape}."
        return f"{revision} and `record`: {shape}."


def _require_complete(tool: str, schema: JSON) -> None:
    """Answers are rows with an id and every field, never null: else nobody could notice that one was lost."""
    optional = set(schema.get("properties", ())) - set(schema.get("required", ()))
    nullable = [name for name, part in schema.get("properties", {}).items() if "anyOf" in part]
    if "id" not in schema.get("properties", ()) or optional or nullable:
        raise TypeError(f"{tool} must answer rows with an id and without optional fields, not {schema}")


def describe(schema: JSON) -> str:
    """A schema in one line: `{id: string, load: number (kilograms)}`."""
    if "properties" in schema:
        inner = ", ".join(f"{name}: {describe(part)}" for name, part in schema["properties"].items())
        return f"{{{inner}}}"
    if "anyOf" in schema:
        return " or ".join(describe(part) for part in schema["anyOf"])
    if "enum" in schema:
        kind = " | ".join(str(value) for value in schema["enum"])
    elif schema.get("type") == "array":
        kind = f"list of {describe(schema.get('items', {}))}"
    else:
        kind = str(schema.get("format") or schema.get("type", "anything"))
    unit = schema.get("description")
    return f"{kind} ({unit})" if unit else kind


def inlined(kind: Any) -> dict[str, Any]:
    """The JSON schema of a type without references, as tool callers of every vendor accept it."""
    (schema,), definitions = msgspec.json.schema_components([kind], ref_template="{name}")
    whole: dict[str, Any] = _inline(schema, definitions)
    return whole


def _inline(node: Any, definitions: JSON) -> Any:
    if isinstance(node, list):
        return [_inline(part, definitions) for part in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        rest = {key: value for key, value in node.items() if key != "$ref"}
        merged = {**definitions[node["$ref"]], **rest}
        return _inline(merged, definitions)
    record = "properties" in node
    return {
        key: {name: _inline(part, definitions) for name, part in value.items()}
        if key == "properties"
        else _inline(value, definitions)
        for key, value in node.items()
        if key != "title" and not (key == "description" and record)
    }


def _field(parameter: inspect.Parameter, kind: Any, notes: dict[str, str]) -> Any:
    units = [meta.description for meta in getattr(kind, "__metadata__", ()) if meta.description]
    if note := notes.get(parameter.name):
        kind = Annotated[kind, msgspec.Meta(description=" in ".join([note, *units]))]
    if parameter.default is inspect.Parameter.empty:
        return (parameter.name, kind)
    return (parameter.name, kind, parameter.default)


def _docstring(source: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    text = inspect.getdoc(source)
    if not text:
        raise TypeError(f"{source.__name__} has no docstring")
    summary, _, rest = text.partition("\n\n")
    matches = (_ARGUMENT.match(line.strip()) for line in rest.splitlines())
    return " ".join(summary.split()), {match[1]: match[2] for match in matches if match}
