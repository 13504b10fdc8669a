"""Where the randomness of an instance comes from, and which instances a sitting asks for.

The public *practice* sitting uses small integers. A *private* one derives its seeds from a secret by HMAC
(RFC 2104), so that the questions rotate without new authoring; seeds do not give the secret away.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Protocol

from practicum.tasks.errors import BadSitting

_SECRET_BYTES = 16
_SEED_BITS = 63


def stream(task: str, seed: int) -> Random:
    """The random stream of one instance: equal for equal (task, seed), unrelated for all others."""
    digest = hashlib.sha256(f"practicum/instance\0{task}\0{seed}".encode()).digest()
    return Random(int.from_bytes(digest))


class Sitting(Protocol):
    @property
    def name(self) -> str: ...

    def seed(self, task: str, number: int) -> int:
        """The seed of the `number`-th question (from 0) of a task."""
        ...


@dataclass(frozen=True, slots=True)
class Practice:
    """Everybody's sitting: the number is the seed."""

    name: str = "practice"

    def seed(self, task: str, number: int) -> int:
        del task
        return number


@dataclass(frozen=True, slots=True)
class Private:
    """A sitting that only the holder of the secret can foresee. The name identifies it without telling it."""

    secret: bytes = field(repr=False)

    @property
    def name(self) -> str:
        return "private-" + self._digest("name")[:4].hex()

    def seed(self, task: str, number: int) -> int:
        return int.from_bytes(self._digest(f"seed\0{task}\0{number}")[:8]) >> (64 - _SEED_BITS)

    def _digest(self, message: str) -> bytes:
        return hmac.new(self.secret, f"practicum/sitting\0{message}".encode(), hashlib.sha256).digest()


def private_sitting(path: Path) -> Private:
    """Read the secret from a file, surrounding white space apart. Raises `BadSitting`, `OSError`."""
    secret = path.read_bytes().strip()
    if len(secret) < _SECRET_BYTES:
        raise BadSitting(f"{path}: a secret has at least {_SECRET_BYTES} bytes, this one {len(secret)}")
    return Private(secret)


def parse_numbers(text: str) -> tuple[int, ...]:
    """`0-4,7` → (0, 1, 2, 3, 4, 7). Raises `BadSitting`."""
    numbers: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not (first.isdecimal() and (last.isdecimal() or not dash)):
            raise BadSitting(f"seeds are numbers and ranges such as 0-4,7; got {text!r}")
        numbers += range(int(first), int(last or first) + 1)
    if not numbers:
        raise BadSitting(f"{text!r} names no seed; a range goes upwards")
    return tuple(dict.fromkeys(numbers))
