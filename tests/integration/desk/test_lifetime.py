"""Opening works or fails with a reason; nothing is left behind, whoever dies; nothing acts twice."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import pytest

from practicum.infra.desk.actions import Key, TypeText
from practicum.infra.desk.container import ContainerDesks
from practicum.infra.desk.container.provider import Machine
from practicum.infra.desk.desk import Account, DeskSpec, Label
from practicum.infra.desk.guest import GuestDesk
from practicum.infra.desk.pool import Pool
from practicum.infra.desk.wire import Link, Transport
from practicum.infra.errors import DeskFault, DeskLost, ImageMissing, Stage
from practicum.vm_images.handsd.protocol import Message, decode, encode

pytestmark = pytest.mark.docker

SMALL = DeskSpec("base", width=640, height=480)
MY = "lifetime"


def mine(desks: ContainerDesks, label: Label) -> list[Label]:
    return [held for held in desks.held() if held.trial == label.trial]


class Tagged:
    """Every image is one tag."""

    def __init__(self, tag: str) -> None:
        self._tag = tag

    def reference(self, name: str) -> str:
        return self._tag

    def digest(self, name: str) -> str:
        return "0" * 64


def test_an_image_that_was_never_built_is_named(label: Label) -> None:
    """With the command that builds it."""
    with pytest.raises(ImageMissing, match="practicum image build base"):
        ContainerDesks(Tagged("practicum/never:built")).start(SMALL, label)


@pytest.fixture
def broken(desks: ContainerDesks, label: Label) -> Iterator[Breaker]:
    """A provider whose images fail in the way that the test writes into the desk before it is committed."""
    machine = desks.start(SMALL, label)
    tag = f"practicum/broken:{label.trial}"
    try:
        yield Breaker(desks, machine, tag)
    finally:
        machine.close()
        desks.client.remove_image(tag, force=True)


@dataclass
class Breaker:
    desks: ContainerDesks
    machine: Machine
    tag: str

    def broken_by(self, script: str) -> ContainerDesks:
        done = self.machine.desk.run(["sh", "-c", script], account=Account.HOUSE)
        assert done.exit_code == 0, done
        repository, _, tag = self.tag.rpartition(":")
        self.desks.client.commit(self.machine.container, repository, tag)
        return ContainerDesks(Tagged(self.tag), ready_bound=2.0)


@pytest.mark.parametrize(
    ("script", "stage"),
    [
        (
            "printf '#!/bin/sh\\necho no display today >&2; exit 3\\n' > /usr/local/bin/desk-display",
            Stage.START,
        ),
        (
            "printf '#!/bin/sh\\necho started nothing >&2; exec sleep 99\\n' > /usr/local/bin/desk-display",
            Stage.DISPLAY,
        ),
        ("printf '#!/bin/sh\\necho no session >&2; exit 3\\n' > /usr/local/bin/desk-session", Stage.DISPLAY),
        ("rm -rf /opt/practicum/practicum", Stage.START),
    ],
)
def test_a_desk_that_does_not_come_up_says_where_it_stopped(
    broken: Breaker, label: Label, script: str, stage: Stage
) -> None:
    """A staged error with the machine's own words, soon, and nothing of it left."""
    desks = broken.broken_by(script)
    unlucky = Label(MY, f"{label.trial}-broken", label.deadline)
    started = time.monotonic()
    with pytest.raises(DeskFault) as raised:
        desks.start(SMALL, unlucky)
    assert time.monotonic() - started < 25.0
    assert raised.value.stage in {stage, Stage.START}
    assert raised.value.logs
    assert mine(desks, unlucky) == []


def test_a_desk_that_dies_after_being_ready_is_lost(desks: ContainerDesks, label: Label) -> None:
    """The next call says so, with the logs, and the block leaves nothing."""

    def use() -> None:
        with desks.open(SMALL, label) as desk:
            desk.run(["sh", "-c", "kill -9 $(pgrep Xvnc)"], account=Account.HOUSE)
            desk.observe()
            desk.observe()

    with pytest.raises(DeskFault) as raised:
        use()
    assert raised.value.logs
    assert mine(desks, label) == []


def test_an_agent_that_kills_its_own_session_keeps_its_desk(desks: ContainerDesks, label: Label) -> None:
    """What it does to itself is its affair, and never a fault of ours."""
    with desks.open(SMALL, label) as desk:
        desk.run(["sh", "-c", "kill -9 -1"])
        assert desk.observe().png
        assert desk.run(["echo", "still"]).stdout == b"still\n"
        for name in ("Xvnc", "docker-init", "handsd"):
            desk.run(["pkill", "-9", "-f", name])
        assert desk.observe().png


HOLD = """
import signal, sys, time
from practicum.infra.desk.container import ContainerDesks
from practicum.infra.desk.desk import DeskSpec, Label
from practicum.infra.desk.pool import Pool

spec = DeskSpec("base", width=648, height=480)
label = Label(sys.argv[1], sys.argv[2], float(sys.argv[3]))
desks = ContainerDesks()
with Pool(desks, size=1) as pool, desks.open(spec, label):
    pool.warm(spec, bound=60.0)
    print("ready", flush=True)
    signal.pause()
"""


def test_one_reaper_pass_takes_what_a_killed_process_left(desks: ContainerDesks, label: Label) -> None:
    """SIGKILL leaves an open desk and a warm one behind; the next pass takes both, and nobody else's."""
    argv = [sys.executable, "-c", HOLD, label.run, label.trial, str(label.deadline)]
    with desks.open(SMALL, Label(MY, f"{label.trial}-other", label.deadline)) as other:
        process = subprocess.Popen(argv, stdout=subprocess.PIPE)
        assert process.stdout is not None
        with process.stdout:
            assert process.stdout.readline() == b"ready\n"
        process.kill()
        process.wait()
        taken = [gone.trial for gone in desks.reap(time.time())]
        assert label.trial in taken
        assert "warm" in taken
        assert f"{label.trial}-other" not in taken
        assert mine(desks, label) == []
        assert other.observe().png


def test_a_warm_desk_is_handed_out_once_and_replaced(desks: ContainerDesks, label: Label) -> None:
    """At once, unused, under the new deadline; another one is made ready meanwhile."""
    with Pool(desks, size=1) as pool:
        assert pool.warm(SMALL, bound=60.0)
        started = time.monotonic()
        with pool.open(SMALL, label) as desk:
            opened = time.monotonic() - started
            assert opened < 0.5
            desk.run(["touch", "/home/agent/mine"])
            assert float(int(label.deadline) + 1) in [held.deadline for held in desks.held()]
            assert pool.warm(SMALL, bound=60.0)
        with pool.open(SMALL, label) as desk:
            assert desk.run(["test", "-e", "/home/agent/mine"]).exit_code == 1
    assert [held for held in desks.held() if held.trial == "warm" and held.run == "pool"] == []


def test_a_full_disk_is_a_fault_when_we_write(desks: ContainerDesks, label: Label, tmp_path) -> None:
    """ENOSPC inside the desk is the agent's while it works, and staging that fails says so."""
    (tmp_path / "big").write_bytes(bytes(1 << 20))
    with desks.open(SMALL, label) as desk:
        desk.run(["sh", "-c", "head -c 10G /dev/zero > /dev/shm/fill"])
        assert desk.run(["sh", "-c", "echo x > /dev/shm/more && sync"]).exit_code in {0, 1, 2}
        with pytest.raises(DeskFault) as raised:
            desk.put(tmp_path / "big", PurePosixPath("/dev/shm/big"))
        assert raised.value.stage is Stage.STAGING
        assert "No space left" in raised.value.logs
        assert desk.observe().png


@dataclass
class Lossy:
    """A line on which every answer is lost at first, and some requests arrive twice."""

    inner: Transport
    drop: int = 1
    repeat: bool = True
    _dropped: dict[int, int] = field(default_factory=dict)
    _held: bytes = b""

    def read(self, size: int) -> bytes:
        if not self._held:
            self._held = self._next()
        data, self._held = self._held[:size], self._held[size:]
        return data

    def _next(self) -> bytes:
        while True:
            message: Message = decode(self.inner.read)
            number = int(message.head["id"])
            self._dropped[number] = self._dropped.get(number, 0) + 1
            if self._dropped[number] > self.drop:
                return encode(message)

    def write(self, data: bytes) -> None:
        self.inner.write(data * 2 if self.repeat else data)

    def close(self) -> None:
        self.inner.close()

    def log(self) -> str:
        return self.inner.log()


def test_no_action_takes_effect_twice_when_answers_are_lost(window, machine: Machine) -> None:
    """Requests sent twice and answers lost: each letter is typed once, each command runs once."""
    window.show("text")
    line = Lossy(machine.connect(), drop=1, repeat=True)
    link = Link(line, ask_again=0.2)
    desk = GuestDesk(window.desk.spec, link)
    try:
        for letter in "abcdefgh":
            desk.act(TypeText(letter))
            desk.run(["sh", "-c", f"echo {letter} >> /tmp/once"])
        desk.act(Key(("f12",)))
    finally:
        link.close()
    assert window.await_(lambda entry: "text" in entry)[-1]["text"] == "abcdefgh"
    assert window.desk.run(["cat", "/tmp/once"]).stdout.decode().split() == list("abcdefgh")


def test_a_line_that_gives_no_answer_is_a_lost_desk(machine: Machine, window) -> None:
    """Not a wait without end."""
    line = Lossy(machine.connect(), drop=99, repeat=False)
    link = Link(line, patience=0.5, ask_again=0.2)
    started = time.monotonic()
    try:
        with pytest.raises(DeskLost):
            GuestDesk(window.desk.spec, link).observe()
    finally:
        link.close()
    assert time.monotonic() - started < 10.0
