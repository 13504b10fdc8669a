"""Leases of machines: what is on disk is the whole truth, whoever died."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from practicum.infra.desk.desk import Label
from practicum.infra.desk.vm.folders import Folders, lease_of
from practicum.infra.errors import EngineUnavailable

NOW = 1_000_000.0


def label(trial: str, deadline: float = NOW + 100) -> Label:
    return Label("run", trial, deadline)


@pytest.fixture
def folders(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    return Folders(tmp_path_factory.mktemp("vm"))


def test_what_is_created_is_held_until_removed(folders: Folders) -> None:
    """Under its label, and private."""
    folder = folders.create(lease_of(label("a"), "hardware"))
    assert folders.held() == (label("a"),)
    assert folder.stat().st_mode & 0o077 == 0
    folders.remove(folder)
    folders.remove(folder)
    assert folders.held() == ()
    assert not folder.exists()


def test_the_reaper_takes_what_is_over_or_abandoned_and_nothing_else(folders: Folders) -> None:
    """Each by its own reason."""
    for trial, deadline in (("late", NOW - 1), ("left", NOW + 100), ("kept", NOW + 100)):
        folders.create(lease_of(label(trial, deadline), "hardware"))
    taken = folders.reap(NOW, lambda held: held.trial == "left")
    assert {gone.trial for gone in taken} == {"late", "left"}
    assert folders.held() == (label("kept"),)


def test_machines_of_a_dead_process_are_orphans(folders: Folders) -> None:
    """Also when another process has its number by now."""
    dead = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    lease = lease_of(label("orphan"), "hardware")
    folders.create(replace(lease, owner=int(dead.stdout)))
    folders.create(replace(lease, owner=os.getpid(), owner_since=lease.owner_since - 50))
    folders.create(lease_of(label("mine"), "hardware"))
    assert [gone.trial for gone in folders.reap(NOW, lambda _: False)] == ["orphan", "orphan"]
    assert folders.held() == (label("mine"),)


def test_a_waiting_machine_is_claimed_once_and_only_for_its_hardware(folders: Folders) -> None:
    """Equal hardware or none; it waits for nobody's process, but not past its deadline."""
    folder = folders.create(lease_of(label("first"), "small"))
    idle = replace(lease_of(label("pool"), "small"), idle=True, owner=1, owner_since=0.0)
    assert folders.park(folder, idle, keep=1)
    assert folders.claim("large", label("second")) is None
    assert folders.reap(NOW, lambda _: False) == ()
    assert folders.claim("small", label("second")) == folder
    assert folders.claim("small", label("third")) is None
    assert folders.held() == (label("second"),)


def test_no_more_wait_than_are_kept(folders: Folders) -> None:
    """The others end with their trial."""
    idle = replace(lease_of(label("pool"), "small"), idle=True)
    one, two = (folders.create(lease_of(label("x"), "small")) for _ in range(2))
    assert folders.park(one, idle, keep=1)
    assert not folders.park(two, idle, keep=1)


def test_a_process_with_the_same_number_is_not_killed(folders: Folders) -> None:
    """Only a process that was told this very folder is ours."""
    folder = folders.create(lease_of(label("a"), "hardware"))
    with subprocess.Popen(["sleep", "60"]) as bystander:
        (folder / "qemu.pid").write_text(str(bystander.pid))
        folders.remove(folder)
        assert bystander.poll() is None
        bystander.kill()


@pytest.mark.parametrize("trap", ["open", "link"])
def test_a_place_that_others_could_write_is_not_used(tmp_path: Path, trap: str) -> None:
    """Sockets of machines do not go where somebody waits for them."""
    place = tmp_path / "vm"
    if trap == "open":
        place.mkdir()
        place.chmod(0o777)
    else:
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        place.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(EngineUnavailable, match="private"):
        Folders(place).held()


def test_deadlines_are_seconds_of_the_clock(folders: Folders) -> None:
    """A machine that is open now is not over."""
    folders.create(lease_of(label("a", time.time() + 60), "hardware"))
    assert folders.reap(time.time(), lambda _: False) == ()
