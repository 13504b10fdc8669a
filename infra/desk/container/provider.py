"""Desks in containers of the Docker engine, one a trial.

What is closed: the network (there is none), every capability but those that changing users and serving
the desk's own files needs, new privileges, memory with swap, processor share, number of processes, and the
size of any one file. The size of all files together is closed only where the storage driver can
(overlay2 on XFS with project quotas); elsewhere it is not.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any, Protocol

import docker
import docker.errors
import msgspec

from practicum.infra.desk import ownership
from practicum.infra.desk.container import engine
from practicum.infra.desk.container.engine import ExecStream, engine_errors
from practicum.infra.desk.desk import Capability, Desk, DeskSpec, Label, Network, Settle
from practicum.infra.desk.guest import CAPABILITIES, GuestDesk
from practicum.infra.desk.wire import Link
from practicum.infra.errors import DeskFault, DeskLost, InfraError, Stage, Unsupported
from practicum.vm_images.builder import Images

READY_BOUND = 30.0
_KEPT_CAPABILITIES = ["SETUID", "SETGID", "KILL", "CHOWN", "DAC_OVERRIDE", "FOWNER"]
_LOG = {"max-size": "1m", "max-file": "1"}
_LIBRARY = "/opt/practicum"
_HANDSD = ["python3", "-m", "practicum.vm_images.handsd"]


class ImageSource(Protocol):
    """Names images: the engine's tag of one, and its identity."""

    def reference(self, name: str) -> str: ...

    def digest(self, name: str) -> str: ...


@dataclass
class ContainerDesks:
    """Provider of container desks. Raises `EngineUnavailable` when first used without an engine.

    A desk has `ready_bound` seconds for each stage of coming up.
    """

    images: ImageSource = field(default_factory=Images)
    ready_bound: float = READY_BOUND
    kind: str = "container"

    @cached_property
    def client(self) -> docker.APIClient:
        client = engine.connect()
        weakref.finalize(self, client.close)
        return client

    def capabilities(self, spec: DeskSpec) -> frozenset[Capability]:
        """Raises `Unsupported` for a network that containers are not given."""
        if spec.network is Network.ALLOWLIST:
            raise Unsupported("container desks have no network beyond their own loopback")
        return CAPABILITIES

    def digest(self, spec: DeskSpec) -> str:
        shape = sha256(msgspec.json.encode(spec, order="sorted")).hexdigest()
        return f"{self.kind}:{self.images.digest(spec.image)[:16]}:{shape[:16]}"

    def require(self, spec: DeskSpec) -> None:
        """Raises `EngineUnavailable` or `ImageMissing` when no desk of this spec could be opened now."""
        with engine_errors(Stage.CREATE, spec.image):
            inspect: Any = self.client.inspect_image  # the stubs do not type it
            inspect(self.images.reference(spec.image))

    @contextmanager
    def open(self, spec: DeskSpec, label: Label) -> Iterator[Desk]:
        machine = self.start(spec, label)
        try:
            yield machine.desk
        except DeskLost as lost:
            raise machine.explained(lost) from lost
        finally:
            machine.close()

    def start(self, spec: DeskSpec, label: Label) -> Machine:
        """A ready machine, which the caller closes. Whatever was begun is gone when it raises."""
        self.capabilities(spec)
        machine = Machine(self.client, spec, self._create(spec, label), self.ready_bound)
        try:
            machine.boot()
        except DeskFault as fault:
            explained = machine.explained(fault)
            machine.close()
            raise explained from fault
        except BaseException:
            machine.close()
            raise
        return machine

    def held(self) -> tuple[Label, ...]:
        return tuple(machine.label for machine in self._ours())

    def reap(self, now: float, abandoned: Callable[[Label], bool] = lambda _: False) -> tuple[Label, ...]:
        """Also takes away what a dead process of this machine left."""
        over = [
            machine
            for machine in self._ours()
            if machine.orphan or machine.label.deadline < now or abandoned(machine.label)
        ]
        for machine in over:
            remove(self.client, machine.id)
        return tuple(machine.label for machine in over)

    def _ours(self) -> list[ownership.Held]:
        with engine_errors(Stage.CLOSE):
            found = self.client.containers(all=True, filters={"label": ownership.TRIAL})
        return [ownership.held(item["Id"], item["Names"], item["Labels"]) for item in found]

    def _create(self, spec: DeskSpec, label: Label) -> str:
        with engine_errors(Stage.CREATE, spec.image):
            created = self.client.create_container(
                self.images.reference(spec.image),
                name=ownership.name(label.deadline),
                hostname="desk",
                environment=_environment(spec),
                labels=ownership.labels(label),
                host_config=self.client.create_host_config(**self._limits(spec)),
            )
        return str(created["Id"])

    def _limits(self, spec: DeskSpec) -> dict[str, Any]:
        limits: dict[str, Any] = {
            "init": True,
            "network_mode": "none",
            "cap_drop": ["ALL"],
            "cap_add": _KEPT_CAPABILITIES,
            "security_opt": ["no-new-privileges"],
            "mem_limit": f"{spec.memory}m",
            "memswap_limit": f"{spec.memory}m",
            "nano_cpus": int(spec.cpus * 1e9),
            "pids_limit": spec.pids,
            "shm_size": f"{min(512, spec.memory // 4)}m",
            "ulimits": [docker.types.Ulimit(name="fsize", soft=spec.disk << 20, hard=spec.disk << 20)],
            "log_config": docker.types.LogConfig(type="json-file", config=_LOG),
        }
        if self._quotas:
            limits["storage_opt"] = {"size": f"{spec.disk}m"}
        return limits

    @cached_property
    def _quotas(self) -> bool:
        """Whether the storage driver can bound a container's files together."""
        with engine_errors(Stage.CREATE):
            info = self.client.info()
        backing = dict(info.get("DriverStatus") or [])
        return info.get("Driver") in {"btrfs", "zfs"} or backing.get("Supports project quotas") == "true"


class Machine:
    """One container and the line to the program inside."""

    def __init__(self, client: docker.APIClient, spec: DeskSpec, container: str, bound: float) -> None:
        self._client = client
        self._spec = spec
        self._bound = bound
        self._link: Link | None = None
        self.container = container

    @property
    def desk(self) -> GuestDesk:
        if self._link is None:
            raise DeskFault(Stage.START, "the desk was not booted")
        return GuestDesk(self._spec, self._link)

    def boot(self) -> None:
        """Raises `DeskFault` with the stage it came to."""
        with engine_errors(Stage.START):
            self._client.start(self.container)
        self._link = Link(self.connect())
        self._link.ask(Stage.START, "hello", bound=self._bound)
        self._link.ask(Stage.DISPLAY, "ready", bound=self._bound)

    def connect(self) -> ExecStream:
        """A line to a program of its own inside."""
        with engine_errors(Stage.START):
            argv = [*_HANDSD, str(self._bound)]
            return ExecStream(self._client, self.container, argv, {"PYTHONPATH": _LIBRARY})

    def lease(self, label: Label) -> None:
        """Labels cannot change, names can: the deadline moves into the name. Raises `DeskLost`."""
        if self._link is None:
            raise DeskLost(Stage.START, "the desk was not booted")
        self._link.ask(Stage.READY, "hello", bound=1.0)
        with engine_errors(Stage.READY):
            self._client.rename(self.container, ownership.name(label.deadline))

    def explained(self, fault: DeskFault) -> DeskFault:
        """The same fault with what the machine said, and its last picture if it still gives one."""
        log = "\n".join(filter(None, (fault.logs, engine.logs(self._client, self.container))))
        frame = fault.frame
        if self._link is not None and not isinstance(fault, DeskLost):
            with suppress(InfraError):
                frame = self.desk.observe(Settle(0.0, 0.0)).png
        return type(fault)(fault.stage, fault.message, logs=log, frame=frame)

    def close(self) -> None:
        try:
            if self._link is not None:
                self._link.close()
        finally:
            remove(self._client, self.container)


def remove(client: docker.APIClient, container: str) -> None:
    """Gone with its volumes, by whoever was first."""
    with engine_errors(Stage.CLOSE), suppress(docker.errors.NotFound):
        client.remove_container(container, force=True, v=True)


def _environment(spec: DeskSpec) -> dict[str, str]:
    return {
        "WIDTH": str(spec.width),
        "HEIGHT": str(spec.height),
        "KEYBOARD": spec.keyboard,
        "LANG": spec.locale,
        "TZ": spec.timezone,
    }
