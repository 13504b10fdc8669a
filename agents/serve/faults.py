"""What can be made to go wrong with one answer of the server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Status:
    """An HTTP error in place of an answer; the policy is not asked."""

    code: int
    headers: Mapping[str, str] = field(default_factory=dict)
    error: str = "injected"


@dataclass(frozen=True, slots=True)
class Garbled:
    """A 200 whose body is this instead of the answer."""

    body: bytes = b'{"choices": [{"mess'


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection closes in the middle of the answer's body, or before any of it is sent."""

    before_status: bool = False


@dataclass(frozen=True, slots=True)
class Slow:
    """The body comes in pieces, with `pause` seconds before each."""

    pause: float
    pieces: int = 10


Fault = Status | Garbled | Cut | Slow
