"""The channel to QEMU and to its guest agent, against servers that misbehave."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from practicum.infra.desk.vm.qmp import Channel, ChannelLost, CommandRefused

Answer = Callable[[dict, socket.socket], None]


@contextmanager
def server(folder: Path, answer: Answer, greeting: bytes = b"") -> Iterator[Path]:
    """One connection, each request handed to `answer`."""
    path = folder / "socket"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def serve() -> None:
            connection, _ = listener.accept()
            with connection, connection.makefile("rb") as lines:
                connection.sendall(greeting)
                for line in lines:
                    answer(json.loads(line), connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield path
        thread.join(5.0)


def reply(connection: socket.socket, **message: object) -> None:
    connection.sendall(json.dumps(message).encode() + b"\r\n")


@pytest.fixture
def channel(tmp_path: Path):
    """Opens a channel to a server that answers so."""

    @contextmanager
    def both(answer: Answer) -> Iterator[Channel]:
        with server(tmp_path, answer) as path:
            opened = Channel(path)
            yield opened
            opened.close()

    return both


def test_answers_find_their_question_among_events_and_late_answers(channel) -> None:
    """An event, an answer to something else and half a line of garbage come first."""

    def answer(request: dict, connection: socket.socket) -> None:
        connection.sendall(b'\xff{"half a li\n')
        reply(connection, event="RESUME", data={})
        reply(connection, id=999, **{"return": "late"})
        reply(connection, id=request["id"], **{"return": request["arguments"]})

    with channel(answer) as line:
        assert line.call("echo", some_word=1) == {"some-word": 1}
        assert [event["event"] for event in line.events] == ["RESUME"]


def test_a_refusal_is_typed(channel) -> None:
    """With the class that the other side gave it."""

    def answer(request: dict, connection: socket.socket) -> None:
        reply(connection, id=request["id"], error={"class": "CommandNotFound", "desc": "no such thing"})

    with channel(answer) as line, pytest.raises(CommandRefused) as raised:
        line.call("nothing")
    assert (raised.value.kind, raised.value.text) == ("CommandNotFound", "no such thing")


def test_silence_ends_at_its_time(channel) -> None:
    """And the answer that comes too late is not taken for the next one."""
    late = threading.Event()

    def answer(request: dict, connection: socket.socket) -> None:
        if request["execute"] == "slow":
            late.wait(5.0)
        reply(connection, id=request["id"], **{"return": request["execute"]})

    with channel(answer) as line:
        started = time.monotonic()
        with pytest.raises(ChannelLost, match="no answer in time"):
            line.call("slow", timeout=0.2)
        assert time.monotonic() - started < 2.0
        late.set()
        assert line.call("quick") == "quick"


def test_a_hang_up_is_said_at_once(channel) -> None:
    """Not at the time-out."""
    with channel(lambda _, connection: connection.shutdown(socket.SHUT_RDWR)) as line:
        started = time.monotonic()
        with pytest.raises(ChannelLost, match="hung up"):
            line.call("anything", timeout=30.0)
        assert time.monotonic() - started < 5.0


def test_a_dribble_does_not_keep_a_call_alive(channel) -> None:
    """A guest that sends a byte now and then is as lost as one that sends none."""
    stop = threading.Event()

    def answer(_: dict, connection: socket.socket) -> None:
        while not stop.wait(0.05):
            connection.sendall(b" ")

    with channel(answer) as line:
        with pytest.raises(ChannelLost, match="no answer in time"):
            line.call("anything", timeout=0.4)
        stop.set()


def test_nobody_listens(tmp_path: Path) -> None:
    """A machine that is gone is not waited for."""
    with pytest.raises(ChannelLost, match="socket"):
        Channel(tmp_path / "socket")
