"""Commands of the desk, each under a parent of its own that loses none of its descendants.

The spawner is forked before any thread exists. It forks one supervisor a command; a supervisor adopts
(as *child subreaper*, prctl(2)) whatever its command leaves behind, so that the whole tree can be killed at a
time-out, daemons included, and nothing is killed when the command ends by itself.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 36, 38
_MAX_REQUEST = 1 << 20
_NOT_FOUND, _NOT_EXECUTABLE = 127, 126

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a command is; `groups` are supplementary."""

    uid: int
    gid: int
    groups: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Order:
    """What to run. The environment is complete; a `cwd` that cannot be entered fails the command."""

    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: str
    identity: Identity


class Spawner:
    """The host side of the fork server."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        if os.fork() == 0:
            ours.close()
            _spawn_for_ever(theirs)
        theirs.close()
        self._socket = ours
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _MAX_REQUEST)

    def spawn(self, order: Order, stdin: int, stdout: int, stderr: int) -> tuple[int, int]:
        """Start a command on these descriptors: (status, control).

        `status` gives `exit N\\n` when the command ended and closes when its last descendant has. Closing
        `control` early does nothing; writing to it kills the tree.
        """
        status, status_end = os.pipe()
        control_end, control = os.pipe()
        body = json.dumps(asdict(order)).encode()
        try:
            handed, handed_end = os.pipe()
            with os.fdopen(handed_end, "wb") as body_pipe:
                fds = [handed, stdin, stdout, stderr, status_end, control_end]
                socket.send_fds(self._socket, [b"run"], fds)
                os.close(handed)
                body_pipe.write(body)
        finally:
            os.close(status_end)
            os.close(control_end)
        return status, control


def _spawn_for_ever(requests: socket.socket) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    while True:
        data, fds, _, _ = socket.recv_fds(requests, 16, 6)
        if not data:
            os._exit(0)
        if os.fork() == 0:
            requests.close()
            _supervise(*fds)
        for fd in fds:
            os.close(fd)


def _supervise(body: int, *fds: int) -> None:
    stdin, stdout, stderr, status, control = fds
    try:
        with os.fdopen(body, "rb") as pipe:
            order = json.load(pipe)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        wake, wake_end = os.pipe()
        os.set_blocking(wake_end, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake_end)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
        child = os.fork()
        if child == 0:
            _become(order, stdin, stdout, stderr)
        for fd in (stdin, stdout, stderr):
            os.close(fd)
        _attend(child, wake, status, control)
    finally:
        os._exit(0)


def _attend(child: int, wake: int, status: int, control: int) -> None:
    """Reap until nobody is left; kill them all when the control pipe says so."""
    watched = [wake, control]
    while True:
        for pid, code in _reaped():
            if pid == child:
                os.write(status, b"exit %d\n" % os.waitstatus_to_exitcode(code))
        if not _children():
            return
        ready, _, _ = select.select(watched, [], [])
        if wake in ready:
            os.read(wake, 4096)
        if control in ready:
            if os.read(control, 1):
                _kill_tree(child, status)
                return
            watched.remove(control)


def _reaped() -> Iterator[tuple[int, int]]:
    while True:
        try:
            pid, code = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        yield pid, code


def _kill_tree(child: int, status: int) -> None:
    """Kill our children; theirs become ours and are killed next, until none is left."""
    while children := _children():
        for pid in children:
            os.kill(pid, signal.SIGKILL)
        try:
            pid, code = os.waitpid(-1, 0)
        except ChildProcessError:
            return
        if pid == child:
            os.write(status, b"exit %d\n" % os.waitstatus_to_exitcode(code))


def _children() -> list[int]:
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:  # noqa: PTH123 - hot path
        return [int(pid) for pid in file.read().split()]


def _become(order: dict[str, object], stdin: int, stdout: int, stderr: int) -> None:
    """Turn into the command; whatever fails is told on its standard error, as a shell would."""
    argv = order["argv"]
    assert isinstance(argv, list)
    try:
        for target, fd in enumerate((stdin, stdout, stderr)):
            os.dup2(fd, target)
        os.closerange(3, 4096)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGPIPE, signal.SIGINT, signal.SIGCHLD, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        os.umask(0o022)
        _take(Identity(**order["identity"]))  # type: ignore[arg-type]  # made by asdict of an Identity
        os.chdir(str(order["cwd"]))
        os.execvpe(argv[0], argv, order["env"])  # type: ignore[arg-type]  # made by asdict of an Order
    except OSError as error:
        print(f"{argv[0]}: {error.strerror}", file=sys.stderr, flush=True)  # noqa: T201 - the command's own stderr
        os._exit(_NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_EXECUTABLE)
    finally:
        os._exit(_NOT_EXECUTABLE)


def _take(identity: Identity) -> None:
    _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if os.geteuid() == 0:  # otherwise nobody else can be meant
        os.setgroups(list(identity.groups))
    os.setresgid(identity.gid, identity.gid, identity.gid)
    os.setresuid(identity.uid, identity.uid, identity.uid)
