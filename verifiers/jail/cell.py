"""The walls: one process under bubblewrap, watched from outside until it ends or is ended."""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import psutil

import practicum
from practicum.verifiers.errors import JailUnavailable
from practicum.verifiers.jail import walls
from practicum.verifiers.jail.limits import JailLimits, Resource
from practicum.verifiers.jail.protocol import OUTPUTS, READY, REFERENCE, Request

_MEND_NAMESPACES = (
    "sysctl -w kernel.unprivileged_userns_clone=1, or run as root outside a restricted container"
)
_WATCH_SECONDS = 0.1
_IDLE_SHARE = 0.1
_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",
    "TMPDIR": "/tmp",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
"""One thread and one hash seed: the same files give the same digits wherever they are graded."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How the process inside ended: what it reported and printed, and what cut it short if anything did."""

    report: bytes
    logs: str
    status: int
    cut: Resource | None = None
    idle: bool = False
    """Wall time ran out while the processor was hardly used: a hang or a starved machine, not hard work."""


def run(
    request: Request, outputs: Path, reference: Path, limits: JailLimits, search_path: tuple[Path, ...]
) -> Ended:
    """Raises `JailUnavailable` where bubblewrap is missing or may not make namespaces."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise JailUnavailable("bubblewrap is not installed", mend=walls.MEND)
    receive, send = os.pipe()
    try:
        argv = [bwrap, *_walls(outputs, reference, limits, search_path), *_python(send)]
        with _started(argv, send) as process:
            os.close(send)
            send = -1
            ended = _Watch(process, receive, limits).until_end(msgspec.json.encode(request))
    finally:
        os.close(receive)
        if send >= 0:
            os.close(send)
    if not ended.report.startswith(READY):
        raise JailUnavailable(
            f"bubblewrap could not start: {ended.logs.strip()[-500:]}", mend=_MEND_NAMESPACES
        )
    return ended


def _walls(outputs: Path, reference: Path, limits: JailLimits, search_path: tuple[Path, ...]) -> list[str]:
    argv = [*walls.base(_ENVIRONMENT | {"PYTHONPATH": str(_package().parent)}), "--hostname", "jail"]
    argv += ["--proc", "/proc", "--size", str(limits.scratch), "--tmpfs", "/tmp"]
    for path in _python_paths() + sorted(item.resolve() for item in search_path):
        argv += ["--ro-bind", str(path), str(path)]
    argv += ["--ro-bind", str(outputs.resolve()), OUTPUTS, "--ro-bind", str(reference.resolve()), REFERENCE]
    return [*argv, *walls.SEAL]


def _python(report_fd: int) -> list[str]:
    return [sys.executable, "-s", "-P", "-m", "practicum.verifiers.jail.child", str(report_fd)]


def _package() -> Path:
    return Path(practicum.__file__).resolve().parent


def _python_paths() -> list[Path]:
    """The interpreter, its packages, and the rooms, which a checkout reaches through links."""
    wanted = {
        Path(sys.prefix),
        Path(sys.base_prefix),
        Path(sys.executable).resolve().parent.parent,
        _package(),
    }
    wanted |= {entry.resolve() for entry in _package().iterdir() if entry.is_symlink()}
    return sorted(path for path in wanted if not path.is_relative_to("/usr"))


@contextmanager
def _started(argv: list[str], report_fd: int) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=(report_fd,),
        start_new_session=True,
        env={},
    )
    try:
        with process:
            try:
                yield process
            finally:
                process.kill()
    finally:
        process.wait()


@dataclass(slots=True)
class _Watch:
    process: subprocess.Popen[bytes]
    receive: int
    limits: JailLimits
    report: bytearray = field(default_factory=bytearray)
    logs: bytearray = field(default_factory=bytearray)

    def until_end(self, request: bytes) -> Ended:
        cut, idle = self._pump(request), False
        if cut is not None:
            idle = cut is Resource.WALL_TIME and self._cpu_seconds() < _IDLE_SHARE * self.limits.wall_seconds
            self.process.kill()
        status = self.process.wait()
        return Ended(bytes(self.report), self.logs.decode(errors="replace"), status, cut, idle)

    def _pump(self, request: bytes) -> Resource | None:
        """Feed and drain until both pipes close. The reason to stop early, or None."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        with suppress(BrokenPipeError), stdin:
            stdin.write(request)
        deadline, next_look = time.monotonic() + self.limits.wall_seconds, 0.0
        with selectors.DefaultSelector() as selector:
            selector.register(self.receive, selectors.EVENT_READ, self._take_report)
            selector.register(stdout.fileno(), selectors.EVENT_READ, self._take_log)
            while selector.get_map():
                for key, _ in selector.select(_WATCH_SECONDS):
                    if not key.data(os.read(key.fd, 1 << 16)):
                        selector.unregister(key.fd)
                if time.monotonic() > deadline:
                    return Resource.WALL_TIME
                if len(self.report) > self.limits.verdict_bytes:
                    return Resource.VERDICT_SIZE
                if time.monotonic() > next_look and (overrun := self._overrun()):
                    return overrun
                next_look = time.monotonic() + _WATCH_SECONDS
        return None

    def _take_report(self, data: bytes) -> bool:
        self.report += data
        return bool(data)

    def _take_log(self, data: bytes) -> bool:
        self.logs += data[: max(0, self.limits.log_bytes - len(self.logs))]
        return bool(data)

    def _overrun(self) -> Resource | None:
        tree = self._tree()
        if len(tree) > self.limits.processes + 2:
            return Resource.PROCESSES
        resident = 0
        for process in tree:
            with suppress(psutil.Error):
                resident += process.memory_info().rss
        return Resource.MEMORY if resident > self.limits.memory else None

    def _cpu_seconds(self) -> float:
        total = 0.0
        for process in self._tree():
            with suppress(psutil.Error):
                times = process.cpu_times()
                total += times.user + times.system + times.children_user + times.children_system
        return total

    def _tree(self) -> list[psutil.Process]:
        try:
            return psutil.Process(self.process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []


def signal_name(status: int) -> str | None:
    """bubblewrap passes on a death by signal as 128 + n."""
    if status <= 128 or status - 128 not in set(signal.Signals):
        return None
    return signal.Signals(status - 128).name
