"""One step of an agent on a desk, beside the same step through other tools.

    python tests/bench/step.py [--image TAG] [--repeats N] [--json] [--others]

On one 1280×800 desk, with a quiet and with a busy screen (a window of noise, repainted all the time): click →
settled frame on the host, screenshot alone, typing 20 characters, `bash -c true`. Seconds are of the host.
`--others` also runs the peers in a container made of the same image with their packages added; that needs a
network for apt and pip. A peer does not wait for the screen to settle, so its click is a click and a picture.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path, PurePosixPath

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from practicum.infra.desk.actions import Click, Move, Point, TypeText
from practicum.infra.desk.container import ContainerDesks
from practicum.infra.desk.desk import Desk, DeskSpec, Label, Settle
from practicum.vm_images.builder import Images

TEXT = "The quick brown fox."
PLACES = cycle([Point(300, 300), Point(700, 500), Point(420, 640)])
NOW = Settle(quiet=0.0, bound=0.0)
BUSY = Settle(quiet=0.05, bound=0.1)
NOISE = """
import os, gi
gi.require_version("Gdk", "3.0"); gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, GdkPixbuf, GLib, Gtk
image = Gtk.Image()
def noise():
    data = GLib.Bytes.new(os.urandom(3 * 1200 * 640))
    return GdkPixbuf.Pixbuf.new_from_bytes(data, GdkPixbuf.Colorspace.RGB, False, 8, 1200, 640, 3600)
frames = [noise() for _ in range(4)]
state = [0]
def tick():
    state[0] += 1
    image.set_from_pixbuf(frames[state[0] % 4])
    return True
window = Gtk.Window(); window.add(image); window.show_all(); GLib.timeout_add(33, tick); Gtk.main()
"""
PYAUTOGUI = "import pyautogui; pyautogui.PAUSE = 0; "
RECIPE = """
FROM {base}
RUN apt-get update -q \\
 && apt-get install -qy --no-install-recommends xdotool scrot gnome-screenshot python3-tk python3-venv
COPY wheels /wheels
RUN for peer in peers cua; do \\
      python3 -m venv /opt/$peer; \\
      /opt/$peer/bin/pip install -q --no-index --find-links /wheels/$peer /wheels/$peer/*.whl; \\
    done
"""
WHEELS = {"peers": ["pyautogui", "pillow"], "cua": ["fastapi<0.116", "cua-computer-server"]}


@dataclass(frozen=True, slots=True)
class Measured:
    """Milliseconds."""

    median: float
    min: float
    max: float
    unit: str = "ms"


@dataclass(frozen=True, slots=True)
class Step:
    """`before` is not timed: it changes the picture, so that no answer is the memory of the last one."""

    run: Callable[[], object]
    before: Callable[[], object] = lambda: None


def measure(step: Step, repeats: int) -> Measured:
    step.run()
    times = []
    for _ in range(repeats):
        step.before()
        started = time.perf_counter()
        step.run()
        times.append(1000 * (time.perf_counter() - started))
    return Measured(statistics.median(times), min(times), max(times))


def our_steps(desk: Desk, *, busy: bool) -> dict[str, Step]:
    settle = BUSY if busy else Settle()
    return {
        "click → settled frame": Step(lambda: (desk.act(Click(next(PLACES))), desk.observe(settle))),
        "screenshot": Step(lambda: desk.observe(NOW), before=lambda: desk.act(Move(next(PLACES)))),
        "type 20 characters": Step(lambda: desk.act(TypeText(TEXT))),
        "bash true": Step(lambda: desk.run(["bash", "-c", "true"])),
    }


@contextmanager
def with_noise(desk: Desk) -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "noise.py"
        program.write_text(NOISE)
        desk.put(program, PurePosixPath("/home/agent/noise.py"))
    desk.run(["sh", "-c", "setsid python3 noise.py >/dev/null 2>&1 &"])
    end = time.monotonic() + 20
    while desk.observe(Settle(quiet=0.2, bound=0.5)).settled and time.monotonic() < end:
        continue
    yield
    desk.run(["pkill", "-f", "noise.py"])


def ours(repeats: int, advance: Callable[[], None]) -> dict[str, Measured]:
    found = {}
    label = Label("bench", f"step-{time.monotonic_ns()}", time.time() + 1800)
    with ContainerDesks().open(DeskSpec("base"), label) as desk:
        desk.run(["sh", "-c", "setsid mousepad >/dev/null 2>&1 &"])
        desk.observe(Settle(quiet=1.0, bound=15.0))
        for name, step in our_steps(desk, busy=False).items():
            found[f"practicum, quiet: {name}"] = measure(step, repeats)
            advance()
        with with_noise(desk):
            for name, step in our_steps(desk, busy=True).items():
                found[f"practicum, busy: {name}"] = measure(step, repeats)
                advance()
    return found


class Peer:
    """A container of the same image with the peers' programs, and a shell in it that is held open."""

    def __init__(self, image: str) -> None:
        run = ["docker", "run", "--rm", "-d", "--init", "--network", "none", image]
        self.container = subprocess.run(run, check=True, capture_output=True, text=True).stdout.strip()
        enter = ["docker", "exec", "-i", "-u", "agent", "-w", "/home/agent", self.container, "sh"]
        self._shell = subprocess.Popen(enter, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.do("until xprop -root _NET_CLIENT_LIST | grep -q 0x; do sleep 0.1; done")

    def do(self, script: str) -> None:
        """Return when the script has ended; one round trip over an open stream, as ours is."""
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        self._shell.stdin.write(f"{{ {script}\n}} >/dev/null 2>&1 </dev/null; echo done\n".encode())
        self._shell.stdin.flush()
        self._shell.stdout.readline()

    def close(self) -> None:
        self._shell.kill()
        self._shell.communicate()
        subprocess.run(["docker", "rm", "-f", self.container], check=True, capture_output=True)


def peer_steps(peer: Peer) -> dict[str, Step]:
    def shell(script: str) -> Step:
        return Step(lambda: peer.do(script))

    def python(code: str) -> Step:
        return shell(f'/opt/peers/bin/python -c "{PYAUTOGUI}{code}"')

    shot = "pyautogui.screenshot('/tmp/p.png')"
    execute = ["docker", "exec", peer.container, "bash", "-c", "true"]
    steps = {
        "pyautogui: click + screenshot": python(f"pyautogui.click(400, 400); {shot}"),
        "pyautogui: screenshot": python(shot),
        "pyautogui: type 20 characters": python(f"pyautogui.write('{TEXT}')"),
        "xdotool + scrot: click + screenshot": shell(
            "xdotool mousemove 400 400 click 1; scrot -o /tmp/s.png"
        ),
        "xdotool + scrot: screenshot": shell("scrot -o /tmp/s.png"),
        "xdotool + scrot: type 20 characters": shell(f"xdotool type '{TEXT}'"),
        "docker exec: bash true": Step(lambda: subprocess.run(execute, check=True)),
    }
    return steps | cua_steps(peer)


LISTENS = "python3 -c \"import socket; socket.create_connection(('127.0.0.1', 8000))\""
CUA = """
import json, sys, urllib.request
def call(name, params):
    body = json.dumps({"command": name, "params": params}).encode()
    request = urllib.request.Request("http://127.0.0.1:8000/cmd", body, {"Content-Type": "application/json"})
    urllib.request.urlopen(request).read()
for line in sys.stdin:
    for name, params in json.loads(line):
        call(name, params)
    print("done", flush=True)
"""


def cua_steps(peer: Peer) -> dict[str, Step]:
    """Through its HTTP server from a client beside it; empty where it does not install."""
    test = ["docker", "exec", peer.container, "/opt/cua/bin/python", "-c", "import computer_server"]
    if subprocess.run(test, check=False, stderr=subprocess.DEVNULL).returncode != 0:
        return {}
    server = "/opt/cua/bin/python -m computer_server --host 127.0.0.1 --port 8000"
    peer.do(f"setsid {server} >/tmp/cua.log 2>&1 &")
    peer.do(f"for i in $(seq 300); do {LISTENS} && break; sleep 0.1; done")
    enter = ["docker", "exec", "-i", "-u", "agent", peer.container, "python3", "-c", CUA]
    client = subprocess.Popen(enter, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def commands(*pairs: tuple[str, dict[str, object]]) -> Step:
        def step() -> None:
            assert client.stdin is not None
            assert client.stdout is not None
            client.stdin.write(json.dumps(pairs) + "\n")
            client.stdin.flush()
            if client.stdout.readline() != "done\n":
                raise RuntimeError("cua-computer-server does not answer")

        return Step(step)

    shot: tuple[str, dict[str, object]] = ("screenshot", {})
    return {
        "cua-computer-server: click + screenshot": commands(("left_click", {"x": 400, "y": 400}), shot),
        "cua-computer-server: screenshot": commands(shot),
        "cua-computer-server: type 20 characters": commands(("type_text", {"text": TEXT})),
        "cua-computer-server: bash true": commands(("run_command", {"command": "true"})),
    }


def peers(repeats: int, advance: Callable[[], None]) -> dict[str, Measured]:
    tag = "practicum-bench/peers"
    with tempfile.TemporaryDirectory() as folder:
        context = Path(folder)
        (context / "Dockerfile").write_text(RECIPE.format(base=Images().reference("base")))
        for name, packages in WHEELS.items():
            (context / "wheels" / name).mkdir(parents=True)
            fetch = [sys.executable, "-m", "pip", "wheel", "-q", "-w", str(context / "wheels" / name)]
            subprocess.run([*fetch, *packages], check=False, stderr=subprocess.DEVNULL)
        build = ["docker", "build", "-q", "--network", "host", "-t", tag, folder]
        subprocess.run(build, check=True, capture_output=True)
    peer = Peer(tag)
    found = {}
    try:
        for name, step in peer_steps(peer).items():
            found[name] = measure(step, repeats)
            advance()
    finally:
        peer.close()
    return found


def show(found: dict[str, Measured]) -> None:
    table = Table("step", "median", "min", "max", title="One step, milliseconds")
    for name, value in found.items():
        table.add_row(name, f"{value.median:.1f}", f"{value.min:.1f}", f"{value.max:.1f}")
    Console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--others", action="store_true", help="measure the peers too")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("measuring", total=8 + 11 * options.others)
        found = ours(options.repeats, lambda: progress.advance(task))
        if options.others:
            found |= peers(options.repeats, lambda: progress.advance(task))
    if options.json:
        json.dump({name: asdict(value) for name, value in found.items()}, sys.stdout, indent=1)
    else:
        show(found)


if __name__ == "__main__":
    main()
