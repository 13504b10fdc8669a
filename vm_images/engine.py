"""The Docker engine as the builder needs it, over the `docker` package.

This is the seam where that package's errors become ours. Builds go through the engine's own builder, whose
stream of lines needs no client program and is the same on every engine version.
"""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

import docker
import requests
from docker.errors import APIError, DockerException, ImageNotFound

from practicum.vm_images.errors import EngineMissing, ImageError

Lines = Callable[[str], None]
"""Is told each line of a log as it comes."""

LOCAL_ENGINE = "unix:///var/run/docker.sock"
_SILENCE_SECONDS = 600
PULL_SECONDS = 8
"""How long a registry may be silent before it counts as out of reach."""


class StepFailed(ImageError):
    """The engine refused a build step or an import; the log said why."""


class Stopped(ImageError):
    """The build was asked to stop."""


@dataclass(frozen=True, slots=True)
class Built:
    """An image as the engine holds it; `size` in bytes."""

    id: str
    size: int
    tags: tuple[str, ...]
    labels: Mapping[str, str] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Host:
    """What the engine says of itself and of the limits its kernel gives."""

    version: str
    cgroups: str
    memory_limit: bool
    cpu_limit: bool
    pids_limit: bool


@contextmanager
def _seam() -> Iterator[None]:
    try:
        yield
    except APIError as error:
        raise StepFailed(str(error.explanation or error)) from error
    except (DockerException, requests.RequestException) as error:
        raise EngineMissing(_root_cause(error)) from error


class Engine:
    """One connection, closed by its `with` block; threads may share it."""

    def __init__(self, client: docker.DockerClient) -> None:
        self._client = client

    @classmethod
    def connect(cls) -> Engine:
        """The engine the environment names (`DOCKER_HOST`), else the local one. Raises `EngineMissing`."""
        _knock(os.environ.get("DOCKER_HOST") or LOCAL_ENGINE)
        with _seam():
            return cls(docker.from_env(timeout=_SILENCE_SECONDS))

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._client.close()

    def host(self) -> Host:
        with _seam():
            info = self._client.info()
        return Host(
            version=str(info.get("ServerVersion", "")),
            cgroups=str(info.get("CgroupVersion", "1")),
            memory_limit=bool(info.get("MemoryLimit")),
            cpu_limit=bool(info.get("CpuCfsQuota")),
            pids_limit=bool(info.get("PidsLimit")),
        )

    def find(self, tag: str) -> Built | None:
        with _seam():
            try:
                return _built(self._client.images.get(tag))
            except ImageNotFound:
                return None

    def labelled(self, label: str) -> tuple[Built, ...]:
        """Every tagged image that carries the label."""
        with _seam():
            return tuple(_built(image) for image in self._client.images.list(filters={"label": label}))

    def pull(self, repository: str, tag: str) -> bool:
        """Whether a registry gave the image; False where none answers in time."""
        try:
            with closing(docker.from_env(timeout=PULL_SECONDS)) as impatient:
                for line in impatient.api.pull(repository, tag, stream=True, decode=True):
                    if "error" in line:
                        return False
        except (APIError, requests.RequestException):
            return False
        return self.find(f"{repository}:{tag}") is not None

    def load_root(self, archive: Path, repository: str, tag: str) -> None:
        """Make an image whose only layer is the root file system in a tar archive."""
        with _seam():
            self._client.api.import_image_from_file(str(archive), repository=repository, tag=tag)

    def build(
        self,
        context: IO[bytes],
        tag: str,
        *,
        arguments: Mapping[str, str],
        labels: Mapping[str, str],
        lines: Lines,
        stop: threading.Event,
    ) -> None:
        """Build a tar context on the host's network. Raises `StepFailed`, or `Stopped` once `stop` is set."""
        question = {
            "t": tag,
            "buildargs": json.dumps(dict(arguments)),
            "labels": json.dumps(dict(labels)),
            "networkmode": "host",
            "rm": "true",
            "forcerm": "true",
        }
        with _seam(), self._post("/build", question, context) as answer:
            for line in answer.iter_lines():
                if stop.is_set():
                    raise Stopped(f"{tag}: stopped")
                if line:
                    _pass_on(json.loads(line), lines)

    @contextmanager
    def _post(self, path: str, question: Mapping[str, str], body: IO[bytes]) -> Iterator[requests.Response]:
        """The package's own streams stay open when they are left early, and the engine then builds on; an
        answer that is closed makes it stop."""
        api = self._client.api
        with api.post(
            f"{api.base_url}/v{api.api_version}{path}",
            params=question,
            data=body,
            headers={"Content-Type": "application/x-tar"},
            stream=True,
            timeout=_SILENCE_SECONDS,
        ) as answer:
            if not answer.ok:
                raise StepFailed(answer.text.strip())
            yield answer

    def output(self, tag: str, argv: Sequence[str]) -> str:
        """What a command prints in a fresh container without network."""
        with _seam():
            raw: bytes = self._client.containers.run(tag, list(argv), network_mode="none", remove=True)
        return raw.decode()

    def remove(self, tag: str) -> bool:
        """False where a container still uses the image, and it therefore stays."""
        with _seam():
            try:
                self._client.images.remove(tag)
            except APIError as error:
                if error.status_code == requests.codes.conflict:
                    return False
                raise
        return True


def _knock(host: str) -> None:
    """The package drops a local socket that it cannot connect without closing it, so this one tries first."""
    if not host.startswith("unix://"):
        return
    path = urlsplit(host).path
    with socket.socket(socket.AF_UNIX) as door:
        door.settimeout(PULL_SECONDS)
        try:
            door.connect(path)
        except OSError as error:
            raise EngineMissing(f"{path}: {error.strerror or error}") from error


def _pass_on(event: Mapping[str, Any], lines: Lines) -> None:
    if "error" in event:
        lines(str(event["error"]))
        raise StepFailed(str(event["error"]))
    for line in str(event.get("stream", "")).splitlines():
        if line.strip():
            lines(line.rstrip())


def _built(image: Any) -> Built:
    return Built(image.id, image.attrs["Size"], tuple(image.tags), image.labels)


def _root_cause(error: BaseException) -> str:
    """The innermost reason: the package wraps "permission denied" in three layers of its own."""
    while error.__context__ is not None:
        error = error.__context__
    return str(error.args[-1] if error.args else error)
