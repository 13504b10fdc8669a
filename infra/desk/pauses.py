"""Between two looks at something that cannot tell when it is ready."""

from __future__ import annotations

import select
from collections.abc import Iterator


def pause(seconds: float) -> None:
    select.select([], [], [], max(0.0, seconds))


def pauses(first: float = 0.004, longest: float = 0.1, growth: float = 1.5) -> Iterator[float]:
    """Growing pauses, in seconds, without end."""
    seconds = first
    while True:
        yield seconds
        seconds = min(longest, seconds * growth)
