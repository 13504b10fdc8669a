"""The journal of a world: every call, what it answered and changed, and the state's hash before and after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from practicum.infra.environment import ToolErrorKind
from practicum.infra.world.rules import Activity
from practicum.infra.world.tables import Change


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One call. `answer` is what the tool said, `before` and `after` hash the state around it."""

    seq: int
    call_id: str
    tool: str
    arguments: dict[str, Any]
    error: ToolErrorKind | None
    answer: Any
    before: str
    after: str
    changes: tuple[Change, ...] = ()
    write: bool = False

    @property
    def took_effect(self) -> bool:
        return self.write and self.error is None


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Entry)


def activities(entries: Iterable[Entry]) -> list[Activity]:
    """The writes that were accepted, as the workplace itself remembers them."""
    return [
        Activity(str(entry.seq), entry.tool, entry.arguments, entry.answer["record"])
        for entry in entries
        if entry.took_effect
    ]


def write(entries: Iterable[Entry], path: Path) -> None:
    path.write_bytes(_encoder.encode_lines(entries))


def read(path: Path) -> Iterator[Entry]:
    """Blank lines apart. Raises `msgspec.MsgspecError` at a line that is not an entry."""
    for line in path.read_bytes().splitlines():
        if line.strip():
            yield _decoder.decode(line)
