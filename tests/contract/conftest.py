from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from practicum.infra.desk.container import ContainerDesks
from practicum.infra.desk.desk import Desk, DeskProvider, DeskSpec, Label
from practicum.infra.desk.fake import FakeDesks
from practicum.infra.desk.pool import Pool
from practicum.infra.desk.ssh import SshDesks
from practicum.infra.desk.ssh.leases import Leases
from practicum.infra.desk.vm import VmDesks
from practicum.infra.desk.vm.folders import Folders
from practicum.vm_images.vm.disk import Disks

KINDS = [
    "fake",
    pytest.param("container", marks=pytest.mark.docker),
    pytest.param("pool", marks=pytest.mark.docker),
    pytest.param("vm", marks=[pytest.mark.docker, pytest.mark.vm]),
    pytest.param("ssh", marks=pytest.mark.docker),
]
SPEC = DeskSpec("base", width=1024, height=640)

Labels = Callable[[], Label]


def _label() -> Label:
    return Label("contract", f"trial-{time.monotonic_ns()}", time.time() + 600)


@pytest.fixture
def label() -> Labels:
    """Makes a new label at each call."""
    return _label


@pytest.fixture(scope="module", params=KINDS)
def provider(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[DeskProvider]:
    """Every kind of desk there is."""
    if request.param == "fake":
        yield FakeDesks(root=tmp_path_factory.mktemp("fake"))
    elif request.param == "container":
        yield ContainerDesks()
    elif request.param == "vm":
        Disks().build("base")
        yield VmDesks(folders=Folders(tmp_path_factory.mktemp("vm", numbered=True)))
    elif request.param == "ssh":
        hosts = request.getfixturevalue("ssh_hosts")
        yield SshDesks(hosts, Leases(tmp_path_factory.mktemp("leases")))
    else:
        with Pool(ContainerDesks(), size=1) as pool:
            yield pool


@pytest.fixture
def spec() -> DeskSpec:
    return SPEC


@pytest.fixture(scope="module")
def desk(provider: DeskProvider) -> Iterator[Desk]:
    """One desk for the tests that leave it usable."""
    with provider.open(SPEC, _label()) as opened:
        yield opened
