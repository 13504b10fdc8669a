"""What oracles share: finding a thing on the screen, and waiting for a window with an agent's own means."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from practicum.infra.operator import Operator

LOOKS = 25
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 4.0
"""Seconds between looks; each half as long again as the one before, because looks and waits are steps."""


class NotFound(Exception):
    """What the oracle waited for never came on the screen, or never left it."""


@dataclass(frozen=True, slots=True)
class Found:
    """An accessible object: its box in desk pixels."""

    role: str
    name: str
    text: str
    x: int
    y: int
    width: int
    height: int

    @property
    def centre(self) -> tuple[int, int]:
        return self.x + self.width // 2, self.y + self.height // 2


def find(hands: Operator, *, role: str = "", name: str = "", text: str = "", looks: int = LOOKS) -> Found:
    """The first accessible object of this role whose name and text contain these words.

    Looks again after a pause until it is there. Raises `NotFound` after `looks` looks.
    """
    wanted = f"{role or 'object'} named {name!r} saying {text!r}"

    def fits(item: Found) -> bool:
        said = f"{item.name}\n{item.text}"
        return role in item.role and name in item.name and text in said

    return look(hands, fits, wanted, looks)


def look(hands: Operator, fits: Callable[[Found], bool], wanted: str, looks: int = LOOKS) -> Found:
    """As `find`, by a predicate."""
    for pause in _pauses(looks):
        for element in map(_found, hands.elements()):
            if fits(element):
                return element
        hands.wait(pause)
    seen = ", ".join(f"{item.role} {item.name!r}" for item in map(_found, hands.elements()))
    raise NotFound(f"no {wanted} on the screen; there were: {seen[:1500]}")


def insist(act: Callable[[], object], found: Callable[[], Found], tries: int = 4) -> Found:
    """Do something until its effect is found: `found` raises `NotFound`, as it does after the last try."""
    for _ in range(tries - 1):
        act()
        try:
            return found()
        except NotFound:
            continue
    act()
    return found()


def gone(hands: Operator, *, name: str, looks: int = LOOKS) -> None:
    """Wait until nothing on the screen is named so, and something else is. Raises `NotFound`."""
    for pause in _pauses(looks):
        names = [element["name"] for element in hands.elements()]
        if names and not any(name in other for other in names):
            return
        hands.wait(pause)
    raise NotFound(f"{name!r} is still on the screen")


def _pauses(looks: int) -> Iterator[float]:
    return (min(LONGEST_PAUSE, FIRST_PAUSE * 1.5**number) for number in range(looks))


def _found(element: dict[str, Any]) -> Found:
    return Found(
        role=element["role"],
        name=element["name"],
        text=element["text"],
        x=element["x"],
        y=element["y"],
        width=element["width"],
        height=element["height"],
    )
