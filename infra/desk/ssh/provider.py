"""An existing machine as a desk: `handsd` over an exec channel in the graphical session of the user.

Such a machine outlives every trial: it is leased to one at a time, and is only as clean as its own `reset`
command makes it. The user is the agent, and there is no house.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path, PurePosixPath

import msgspec
import paramiko
from platformdirs import user_cache_path, user_config_path

from practicum.infra.desk.desk import Account, Capability, Desk, DeskSpec, Label, Network, Settle
from practicum.infra.desk.guest import GuestDesk
from practicum.infra.desk.ssh import files
from practicum.infra.desk.ssh.connection import Connection, ssh_errors
from practicum.infra.desk.ssh.host import Host, read
from practicum.infra.desk.ssh.leases import Lease, Leases
from practicum.infra.desk.wire import Link
from practicum.infra.errors import DeskFault, Stage, Unsupported
from practicum.vm_images.builder import GUEST_PATH
from practicum.vm_images.context import archive, folder_entries
from practicum.vm_images.layers import GUEST
from practicum.vm_images.recipe import digest_of

READY_SECONDS = 30.0
RESET_SECONDS = 600.0
_INSTALL = 'mkdir -p "$HOME/.cache/practicum/{0}" && tar -xf - -C "$HOME/.cache/practicum/{0}"'


class SshDesk(GuestDesk):
    """`GuestDesk` whose files go over SFTP."""

    def __init__(
        self, spec: DeskSpec, link: Link, connection: Connection, capabilities: frozenset[Capability]
    ) -> None:
        super().__init__(spec, link)
        self.capabilities = capabilities
        self._sftp = connection.sftp()

    def put(
        self, source: Path, target: PurePosixPath, *, account: Account = Account.AGENT, mode: int = 0o644
    ) -> None:
        if account is Account.HOUSE:
            raise Unsupported("there is no house on this machine")
        with ssh_errors(Stage.STAGING), _refused(Stage.STAGING, f"put {target}"):
            files.put(self._sftp, source, target, mode)

    def get(
        self, source: PurePosixPath, target: Path, *, max_bytes: int = 64 << 20, max_files: int = 10_000
    ) -> int:
        take = files.Take(self._sftp, max_bytes, max_files)
        with ssh_errors(Stage.COLLECT), _refused(Stage.COLLECT, f"get {source}"):
            take.take(source, target)
        return take.written

    def close(self) -> None:
        self._sftp.close()


@dataclass(frozen=True, slots=True)
class SshDesks:
    """Provider of the `hosts`, by default those that `ssh.toml` in the user's configuration names.

    A trial gets the first that is free, so they should be alike.
    """

    hosts: tuple[Host, ...] = field(default_factory=lambda: read(user_config_path("practicum") / "ssh.toml"))
    leases: Leases = field(default_factory=lambda: Leases(user_cache_path("practicum") / "ssh"))
    kind: str = "ssh"

    def capabilities(self, spec: DeskSpec) -> frozenset[Capability]:
        """Raises `Unsupported` for an allowlist: the network of an existing machine is not ours to rule."""
        if spec.network is Network.ALLOWLIST:
            raise Unsupported("the network of an existing machine is its own")
        found = {Capability.SCREEN, Capability.CLIPBOARD, Capability.DAMAGE}
        if all(host.accessible for host in self.hosts):
            found.add(Capability.ACCESSIBILITY)
        if all(host.reset for host in self.hosts):
            found.add(Capability.CHECKPOINT)
        return frozenset(found)

    def digest(self, spec: DeskSpec) -> str:
        """Of where and how they are reached: what is on them, nobody here can know."""
        shape = sha256(msgspec.json.encode((self.hosts, spec), order="sorted", enc_hook=str)).hexdigest()
        return f"{self.kind}:{digest_of(GUEST)[:16]}:{shape[:16]}"

    @contextmanager
    def open(self, spec: DeskSpec, label: Label) -> Iterator[Desk]:
        self.capabilities(spec)
        with self._leased(label) as lease, _connected(lease.host) as connection:
            self._reset(connection)
            link = self._start(connection, lease)
            try:
                desk = self._ready(spec, link, connection)
                try:
                    yield desk
                finally:
                    desk.close()
            finally:
                link.close()

    def held(self) -> tuple[Label, ...]:
        return self.leases.held(self.hosts)

    def reap(self, now: float, abandoned: Callable[[Label], bool] = lambda _: False) -> tuple[Label, ...]:
        """Take back leases that are over, abandoned or of a dead process; the machines stay."""
        return self.leases.take_back(self.hosts, now, abandoned)

    @contextmanager
    def _leased(self, label: Label) -> Iterator[Lease]:
        lease = self.leases.take(self.hosts, label)
        if lease is None:
            names = ", ".join(host.name for host in self.hosts)
            raise DeskFault(Stage.CREATE, f"{names}: taken by other trials")
        try:
            yield lease
        finally:
            lease.release()

    def _reset(self, connection: Connection) -> None:
        if connection.host.reset:
            code, out, err = connection.output(shlex.join(connection.host.reset), timeout=RESET_SECONDS)
            if code != 0:
                said = (out + err).decode("utf-8", "replace")
                raise DeskFault(Stage.CREATE, f"the reset command ended with {code}", logs=said)

    def _start(self, connection: Connection, lease: Lease) -> Link:
        """Lay down `handsd` where it is not yet, and talk to it."""
        version = f"handsd-{digest_of(GUEST)[:16]}"
        with archive(folder_entries(GUEST, GUEST_PATH.removeprefix("lib/"))) as packed:
            code, _, err = connection.output(_INSTALL.format(version), packed.read(), timeout=READY_SECONDS)
        if code != 0:
            raise DeskFault(Stage.START, "handsd cannot be laid down", logs=err.decode("utf-8", "replace"))
        return Link(connection.stream(_command(connection.host, version), lease.stands))

    def _ready(self, spec: DeskSpec, link: Link, connection: Connection) -> SshDesk:
        deadline = time.monotonic() + READY_SECONDS
        link.ask(Stage.START, "hello", bound=READY_SECONDS)
        desk = SshDesk(spec, link, connection, self.capabilities(spec))
        frame = desk.observe(Settle(bound=max(0.0, deadline - time.monotonic())))
        if (frame.width, frame.height) != (spec.width, spec.height):
            desk.close()
            seen, asked = f"{frame.width}×{frame.height}", f"{spec.width}×{spec.height}"
            raise DeskFault(Stage.DISPLAY, f"the screen is {seen}, not {asked}", frame=frame.png)
        return desk


def _command(host: Host, version: str) -> str:
    """Into the graphical session, with the libraries of that machine after our own program."""
    given = dict(host.environment)
    libraries = given.pop("PYTHONPATH", "")
    settings = [f"{name}={shlex.quote(value)}" for name, value in given.items()]
    settings.append(f'PYTHONPATH="$HOME/.cache/practicum/{version}":{shlex.quote(libraries)}')
    program = f"{shlex.quote(host.python)} -m practicum.vm_images.handsd {READY_SECONDS} alone"
    return f"cd && exec env {' '.join(settings)} {program}"


@contextmanager
def _connected(host: Host) -> Iterator[Connection]:
    connection = Connection(host)
    try:
        yield connection
    finally:
        connection.close()


@contextmanager
def _refused(stage: Stage, what: str) -> Iterator[None]:
    """What the machine's file system refuses; a file that is not there stays that while collecting."""
    try:
        yield
    except FileNotFoundError:
        if stage is Stage.COLLECT:
            raise
        raise DeskFault(stage, f"{what}: a folder vanished") from None
    except (OSError, paramiko.SFTPError) as error:
        raise DeskFault(stage, f"{what}: {error}") from error
