from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from practicum.infra.desk.actions import Key
from practicum.infra.desk.desk import Desk, DeskSpec, Label, Settle
from practicum.infra.desk.vm import VmDesks
from practicum.infra.desk.vm.folders import Folders
from practicum.vm_images.vm.disk import Disks

PROGRAM = Path(__file__).parents[1] / "desk" / "guest" / "window.py"
SPEC = DeskSpec("base", width=1024, height=640)
_BOUND = 90.0

Entry = dict[str, Any]


@dataclass
class Window:
    """The fixture window of desks, in an emulated machine: the same program, and more patience."""

    desk: Desk
    _log: str = ""
    _read: int = 0
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def show(self, mode: str, milliseconds: int = 0) -> None:
        self.desk.run(["sh", "-c", "while pkill -f '[w]indow.py'; do sleep 0.05; done"])
        self._log, self._read = f"/tmp/log-{next(self._numbers)}", 0
        program = f"exec setsid python3 /home/agent/window.py {mode} {self._log} {milliseconds}"
        self.desk.run(["sh", "-c", f"{program} >/dev/null 2>{self._log}.err &"])
        self.await_(lambda entry: "focus" in entry)
        self.desk.observe(Settle(quiet=0.5, bound=15.0))

    def await_(self, wanted: Callable[[Entry], bool]) -> list[Entry]:
        """Entries up to the first that is wanted."""
        seen: list[Entry] = []
        end = time.monotonic() + _BOUND
        while time.monotonic() < end:
            data = self.desk.run(["cat", self._log], cap=16 << 20).stdout[self._read :]
            whole = data[: data.rfind(b"\n") + 1]
            self._read += len(whole)
            seen += [json.loads(line) for line in whole.splitlines()]
            if any(wanted(entry) for entry in seen):
                return seen
        said = self.desk.run(["cat", f"{self._log}.err"]).stdout
        raise AssertionError(f"the window logged {seen} and said {said!r}")

    def events(self) -> list[Entry]:
        """All events since the last call."""
        self.desk.act(Key(("f12",)))
        return [entry for entry in self.await_(lambda entry: "mark" in entry) if "mark" not in entry]

    def text(self) -> str:
        """The text in the area, which is empty afterwards."""
        self.desk.act(Key(("f12",)))
        return str(self.await_(lambda entry: "text" in entry)[-1]["text"])


@pytest.fixture(scope="session")
def desks(tmp_path_factory: pytest.TempPathFactory) -> VmDesks:
    """Machines of this session alone, on a disk that is built if it is missing."""
    Disks().build("base")
    return VmDesks(folders=Folders(tmp_path_factory.mktemp("vm")))


@pytest.fixture
def spec() -> DeskSpec:
    return SPEC


@pytest.fixture
def label() -> Label:
    return Label("vm", f"trial-{time.monotonic_ns()}", time.time() + 900)


@pytest.fixture(scope="module")
def desk(desks: VmDesks) -> Iterator[Desk]:
    """One machine for the tests of a module that leave it usable."""
    with desks.open(SPEC, Label("vm", f"module-{time.monotonic_ns()}", time.time() + 900)) as opened:
        yield opened


@pytest.fixture(scope="module")
def window(desk: Desk) -> Window:
    desk.put(PROGRAM, PurePosixPath("/home/agent/window.py"))
    return Window(desk)
