"""Where paramiko is called, and its errors become ours: verified hosts, exec channels, SFTP."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import paramiko

from practicum.infra.desk.ssh.host import Host, Trust
from practicum.infra.errors import DeskFault, DeskLost, Stage

CONNECT_SECONDS = 15.0
KEEPALIVE_SECONDS = 10
_LOG_LINES = 200


@contextmanager
def ssh_errors(stage: Stage, *, ready: bool = True) -> Iterator[None]:
    """Raises `DeskFault` for what paramiko raises; `DeskLost` where the machine had been `ready`."""
    kind = DeskLost if ready else DeskFault
    try:
        yield
    except paramiko.BadHostKeyException as error:
        raise DeskFault(stage, f"the host is not who it was: {error}") from error
    except paramiko.AuthenticationException as error:
        raise DeskFault(stage, f"the host does not let us in: {error}") from error
    except (paramiko.SSHException, EOFError) as error:
        raise kind(stage, f"SSH: {error}") from error


class Connection:
    """An open connection, through whatever stands in between."""

    def __init__(self, host: Host) -> None:
        self._clients: list[paramiko.SSHClient] = []
        self.host = host
        try:
            with ssh_errors(Stage.CREATE, ready=False), _network(host):
                self.client = self._open(host)
        except BaseException:
            self.close()
            raise

    def stream(self, command: str, held: Callable[[], bool]) -> ExecStream:
        """A program at the other end of an exec channel, spoken to as long as the machine is `held`."""
        with ssh_errors(Stage.START):
            channel = self._transport().open_session(timeout=CONNECT_SECONDS)
            channel.exec_command(command)
            return ExecStream(channel, held)

    def sftp(self) -> paramiko.SFTPClient:
        with ssh_errors(Stage.STAGING):
            return self.client.open_sftp()

    def output(self, command: str, stdin: bytes = b"", *, timeout: float) -> tuple[int, bytes, bytes]:
        """Exit code and output of a short command."""
        with ssh_errors(Stage.START), _silence(Stage.START, timeout):
            channel = self._transport().open_session(timeout=CONNECT_SECONDS)
            with channel:
                channel.settimeout(timeout)
                channel.exec_command(command)
                channel.sendall(stdin)
                channel.shutdown_write()
                out = channel.makefile("rb").read()
                err = channel.makefile_stderr("rb").read()
                return channel.recv_exit_status(), out, err

    def close(self) -> None:
        for client in reversed(self._clients):
            client.close()

    def _open(self, host: Host) -> paramiko.SSHClient:
        through: Any = None
        if host.jump is not None:
            jump = self._open(host.jump).get_transport()
            assert jump is not None, "connected"
            through = jump.open_channel(
                "direct-tcpip", (host.name, host.port), ("127.0.0.1", 0), timeout=CONNECT_SECONDS
            )
        client = paramiko.SSHClient()
        self._clients.append(client)
        _set_trust(client, host)
        client.connect(
            host.name,
            host.port,
            host.user,
            key_filename=str(host.key.expanduser()) if host.key else None,
            allow_agent=host.agent and host.key is None,
            look_for_keys=host.key is None,
            timeout=CONNECT_SECONDS,
            banner_timeout=CONNECT_SECONDS,
            auth_timeout=CONNECT_SECONDS,
            sock=through,
        )
        transport = client.get_transport()
        assert transport is not None, "connected"
        transport.set_keepalive(KEEPALIVE_SECONDS)
        return client

    def _transport(self) -> paramiko.Transport:
        transport = self.client.get_transport()
        if transport is None or not transport.is_active():
            raise paramiko.SSHException("the connection is gone")
        return transport


def _set_trust(client: paramiko.SSHClient, host: Host) -> None:
    file = host.known_hosts_file
    if host.trust is Trust.FIRST_USE:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.touch(mode=0o600)
        client.set_missing_host_key_policy(paramiko.AutoAddPolicy())
    else:
        client.set_missing_host_key_policy(paramiko.RejectPolicy())
    if file.is_file():
        client.load_host_keys(str(file))


class ExecStream:
    """Standard input and output of a remote program (`infra.desk.wire.Transport`)."""

    def __init__(self, channel: paramiko.Channel, held: Callable[[], bool]) -> None:
        self._channel = channel
        self._held = held
        self._file = channel.makefile("rb", 1 << 18)
        self._log: deque[str] = deque(maxlen=_LOG_LINES)
        self._listener = threading.Thread(target=self._listen, daemon=True, name="ssh-stderr")
        self._listener.start()

    def read(self, size: int) -> bytes:
        data: bytes = self._file.read(size)
        if len(data) < size:
            raise EOFError
        return data

    def write(self, data: bytes) -> None:
        if not self._held():
            raise ConnectionAbortedError("the machine was taken back")
        self._channel.sendall(data)

    def close(self) -> None:
        self._channel.close()
        self._listener.join()

    def log(self) -> str:
        return "".join(self._log)

    def _listen(self) -> None:
        with suppress(OSError):
            while piece := self._channel.recv_stderr(1 << 14):
                self._log.append(piece.decode("utf-8", "replace"))


@contextmanager
def _network(host: Host) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DeskFault(Stage.CREATE, f"{host.name}:{host.port} cannot be reached: {error}") from error


@contextmanager
def _silence(stage: Stage, seconds: float) -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise DeskLost(stage, f"no answer in {seconds:.0f} s") from error
