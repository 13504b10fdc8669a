"""Real commands for the fake desk: one bubblewrap sandbox, entered for each command.

No network, the host's programs read-only, and nothing writable but the desk's own home and a private /tmp.
Killing the sandbox's first process ends everything in it, which is what freezing a desk means here.
"""

from __future__ import annotations

import json
import os
import secrets
import select
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import IO, cast

import psutil

from practicum.infra.desk.capture import BoundedOutput
from practicum.infra.desk.desk import Account, Completed
from practicum.infra.errors import DeskFault, EngineUnavailable, Stage, Unsupported

AGENT_UID = 1000
_SHARED = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/alternatives", "/etc/fonts", "/etc/ld.so.cache")
_HOUSE_CAPABILITIES = ("chown", "dac_override", "fowner", "setgid", "setuid")
_START_TIMEOUT = 10.0
_PIPE_GRACE = 0.2
"""Seconds to wait for pipes that a background child keeps open after its command has ended."""


class Sandbox:
    """Holds `home` (seen inside as /home/agent) and `house` (seen as /house, closed to the agent)."""

    def __init__(self, home: Path, house: Path) -> None:
        self._root = os.geteuid() == 0
        read_end, write_end = os.pipe()
        self._init = subprocess.Popen(
            _bwrap(home, house, write_end, keep_root=self._root),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(write_end,),
            start_new_session=True,
        )
        os.close(write_end)
        try:
            self._pid = self._first_process(read_end)
        finally:
            os.close(read_end)

    def run(
        self,
        argv: Sequence[str],
        *,
        account: Account,
        stdin: bytes,
        env: Mapping[str, str],
        cwd: PurePosixPath,
        timeout: float,
        cap: int,
    ) -> Completed:
        """One command to its end or its timeout. Raises `Unsupported`, and `DeskFault` once closed."""
        started = time.monotonic()
        mark = f"PRACTICUM_COMMAND={secrets.token_hex(8)}"
        process = subprocess.Popen(
            [*self._enter(account), "env", "-i", f"--chdir={cwd}", mark, *_assignments(env), *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        out = BoundedOutput(cast(IO[bytes], process.stdout), cap)
        err = BoundedOutput(cast(IO[bytes], process.stderr), cap)
        pipe = cast(IO[bytes], process.stdin)
        feeder = threading.Thread(target=_feed, args=(pipe, stdin), daemon=True)
        feeder.start()
        timed_out = not _wait(process, timeout, mark)
        feeder.join(_PIPE_GRACE)
        stdout, stderr = out.result(_PIPE_GRACE), err.result(_PIPE_GRACE)
        return Completed(
            exit_code=process.returncode,
            stdout=stdout,
            stderr=stderr,
            seconds=time.monotonic() - started,
            timed_out=timed_out,
            truncated=out.truncated or err.truncated,
        )

    @property
    def alive(self) -> bool:
        return self._init.poll() is None

    def close(self) -> None:
        if self.alive:
            os.killpg(self._init.pid, signal.SIGKILL)
        self._init.communicate()

    def _first_process(self, read_end: int) -> int:
        """Its pid, once its mounts are made: bubblewrap reports the pid before it makes them."""
        stdout = cast(IO[bytes], self._init.stdout)
        if select.select([stdout], [], [], _START_TIMEOUT)[0] and stdout.readline() == b"ready\n":
            return int(json.loads(os.read(read_end, 4096))["child-pid"])
        if self.alive:
            os.killpg(self._init.pid, signal.SIGKILL)
        error = self._init.communicate()[1]
        raise DeskFault(Stage.CREATE, "bubblewrap did not start", logs=error.decode("utf-8", "replace"))

    def _enter(self, account: Account) -> list[str]:
        if not self.alive:
            raise DeskFault(Stage.WORK, "the sandbox is gone")
        enter = ["nsenter", f"--target={self._pid}", "--mount", "--pid", "--net", "--ipc", "--uts"]
        if not self._root:
            if account is Account.HOUSE:
                raise Unsupported("a fake desk opened without root has no house account")
            return [*enter, "--user", "--preserve-credentials"]
        if account is Account.HOUSE:
            kept = f"--bounding-set=-all,{','.join(f'+{name}' for name in _HOUSE_CAPABILITIES)}"
            return [*enter, "setpriv", kept, "--no-new-privs"]
        drop = [f"--reuid={AGENT_UID}", f"--regid={AGENT_UID}", "--clear-groups", "--bounding-set=-all"]
        return [*enter, "setpriv", *drop, "--inh-caps=-all", "--no-new-privs"]


def _bwrap(home: Path, house: Path, info_fd: int, *, keep_root: bool) -> list[str]:
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise EngineUnavailable("bubblewrap is missing", mend="apt-get install bubblewrap")
    shared = [word for path in _SHARED for word in ("--ro-bind-try", path, path)]
    unshared = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    return [
        *(bwrap, "--die-with-parent", "--info-fd", str(info_fd), *unshared),
        *(() if keep_root else ("--unshare-user", "--uid", str(AGENT_UID), "--gid", str(AGENT_UID))),
        *(*shared, "--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/tmp"),
        *("--perms", "0755", "--dir", "/home"),
        *("--bind", str(home), "/home/agent", "--bind", str(house), "/house"),
        *("sh", "-c", "echo ready; exec sleep infinity"),
    ]


def _assignments(env: Mapping[str, str]) -> list[str]:
    base = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/agent", "USER": "agent"}
    return [f"{name}={value}" for name, value in {**base, **env}.items()]


def _kill_marked(mark: str) -> None:
    """Kill all that carry the command's mark in their environment, until nobody is left to make more."""
    name, _, value = mark.partition("=")
    while family := [
        process for process in psutil.process_iter() if _environment(process).get(name) == value
    ]:
        for process in family:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(family, timeout=1.0)


def _environment(process: psutil.Process) -> dict[str, str]:
    try:
        return process.environ() if process.status() != psutil.STATUS_ZOMBIE else {}
    except (psutil.NoSuchProcess, psutil.AccessDenied, OSError):
        return {}


def _wait(process: subprocess.Popen[bytes], timeout: float, mark: str) -> bool:
    """True when it ended by itself; otherwise its tree is killed and reaped."""
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        _kill_marked(mark)
        process.kill()
        process.wait()
        return False
    return True


def _feed(pipe: IO[bytes], data: bytes) -> None:
    try:
        with pipe:
            pipe.write(data)
    except BrokenPipeError:
        return  # a command may end without reading what it was given
