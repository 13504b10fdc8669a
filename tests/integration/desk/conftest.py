from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from practicum.infra.desk.actions import Click, Key, Point
from practicum.infra.desk.container import ContainerDesks
from practicum.infra.desk.container.provider import Machine
from practicum.infra.desk.desk import DeskSpec, Label, Settle
from practicum.infra.desk.guest import GuestDesk

PROGRAM = PurePosixPath("/home/agent/window.py")
TITLE = Point(512, 12)
SPEC = DeskSpec("base", width=1024, height=640)
_BOUND = 15.0


@dataclass
class Window:
    """The fixture window in a desk: shown in one mode at a time, its log read as it grows."""

    desk: GuestDesk
    log: str = ""
    read: int = 0
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def show(self, mode: str, milliseconds: int = 0) -> None:
        """Replace whatever was shown; returns when the window has the focus and is painted."""
        self.desk.run(["sh", "-c", "while pkill -f '[w]indow.py'; do sleep 0.01; done"])
        self.log, self.read = f"/tmp/log-{next(self._numbers)}", 0
        command = (
            f"exec setsid python3 {PROGRAM} {mode} {self.log} {milliseconds} >/dev/null 2>{self.log}.err &"
        )
        self.desk.run(["sh", "-c", command])
        shown = "until xprop -root _NET_CLIENT_LIST | grep -q '0x.*0x'; do sleep 0.02; done"
        self.desk.run(["sh", "-c", shown])
        self.desk.act(Click(TITLE))  # a window that appears while somebody types is not given the focus
        self.await_(lambda entry: "focus" in entry)
        self.desk.observe(Settle(quiet=0.1, bound=1.0))

    def entries(self) -> list[dict[str, Any]]:
        """What was logged since the last look."""
        done = self.desk.run(["cat", self.log], cap=16 << 20)
        lines = done.stdout[self.read :].splitlines(keepends=True)
        whole = [line for line in lines if line.endswith(b"\n")]
        self.read += sum(map(len, whole))
        return [json.loads(line) for line in whole]

    def await_(self, wanted: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
        """Entries up to and with the first that is wanted."""
        seen: list[dict[str, Any]] = []
        end = time.monotonic() + _BOUND
        while time.monotonic() < end:
            seen += self.entries()
            if any(wanted(entry) for entry in seen):
                return seen
        errors = self.desk.run(["cat", f"{self.log}.err"]).stdout
        raise AssertionError(f"the fixture window did not answer; it logged {seen} and said {errors!r}")

    def events(self) -> list[dict[str, Any]]:
        """All events since the last call, in order."""
        self.desk.act(Key(("f12",)))
        return [entry for entry in self.await_(lambda entry: "mark" in entry) if "mark" not in entry]

    def text(self) -> str:
        """The text in the area, which is empty afterwards."""
        self.desk.act(Key(("f12",)))
        return str(self.await_(lambda entry: "text" in entry)[-1]["text"])


@pytest.fixture(scope="session")
def desks() -> ContainerDesks:
    return ContainerDesks()


@pytest.fixture
def label() -> Label:
    return Label("integration", f"trial-{time.monotonic_ns()}", time.time() + 900)


@pytest.fixture(scope="module")
def machine(desks: ContainerDesks) -> Iterator[Machine]:
    """One booted container for a module."""
    opened = desks.start(SPEC, Label("integration", f"module-{time.monotonic_ns()}", time.time() + 900))
    try:
        yield opened
    finally:
        opened.close()


@pytest.fixture(scope="module")
def window(machine: Machine) -> Window:
    """The fixture program, put into that container."""
    desk = machine.desk
    desk.put(Path(__file__).parent / "guest" / "window.py", PROGRAM)
    return Window(desk)
