from __future__ import annotations

import io
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import docker
import pytest
from hypothesis import HealthCheck, settings

from practicum.infra.desk.ssh.host import Host
from practicum.vm_images.builder import Images
from practicum.vm_images.engine import Engine

# A slow machine is no failure of a property.
settings.register_profile("practicum", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("practicum")

_SSHD = b"""
ARG PARENT
FROM ${PARENT}
RUN apt-get update -q && apt-get install -qy --no-install-recommends openssh-server \\
 && mkdir -p /run/sshd && usermod -p '*' agent
"""
_LET_IN = """
install -d -o agent -m 700 ~agent/.ssh && cd ~agent/.ssh
ssh-keygen -q -t ed25519 -N "" -f key && mv key.pub authorized_keys && chown agent authorized_keys
cat key && rm key
"""


@pytest.fixture(scope="session")
def ssh_hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Host, ...]]:
    """An existing machine with a real OpenSSH server, under three names: ports of the loopback.

    It is a desk image without a network; each connection is a server of its own, at the end of `docker exec`.
    """
    folder = tmp_path_factory.mktemp("ssh")
    environment = {
        "DISPLAY": ":0",
        "XAUTHORITY": "/run/desk/xauth",
        "XDG_RUNTIME_DIR": "/run/user/1000",
        "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/user/1000/bus",
        "PYTHONPATH": "/opt/practicum",
    }
    with ExitStack() as stack:
        container = stack.enter_context(_machine())
        (folder / "key").write_text(_in(container, "sh", "-c", _LET_IN))
        ports = [stack.enter_context(_door(container)) for _ in range(3)]
        public = " ".join(_in(container, "cat", "/etc/ssh/ssh_host_ed25519_key.pub").split()[:2])
        (folder / "known_hosts").write_text("".join(f"[127.0.0.1]:{port} {public}\n" for port in ports))
        host = Host(
            "127.0.0.1",
            "agent",
            key=folder / "key",
            known_hosts=folder / "known_hosts",
            environment=environment,
            accessible=True,
        )
        yield tuple(replace(host, port=port) for port in ports)


@pytest.fixture(scope="session")
def ssh_host(ssh_hosts: tuple[Host, ...]) -> Host:
    return ssh_hosts[0]


@contextmanager
def _machine() -> Iterator[str]:
    client = docker.from_env(timeout=300)
    images = Images()
    images.build(["base"], Engine.connect())
    parent = images.reference("base")
    tag = f"practicum-test/sshd:{parent.rpartition(':')[2]}"
    client.images.build(fileobj=io.BytesIO(_SSHD), tag=tag, buildargs={"PARENT": parent}, network_mode="host")
    size = {"WIDTH": "1024", "HEIGHT": "640"}
    container = client.containers.run(tag, detach=True, init=True, network_mode="none", environment=size)
    try:
        yield container.id
    finally:
        container.remove(force=True, v=True)
        client.close()


def _in(container: str, *argv: str) -> str:
    command = ["docker", "exec", container, *argv]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


@contextmanager
def _door(container: str) -> Iterator[int]:
    """A port whose every connection is one server in the container."""
    servers: list[subprocess.Popen[bytes]] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                argv = ["docker", "exec", "-i", container, "/usr/sbin/sshd", "-i", "-o", "UsePAM=no"]
                servers.append(
                    subprocess.Popen(argv, stdin=connection, stdout=connection, stderr=subprocess.DEVNULL)
                )

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
        for server in servers:
            server.kill()
            server.wait()
