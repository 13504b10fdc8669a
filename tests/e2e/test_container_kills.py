"""The same kills with desks that are containers, and an engine that goes away."""

from __future__ import annotations

import os
import selectors
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import docker
import psutil
import pytest

from practicum.controller.store import Run
from practicum.infra.desk.container.provider import ContainerDesks

pytestmark = pytest.mark.docker

TASK = "computing/records"


def left_running(root: Path) -> set[str]:
    identity = Run.open(root).record().run
    return {label.trial for label in ContainerDesks().held() if label.run == identity}


def require_as_uninterrupted(root, probe, trials):
    counts = probe.counts(root)
    assert (counts.planned, counts.scored) == (trials, trials)
    passed = sorted(outcome[1] for outcome in probe.outcomes(root).values())
    assert passed == [False] * (trials // 2) + [True] * (trials // 2)
    assert probe.owners(root) == []
    assert left_running(root) == set()


def test_a_killed_controller_leaves_no_container_after_the_next(tmp_path, watch, probe):
    root = tmp_path / "run"
    first = watch(TASK, "--agent", "oracle,nop", "--seeds", "0-11", "--out", str(root))
    first.until("trial_ended", 9)
    workers = first.workers()
    first.kill()
    psutil.wait_procs(workers, timeout=10)
    before = probe.finished(root)
    second = watch("--resume", str(root))
    assert second.end() == 0
    assert {path: at for path, at in probe.finished(root).items() if path in before} == before
    require_as_uninterrupted(root, probe, 24)


def test_a_container_killed_under_a_trial_is_a_fault_and_tried_again(tmp_path, watch, probe):
    root = tmp_path / "run"
    run = watch(TASK, "--agent", "oracle,nop", "--seeds", "0-3", "--workers", "1", "--out", str(root))
    run.until("run_started")
    identity = run.events[0]["run"]
    client = docker.from_env()
    killed = 0
    for event in client.events(decode=True, filters={"event": "start", "label": f"practicum.run={identity}"}):
        client.containers.get(event["id"]).kill()
        killed += 1
        if killed == 2:
            break
    client.close()
    assert run.end() == 0
    faults = [event for event in run.events if event["event"] == "trial_ended" and event["again"]]
    assert len(faults) == killed
    assert {fault["summary"]["kind"] for fault in faults} == {"desk"}
    require_as_uninterrupted(root, probe, 8)


def test_interrupted_twice_no_container_stays(tmp_path, watch, probe):
    root = tmp_path / "run"
    run = watch(TASK, "--agent", "oracle", "--seeds", "0-5", "--out", str(root))
    run.until("trial_started", 2)
    for number in (1, 2):
        run.send(signal.SIGINT)
        run.until("draining", number)
    run.end()
    assert probe.counts(root).fault == 0
    assert left_running(root) == set()


class Door:
    """A Unix socket in front of the engine's; when it closes, the engine is gone for all who came through."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._engine = urlsplit(os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")).path
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._server: socket.socket | None = None

    def open(self) -> None:
        self.path.unlink(missing_ok=True)
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(self.path))
        self._server.listen()
        threading.Thread(target=self._accept, args=(self._server,), daemon=True).start()

    def close(self) -> None:
        """As the death of the daemon: every connection breaks, and no new one is taken."""
        if self._server is not None:
            with suppress(OSError):
                self._server.shutdown(socket.SHUT_RDWR)
            self._server.close()
            self._server = None
        for pair in self._pairs:
            for end in pair:
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
        self._pairs.clear()

    def _accept(self, server: socket.socket) -> None:
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            engine = socket.socket(socket.AF_UNIX)
            engine.connect(self._engine)
            self._pairs.append((client, engine))
            threading.Thread(target=_relay, args=(client, engine), daemon=True).start()


def _relay(client: socket.socket, engine: socket.socket) -> None:
    with client, engine, selectors.DefaultSelector() as ends:
        ends.register(client, selectors.EVENT_READ, engine)
        ends.register(engine, selectors.EVENT_READ, client)
        while True:
            for key, _ in ends.select():
                source, target = key.fileobj, key.data
                try:
                    data = source.recv(1 << 16)
                    if data:
                        target.sendall(data)
                        continue
                    target.shutdown(socket.SHUT_WR)
                    ends.unregister(source)
                except OSError:
                    return
                if not ends.get_map():
                    return


@pytest.fixture
def door(tmp_path, monkeypatch) -> Iterator[Door]:
    door = Door(tmp_path / "docker.sock")
    door.open()
    monkeypatch.setenv("DOCKER_HOST", f"unix://{door.path}")
    yield door
    door.close()


def test_an_engine_that_dies_in_the_middle_costs_faults_and_no_scores(tmp_path, watch, probe, door):
    root = tmp_path / "run"
    run = watch(TASK, "--agent", "oracle,nop", "--seeds", "0-5", "--out", str(root))
    run.until("trial_ended", 4)
    door.close()
    run.end()
    before = probe.finished(root)
    counts = probe.counts(root)
    assert counts.scored >= 4
    assert counts.fault >= 1
    assert counts.scored + counts.fault == 12
    scored = {key: outcome for key, outcome in probe.outcomes(root).items() if outcome[0] == "scored"}
    door.open()
    again = watch("--resume", str(root), "--retry", "faults")
    assert again.end() == 0
    after = probe.outcomes(root)
    assert {key: after[key] for key in scored} == scored
    assert len(before) == 12
    require_as_uninterrupted(root, probe, 12)
