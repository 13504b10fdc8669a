"""Where the Docker engine is called: its errors become ours here, and its exec socket a byte stream."""

from __future__ import annotations

import socket
import struct
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import cast

import docker
import docker.errors
import docker.utils
import requests.exceptions

from practicum.infra.errors import DeskFault, EngineUnavailable, ImageMissing, Stage

_HEADER = struct.Struct(">BxxxI")
_STDERR = 2
_LOG_LINES = 200
_TIMEOUT = 60


@contextmanager
def engine_errors(stage: Stage, image: str = "") -> Iterator[None]:
    """Raises `ImageMissing`, `EngineUnavailable` or `DeskFault` for whatever the engine's client raises."""
    try:
        yield
    except docker.errors.ImageNotFound as error:
        raise ImageMissing(image) from error
    except docker.errors.APIError as error:
        raise DeskFault(stage, str(error.explanation or error)) from error
    except (docker.errors.DockerException, requests.exceptions.RequestException, OSError) as error:
        raise EngineUnavailable(f"no Docker engine answers: {error}", mend="practicum doctor") from error


def connect() -> docker.APIClient:
    """A client of the engine that the environment names. Raises `EngineUnavailable`."""
    with engine_errors(Stage.CREATE):
        return docker.APIClient(version="auto", timeout=_TIMEOUT, **docker.utils.kwargs_from_env())


class ExecStream:
    """Standard input and output of a process in a container (`infra.desk.wire.Transport`)."""

    def __init__(
        self, client: docker.APIClient, container: str, argv: list[str], env: dict[str, str]
    ) -> None:
        created = client.exec_create(container, argv, stdin=True, environment=env)
        self._raw = client.exec_start(created["Id"], socket=True)
        self._socket = cast(socket.socket, getattr(self._raw, "_sock", self._raw))
        self._socket.settimeout(None)
        self._file = self._socket.makefile("rb", buffering=1 << 18)
        self._held = bytearray()
        self._log: deque[str] = deque(maxlen=_LOG_LINES)

    def read(self, size: int) -> bytes:
        while len(self._held) < size:
            stream, length = _HEADER.unpack(self._exactly(_HEADER.size))
            piece = self._exactly(length)
            if stream == _STDERR:
                self._log.append(piece.decode("utf-8", "replace"))
            else:
                self._held += piece
        data = bytes(self._held[:size])
        del self._held[:size]
        return data

    def write(self, data: bytes) -> None:
        self._socket.sendall(data)

    def close(self) -> None:
        with suppress(OSError):  # the engine may have hung up before
            self._socket.shutdown(socket.SHUT_RDWR)
        self._file.close()
        self._raw.close()
        self._socket.close()

    def log(self) -> str:
        return "".join(self._log)

    def _exactly(self, size: int) -> bytes:
        data: bytes = self._file.read(size)
        if len(data) < size:
            raise EOFError
        return data


def logs(client: docker.APIClient, container: str) -> str:
    """The last lines of a container's own output; empty when there are none to be had."""
    try:
        text = client.logs(container, tail=_LOG_LINES)
    except (docker.errors.DockerException, requests.exceptions.RequestException):
        return ""
    return text.decode("utf-8", "replace")
