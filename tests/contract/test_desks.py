"""What every desk promises, whatever it is made of."""

from __future__ import annotations

import io
import math
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath

import pytest
from PIL import Image

from practicum.infra.desk.actions import Button, Click, Drag, Key, Move, Point, Scroll, TypeText, Wait
from practicum.infra.desk.desk import (
    Account,
    Capability,
    Desk,
    DeskProvider,
    DeskSpec,
    Label,
    Network,
    Settle,
)
from practicum.infra.errors import DeskLost, OutputRefused, Unsupported

HOME = PurePosixPath("/home/agent")
HOUSE = PurePosixPath("/var/lib/house")


def sh(desk: Desk, script: str, *, account: Account = Account.AGENT, timeout: float = 60.0) -> str:
    done = desk.run(["sh", "-c", script], account=account, timeout=timeout)
    assert done.exit_code == 0, done
    return done.stdout.decode()


def until(true: Callable[[], bool], bound: float = 60.0) -> bool:
    """Poll, because what is watched has nothing to wait on."""
    end = time.monotonic() + bound
    while not (seen := true()) and time.monotonic() < end:
        pass
    return seen


def test_capabilities_are_known_before_opening(provider: DeskProvider, spec: DeskSpec, desk: Desk) -> None:
    """Planning sees exactly what the open desk has."""
    assert provider.capabilities(spec) == desk.capabilities


def test_the_digest_names_the_environment(provider: DeskProvider, spec: DeskSpec) -> None:
    """Equal specs have equal digests, another screen another one."""
    assert provider.digest(spec) == provider.digest(DeskSpec("base", width=1024, height=640))
    assert provider.digest(spec) != provider.digest(DeskSpec("base", width=800, height=600))


def test_a_network_that_is_not_there_is_refused(provider: DeskProvider, label: Callable[[], Label]) -> None:
    """A desk without a way out says so before anything boots."""
    before = provider.held()
    with pytest.raises(Unsupported), provider.open(DeskSpec("base", network=Network.ALLOWLIST), label()):
        pass
    assert provider.held() == before


def test_a_frame_is_a_whole_picture_of_the_asked_size(desk: Desk, spec: DeskSpec) -> None:
    """It decodes, has the size it says, and is not blank."""
    frame = desk.observe()
    image = Image.open(io.BytesIO(frame.png))
    image.load()
    assert image.format == "PNG"
    assert image.size == (frame.width, frame.height) == (spec.width, spec.height)
    assert len(image.convert("RGB").getcolors(1 << 24) or []) > 1
    assert frame.settled


def test_a_quiet_screen_gives_equal_frames(desk: Desk) -> None:
    """Equal pixels are equal bytes, so that frames can be kept by their hash."""
    desk.act(Move(Point(3, 3)))
    assert desk.observe().digest == desk.observe().digest


def test_observing_ends_within_its_bound(desk: Desk) -> None:
    """Even a quiet time that cannot be reached is waited for no longer than the bound."""
    started = time.monotonic()
    frame = desk.observe(Settle(quiet=60.0, bound=0.3))
    assert time.monotonic() - started < 5.0
    assert frame.waited <= 0.5


def test_parallel_frames_all_decode(desk: Desk) -> None:
    """Many watchers at once each get a whole picture."""
    with ThreadPoolExecutor(8) as threads:
        frames = list(threads.map(lambda _: desk.observe(Settle(0.0, 0.1)), range(24)))
    for frame in frames:
        Image.open(io.BytesIO(frame.png)).load()


def test_every_action_is_counted(desk: Desk) -> None:
    """The receipt says how many took effect, whatever their kind."""
    there, other = Point(500, 300), Point(520, 330)
    actions = (
        *(Move(there), Click(there), Click(other, Button.RIGHT), Key(("escape",)), Click(there, count=2)),
        *(Drag((there, other)), Scroll(there, dy=2), TypeText("a"), Key(("ctrl", "a")), Wait(0.01)),
    )
    assert desk.act(*actions).done == len(actions)


def test_a_control_character_is_refused_before_anything_is_typed(desk: Desk) -> None:
    """A typed refusal, never another text."""
    with pytest.raises(Unsupported):
        desk.act(TypeText("ab\x07c"))


def test_a_command_answers_with_what_it_wrote_and_how_it_ended(desk: Desk) -> None:
    """Both streams apart, the exit code, standard input, environment and folder."""
    script = 'cat; printf "%s %s" "$WORD" "$PWD" >&2; exit 7'
    done = desk.run(["sh", "-c", script], stdin=b"in\x00put", env={"WORD": "w"}, cwd=PurePosixPath("/tmp"))
    assert (done.exit_code, done.stdout, done.stderr) == (7, b"in\x00put", b"w /tmp")
    assert not done.timed_out
    assert not done.truncated


def test_a_program_that_is_not_there_is_an_exit_code(desk: Desk) -> None:
    """The machine is well; the command is not."""
    assert desk.run(["no-such-program"]).exit_code not in {0, None}


def test_commands_of_the_agent_have_no_privileges(desk: Desk) -> None:
    """Not root, and no way to become it."""
    assert sh(desk, "id -u").strip() == "1000"
    assert "NoNewPrivs:\t1" in sh(desk, "cat /proc/self/status")
    assert "CapEff:\t0000000000000000" in sh(desk, "cat /proc/self/status")


def test_long_output_keeps_head_and_tail(desk: Desk) -> None:
    """And says that it was cut; what fits is whole."""
    done = desk.run(["seq", "1", "100000"], cap=1000)
    assert done.truncated
    assert done.stdout.startswith(b"1\n2\n3\n")
    assert done.stdout.endswith(b"99999\n100000\n")
    assert len(done.stdout) <= 1000
    exact = desk.run(["printf", "%01000d", "0"], cap=1000)
    assert (len(exact.stdout), exact.truncated) == (1000, False)


def test_a_time_out_kills_the_whole_tree(desk: Desk) -> None:
    """Children and daemons of a command that ran out of time are gone with it."""
    script = "setsid sleep 4321 & sleep 4321 & (setsid setsid sleep 4321 &) ; sleep 4321"
    done = desk.run(["bash", "-c", script], timeout=0.5)
    assert done.timed_out
    assert done.seconds < 5.0
    assert until(
        lambda: "4321" not in sh(desk, "for p in /proc/[0-9]*; do tr '\\0' ' ' <$p/cmdline; done 2>&-;:")
    )


def test_what_a_command_leaves_running_neither_delays_nor_dies_with_it(desk: Desk) -> None:
    """A job in the background goes on, also when it writes to where nobody reads."""
    noise = "for i in $(seq 50); do echo noise; sleep 0.01; done"
    script = f"rm -f /tmp/alive; ({noise}; echo > /tmp/alive) &"
    done = desk.run(["sh", "-c", script], timeout=30.0)
    assert (done.exit_code, done.timed_out) == (0, False)
    assert until(lambda: desk.run(["test", "-e", "/tmp/alive"]).exit_code == 0)


def test_files_go_in_and_out_unchanged(desk: Desk, tmp_path: Path) -> None:
    """Any bytes, any name, folders with folders in them; what was put belongs to the agent."""
    source = tmp_path / "in"
    (source / "deep" / "er").mkdir(parents=True)
    (source / "a b ü 語.bin").write_bytes(bytes(range(256)) * 999)
    (source / "deep" / "er" / "empty").write_bytes(b"")
    desk.put(source, HOME / "inputs" / "set")
    assert sh(desk, "stat -c %u /home/agent/inputs/set/deep/er/empty").strip() == "1000"
    written = desk.get(HOME / "inputs" / "set", tmp_path / "out")
    assert written == 256 * 999
    assert (tmp_path / "out" / "a b ü 語.bin").read_bytes() == bytes(range(256)) * 999
    assert (tmp_path / "out" / "deep" / "er" / "empty").read_bytes() == b""


def test_a_single_file_takes_the_name_it_is_given(desk: Desk, tmp_path: Path) -> None:
    """With the mode asked for."""
    (tmp_path / "x").write_text("echo hello")
    desk.put(tmp_path / "x", HOME / "run.sh", mode=0o755)
    assert sh(desk, "/home/agent/run.sh").strip() == "hello"
    desk.get(HOME / "run.sh", tmp_path / "elsewhere" / "y")
    assert (tmp_path / "elsewhere" / "y").read_text() == "echo hello"


def test_what_is_not_there_cannot_be_had(desk: Desk, tmp_path: Path) -> None:
    """And nothing is written for it."""
    with pytest.raises(FileNotFoundError):
        desk.get(HOME / "nothing", tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()


def test_links_and_devices_do_not_leave_the_desk(desk: Desk, tmp_path: Path) -> None:
    """They are left out of a folder, and refused as the thing itself."""
    links = "ln -sf /etc/passwd link && ln -sf . ../out && mkfifo pipe"
    sh(desk, f"mkdir -p t/in && cd t/in && echo x > file && {links}")
    desk.get(HOME / "t" / "in", tmp_path / "in")
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["file"]
    for refused in ("in/link", "in/pipe", "out"):
        with pytest.raises(OutputRefused):
            desk.get(HOME / "t" / refused, tmp_path / refused)


@pytest.mark.parametrize(
    "script",
    ["truncate -s 3G big", "head -c 3000000 /dev/zero > big", "for i in $(seq 20); do : > $i; done"],
)
def test_nothing_over_the_caps_leaves_the_desk(desk: Desk, tmp_path: Path, script: str) -> None:
    """Large, sparse, or many: an `OutputRefused`, and soon."""
    sh(desk, f"rm -rf caps; mkdir caps; cd caps; {script}")
    with pytest.raises(OutputRefused):
        desk.get(HOME / "caps", tmp_path / "caps", max_bytes=1 << 20, max_files=10)


def test_the_house_has_places_that_the_agent_cannot_read(
    provider: DeskProvider, desk: Desk, tmp_path: Path
) -> None:
    """Staged secrets stay with the house, and the house can hand them out."""
    if os.geteuid() != 0 and desk.capabilities.isdisjoint({Capability.WATCH, Capability.CLIPBOARD}):
        pytest.skip("a fake desk without root has no house")
    if provider.kind == "ssh":
        pytest.skip("on a machine of one person there is no house")
    (tmp_path / "key").write_text("secret")
    place = PurePosixPath(sh(desk, "mktemp -d", account=Account.HOUSE).strip())
    desk.put(tmp_path / "key", place / "key", account=Account.HOUSE, mode=0o600)
    assert desk.run(["cat", str(place / "key")]).exit_code != 0
    assert sh(desk, f"cat {place}/key", account=Account.HOUSE) == "secret"
    desk.get(place / "key", tmp_path / "back")
    assert (tmp_path / "back").read_text() == "secret"


def test_there_is_no_network(desk: Desk) -> None:
    """No route leads anywhere but to the desk itself."""
    routes = sh(desk, "cat /proc/net/route").splitlines()[1:]
    assert [line for line in routes if not line.startswith("lo")] == []


def test_freezing_ends_all_change(
    provider: DeskProvider, spec: DeskSpec, label: Callable[[], Label], tmp_path: Path
) -> None:
    """Writers that hide from their parent write no more, and the agent can start nothing new."""
    with provider.open(spec, label()) as desk:
        if Capability.FREEZE not in desk.capabilities:
            pytest.skip("this desk cannot freeze")
        writer = "while :; do echo x >> /home/agent/log; done"
        sh(desk, f"for i in 1 2 3; do (setsid sh -c '{writer}' >/dev/null 2>&1 &); done")
        assert until(lambda: desk.run(["test", "-s", "/home/agent/log"]).exit_code == 0)
        desk.freeze()
        desk.get(HOME / "log", tmp_path / "one", max_bytes=1 << 30)
        with pytest.raises(Unsupported):
            desk.run(["true"])
        desk.get(HOME / "log", tmp_path / "two", max_bytes=1 << 30)
        assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_what_is_open_is_held_and_nothing_else(
    provider: DeskProvider, spec: DeskSpec, label: Callable[[], Label]
) -> None:
    """A desk is held under its label while its block runs, also when the block fails."""
    mine = label()
    if provider.kind != "fake":
        mine = Label(mine.run, mine.trial, float(int(mine.deadline)))
    block = provider.open(spec, mine)
    block.__enter__()
    assert [held.deadline for held in provider.held()].count(mine.deadline) == 1
    failure = ZeroDivisionError()
    assert not block.__exit__(ZeroDivisionError, failure, None)
    assert mine.deadline not in [held.deadline for held in provider.held()]


def test_the_reaper_takes_what_is_past_its_deadline(provider: DeskProvider, spec: DeskSpec) -> None:
    """And leaves what is not."""
    now = time.time()
    late, early = (Label("reap", f"t{add}-{now}", float(int(now + add))) for add in (5000, -5))
    with provider.open(spec, late), provider.open(spec, early):
        taken = provider.reap(now)
        assert early.deadline in [label.deadline for label in taken]
        assert late.deadline not in [label.deadline for label in taken]
        assert late.deadline in [label.deadline for label in provider.held()]
        assert early.deadline not in [label.deadline for label in provider.held()]


def test_a_desk_that_was_taken_away_says_so(
    provider: DeskProvider, spec: DeskSpec, label: Callable[[], Label]
) -> None:
    """Its block raises `DeskLost`, at once, and ends without leaving anything."""
    mine = label()
    with pytest.raises(DeskLost), provider.open(spec, mine) as desk:  # noqa: PT012 - it is the block that raises
        provider.reap(time.time(), lambda held: held.deadline == math.ceil(mine.deadline) or held == mine)
        desk.observe()
        desk.act(Move(Point(1, 1)))


def test_elements_have_boxes_on_the_screen(desk: Desk, spec: DeskSpec) -> None:
    """Accessible desks name what is shown, each with a box that is at least partly on the screen."""
    if Capability.ACCESSIBILITY not in desk.capabilities:
        pytest.skip("this desk is not accessible")
    for element in desk.elements():  # type: ignore[attr-defined]  # declared by the capability
        assert element.role
        assert element.x < spec.width
        assert element.y < spec.height
        assert element.x + element.width > 0
        assert element.y + element.height > 0
