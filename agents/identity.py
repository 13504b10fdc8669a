"""Digests of what decides an agent's behaviour."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

ROOM = Path(__file__).resolve().parent


def digest(name: str, facts: Mapping[str, object]) -> str:
    """A SHA-256 over the name, the facts (builtin types or msgspec structs) and the code of this room."""
    facts_json = msgspec.json.encode({"name": name, "facts": facts, "code": code()}, order="deterministic")
    return hashlib.sha256(facts_json).hexdigest()


def file_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@functools.cache
def code() -> str:
    """A SHA-256 over every source and data file of this room, agent files excepted: they are facts."""
    total = hashlib.sha256()
    for path in sorted(ROOM.rglob("*")):
        relative = path.relative_to(ROOM)
        if path.suffix in {".py", ".toml", ".md"} and relative.parts[0] != "configs":
            total.update(f"{relative.as_posix()}\0{file_digest(path)}\n".encode())
    return total.hexdigest()
