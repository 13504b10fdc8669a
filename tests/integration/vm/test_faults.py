"""Machines that fail: each ends as a staged fault with what is known, and nothing of it is left."""

from __future__ import annotations

import base64
import multiprocessing
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

import psutil
import pytest

from practicum.infra.desk.actions import Key
from practicum.infra.desk.desk import Account, Capability, DeskSpec, Label
from practicum.infra.desk.vm import VmDesks
from practicum.infra.desk.vm.desk import VmDesk
from practicum.infra.desk.vm.folders import Folders
from practicum.infra.desk.vm.ready import ReadyMachines
from practicum.infra.errors import DeskFault, DeskLost, ImageMissing, Stage

pytestmark = [pytest.mark.docker, pytest.mark.vm]

Break = Callable[[VmDesk, Path], None]


def machines(desks: VmDesks) -> list[psutil.Process]:
    """Every QEMU whose files are in the folder of these desks."""
    found = []
    for process in psutil.process_iter(["name", "cmdline", "status"]):
        words = process.info["cmdline"] or []
        mine = any(str(desks.folders.root) in word for word in words)
        if (
            mine
            and process.info["name"].startswith("qemu")
            and process.info["status"] != psutil.STATUS_ZOMBIE
        ):
            found.append(process)
    return found


def nothing_left(desks: VmDesks) -> bool:
    folders = [path for path in desks.folders.root.iterdir() if path.is_dir()]
    return not (machines(desks) or folders or desks.held())


def kill(desk: VmDesk, folder: Path) -> None:
    os.kill(int((folder / "qemu.pid").read_text()), signal.SIGKILL)


def stop_agent(desk: VmDesk, folder: Path) -> None:
    script = "(sleep 0.3; kill -STOP $(pidof qemu-ga)) >/dev/null 2>&1 &"
    desk.run(["sh", "-c", script], account=Account.HOUSE)


def pause_machine(desk: VmDesk, folder: Path) -> None:
    """The monitor serves one connection, so a freeze from outside is a stopped process."""
    os.kill(int((folder / "qemu.pid").read_text()), signal.SIGSTOP)


def cut_monitor(desk: VmDesk, folder: Path) -> None:
    """As when the socket breaks: our end is shut beneath the client."""
    desk._emulator._monitor._socket.shutdown(2)


@pytest.mark.parametrize(
    ("break_it", "said"),
    [(kill, "gone"), (cut_monitor, "silent"), (pause_machine, "silent"), (stop_agent, "running")],
)
def test_a_machine_that_breaks_while_it_works_is_lost(
    desks: VmDesks, spec: DeskSpec, label: Label, break_it: Break, said: str
) -> None:
    """Soon, with its logs, the last frame and what QEMU is doing; and nothing of it is left."""
    with pytest.raises(DeskLost) as raised, desks.open(spec, label) as desk:  # noqa: PT012 - the block raises
        frame = desk.observe().png
        (folder,) = (path for path in desks.folders.root.iterdir() if path.is_dir())
        break_it(desk, folder)
        broken = time.monotonic()
        for _ in range(100):
            desk.run(["true"])
            desk.act(Key(("a",)))
    assert time.monotonic() - broken < 60.0
    assert raised.value.stage is Stage.WORK
    assert said in raised.value.message
    assert "desk: display" in raised.value.logs
    assert raised.value.frame == frame
    assert nothing_left(desks)


def test_a_full_disk_of_the_host_is_a_fault_before_anything_runs(
    desks: VmDesks, spec: DeskSpec, label: Label, tmp_path: Path
) -> None:
    """The overlay cannot be laid; what was begun is gone."""
    with desks.open(spec, label):
        pass  # so that there is a saved machine to copy
    small = tmp_path / "small"
    small.mkdir(mode=0o700)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m,mode=700", "none", small], check=True)
    try:
        full = replace(desks, folders=Folders(small))
        with pytest.raises(DeskFault, match="No space left") as raised, full.open(spec, label):
            pass
        assert raised.value.stage is Stage.CREATE
        assert nothing_left(full)
    finally:
        subprocess.run(["umount", small], check=True)


def test_a_full_disk_of_the_guest_is_a_fault_when_we_write(
    desks: VmDesks, spec: DeskSpec, label: Label, tmp_path: Path
) -> None:
    """The agent may fill its disk; staging that fails for it says so, and the desk goes on."""
    (tmp_path / "big").write_bytes(bytes(1 << 20))
    with desks.open(spec, label) as desk:
        mount = "mkdir /small && mount -t tmpfs -o size=256k,mode=777 small /small"
        done = desk.run(["sh", "-c", mount], account=Account.HOUSE)
        assert done.exit_code == 0, done
        with pytest.raises(DeskFault, match="put") as raised:
            desk.put(tmp_path / "big", PurePosixPath("/small/big"))
        assert raised.value.stage is Stage.STAGING
        assert "tar: big: " in raised.value.logs
        assert desk.observe().png


def test_a_machine_that_does_not_fit_is_refused_before_it_boots(
    desks: VmDesks, spec: DeskSpec, label: Label
) -> None:
    """With both numbers."""
    with (
        pytest.raises(DeskFault, match="does not fit") as raised,
        desks.open(replace(spec, memory=1 << 24), label),
    ):
        pass
    assert raised.value.stage is Stage.CREATE
    assert nothing_left(desks)


def test_a_disk_that_was_never_built_is_named(desks: VmDesks, spec: DeskSpec, label: Label) -> None:
    """With the command that builds it."""
    with (
        pytest.raises(ImageMissing, match="practicum image build cad --as vm"),
        replace(desks, disks=replace(desks.disks, cache=desks.folders.root)).open(
            replace(spec, image="cad"), label
        ),
    ):
        pass


def test_a_kernel_that_does_not_come_up_says_how_far_it_came(
    desks: VmDesks, spec: DeskSpec, label: Label, tmp_path: Path
) -> None:
    """QEMU's own words, at the stage where it ended."""

    class Broken:
        def digest(self, name: str) -> str:
            return "broken"

        def find(self, name: str):
            disk = desks.disks.find(name)
            (tmp_path / "vmlinuz").write_bytes(b"no kernel" * 1000)
            (tmp_path / "initrd").symlink_to(disk.ram_disk)
            (tmp_path / "disk.qcow2").symlink_to(disk.image)
            return replace(disk, folder=tmp_path, digest="broken")

    accelerator = desks._hardware(spec).accelerator
    broken = replace(desks, disks=Broken(), ready=ReadyMachines(tmp_path), accelerator=accelerator)
    with pytest.raises(DeskFault) as raised, broken.open(spec, label):
        pass
    assert raised.value.stage is Stage.START
    assert "kernel" in raised.value.logs
    assert nothing_left(desks)


@pytest.fixture
def keeping(desks: VmDesks, tmp_path_factory: pytest.TempPathFactory) -> Iterator[VmDesks]:
    """Desks of which one waits for the next trial."""
    keeping = replace(desks, folders=Folders(tmp_path_factory.mktemp("keep")), keep=1)
    yield keeping
    keeping.reap(time.time() + 1e6)
    assert nothing_left(keeping)


def test_a_machine_that_waited_is_as_it_was_after_boot(
    keeping: VmDesks, spec: DeskSpec, label: Label
) -> None:
    """The same process, set back: no file and no process of the one before; and the time is now."""
    with keeping.open(spec, label) as desk:
        desk.run(["sh", "-c", "echo mine > /home/agent/mine; setsid sleep 999 >/dev/null 2>&1 &"])
    (process,) = machines(keeping)
    assert [held.run for held in keeping.held()] == ["pool"]
    with keeping.open(spec, label) as desk:
        assert machines(keeping) == [process]
        assert keeping.held() == (label,)
        assert desk.run(["test", "-e", "/home/agent/mine"]).exit_code == 1
        assert desk.run(["pgrep", "-f", "sleep 999"]).exit_code == 1
        assert abs(float(desk.run(["date", "+%s"]).stdout) - time.time()) < 15.0


def hold(root: Path, spec: DeskSpec, label: Label, ready: multiprocessing.synchronize.Event) -> None:
    with VmDesks(folders=Folders(root)).open(spec, label):
        ready.set()
        signal.pause()


def test_one_reaper_pass_takes_what_a_killed_process_left(
    desks: VmDesks, spec: DeskSpec, label: Label
) -> None:
    """And nobody else's."""
    context = multiprocessing.get_context("fork")
    ready = context.Event()
    process = context.Process(target=hold, args=(desks.folders.root, spec, label, ready))
    process.start()
    assert ready.wait(300.0)
    other = Label("vm", "other", label.deadline)
    with desks.open(spec, other) as desk:
        os.kill(process.pid or 0, signal.SIGKILL)
        process.join()
        assert desks.reap(time.time()) == (label,)
        assert desks.held() == (other,)
        assert desk.run(["true"]).exit_code == 0
    assert nothing_left(desks)


def test_watching_asks_for_a_password_on_the_loopback(desks: VmDesks, spec: DeskSpec, label: Label) -> None:
    """A VNC server that offers nothing but the password, and only where it was asked for."""
    watched = replace(desks, watch=True)
    assert Capability.WATCH in watched.capabilities(spec)
    assert Capability.WATCH not in desks.capabilities(spec)
    with watched.open(spec, label) as desk:
        watch = desk.watch
        assert watch.host == "127.0.0.1"
        assert len(watch.password) == 8
        assert security_types(watch.host, watch.port) == [2]


def security_types(host: str, port: int) -> list[int]:
    """RFB 3.8: what a server offers; 1 is none, 2 is the password."""

    with socket.create_connection((host, port), timeout=10.0) as line:
        assert line.recv(12).startswith(b"RFB 003.008")
        line.sendall(b"RFB 003.008\n")
        offered = line.recv(16)
        return list(offered[1 : 1 + offered[0]])


def test_a_hostile_agent_protocol_cannot_grow_without_bound(
    desks: VmDesks, spec: DeskSpec, label: Label
) -> None:
    """A file that never ends is cut where it was said to end."""
    with desks.open(spec, label) as desk:
        done = desk.run(["sh", "-c", "head -c 20000000 /dev/zero"], cap=1000)
        assert (len(done.stdout), done.truncated) == (1000, True)
        data = base64.b64encode(os.urandom(300_000))
        assert desk.run(["cat"], stdin=data).stdout == data
