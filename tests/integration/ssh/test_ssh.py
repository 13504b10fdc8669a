"""An existing machine over a real OpenSSH server: who it is, how it is reached, what it leaves."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from practicum.infra.desk.actions import Key, TypeText
from practicum.infra.desk.desk import Account, Capability, Desk, DeskSpec, Label, Settle
from practicum.infra.desk.ssh import SshDesks
from practicum.infra.desk.ssh.host import Host, Trust, read
from practicum.infra.desk.ssh.leases import Leases
from practicum.infra.errors import DeskFault, DeskLost, EngineUnavailable, Stage, Unsupported

pytestmark = pytest.mark.docker

SPEC = DeskSpec("base", width=1024, height=640)
_CLEAN = ("sh", "-c", "rm -f ~/dirt; date >> ~/resets")
WINDOW = Path(__file__).parents[1] / "desk" / "guest" / "window.py"


@pytest.fixture
def label() -> Label:
    return Label("ssh", f"trial-{time.monotonic_ns()}", time.time() + 600)


@pytest.fixture(scope="module")
def desks(ssh_host: Host, tmp_path_factory: pytest.TempPathFactory) -> SshDesks:
    return SshDesks((ssh_host,), Leases(tmp_path_factory.mktemp("leases")))


@pytest.fixture
def desk(desks: SshDesks, label: Label) -> Iterator[Desk]:
    with desks.open(SPEC, label) as opened:
        yield opened


def use(desks: SshDesks, label: Label) -> None:
    with desks.open(SPEC, label) as desk:
        assert desk.run(["true"]).exit_code == 0


def test_an_application_of_the_session_receives_what_is_typed(desk: Desk) -> None:
    """`handsd` stands in the user's own graphical session."""
    desk.put(WINDOW, PurePosixPath("/home/agent/window.py"))
    desk.run(["sh", "-c", "setsid python3 ~/window.py text /tmp/log >/dev/null 2>&1 &"])
    desk.run(["sh", "-c", "until grep -q focus /tmp/log; do sleep 0.05; done"])
    desk.observe(Settle(0.1, 5.0))
    desk.act(TypeText("Grüße, 世界"), Key(("f12",)))
    told = desk.run(["sh", "-c", "until grep text /tmp/log; do sleep 0.05; done; pkill -f '[w]indow.py'"])
    assert b'"text": "Gr\\u00fc\\u00dfe, \\u4e16\\u754c"' in told.stdout


def test_there_is_no_house_and_no_freezing(desk: Desk, tmp_path: Path) -> None:
    """What the machine of one person cannot do is refused, not done otherwise."""
    (tmp_path / "x").write_text("x")
    assert Capability.FREEZE not in desk.capabilities
    for attempt in (
        lambda: desk.run(["id"], account=Account.HOUSE),
        lambda: desk.put(tmp_path / "x", PurePosixPath("/tmp/x"), account=Account.HOUSE),
        desk.freeze,
    ):
        with pytest.raises(Unsupported):
            attempt()


def test_a_host_that_is_not_known_is_refused(desks: SshDesks, label: Label, tmp_path: Path) -> None:
    """Nothing is sent to a machine that nobody vouched for."""
    stranger = replace(desks.hosts[0], known_hosts=tmp_path / "none")
    with pytest.raises(DeskFault, match="not found in known_hosts"):
        use(SshDesks((stranger,), Leases(tmp_path)), label)


def test_a_host_that_changed_is_refused(desks: SshDesks, label: Label, tmp_path: Path) -> None:
    """Also where first use would be trusted: this is not the first."""
    known = desks.hosts[0].known_hosts_file.read_text().split()
    forged = known[2][:-8] + "AAAAAAA" + known[2][-1:]
    (tmp_path / "forged").write_text(f"{known[0]} {known[1]} {forged}\n")
    other = replace(desks.hosts[0], known_hosts=tmp_path / "forged", trust=Trust.FIRST_USE)
    with pytest.raises(DeskFault, match="not who it was"):
        use(SshDesks((other,), Leases(tmp_path)), label)


def test_first_use_is_trusted_when_asked_and_noted(desks: SshDesks, label: Label, tmp_path: Path) -> None:
    """From then on the key is known."""
    first = replace(desks.hosts[0], known_hosts=tmp_path / "met", trust=Trust.FIRST_USE)
    use(SshDesks((first,), Leases(tmp_path)), label)
    use(SshDesks((replace(first, trust=Trust.KNOWN),), Leases(tmp_path)), label)


def test_a_key_that_does_not_fit_is_said(desks: SshDesks, label: Label, tmp_path: Path) -> None:
    """As a fault of the first stage."""
    nobody = replace(desks.hosts[0], user="house")
    with pytest.raises(DeskFault, match="does not let us in") as raised:
        use(SshDesks((nobody,), Leases(tmp_path)), label)
    assert raised.value.stage is Stage.CREATE


def test_a_machine_in_between(desks: SshDesks, label: Label, tmp_path: Path) -> None:
    """Through a jump host, whose key is verified too, to a server that only it can reach."""
    inner = 2222
    with SshDesks(desks.hosts, Leases(tmp_path / "a")).open(SPEC, label) as desk:
        desk.run(
            ["sh", "-c", "mkdir -p ~/inner && ssh-keygen -q -t ed25519 -N '' -f ~/inner/key < /dev/null"]
        )
        options = "-o UsePAM=no -o PidFile=none -o ListenAddress=127.0.0.1"
        serve = f"setsid /usr/sbin/sshd -p {inner} -h ~/inner/key {options}"
        assert desk.run(["sh", "-c", serve]).exit_code == 0
        public = desk.run(["sh", "-c", "cat ~/inner/key.pub"]).stdout.decode().split()
    (tmp_path / "known").write_text(f"[127.0.0.1]:{inner} {public[0]} {public[1]}\n")
    far = replace(desks.hosts[0], port=inner, known_hosts=tmp_path / "known", jump=desks.hosts[0])
    with SshDesks((far,), Leases(tmp_path / "b")).open(SPEC, label) as desk:
        assert desk.run(["sh", "-c", "echo $SSH_CONNECTION"]).stdout.split()[3] == b"%d" % inner
        desk.run(["pkill", "-f", f"sshd -p {inner}"])


def test_the_reset_command_runs_before_each_trial(desks: SshDesks, label: Label, tmp_path: Path) -> None:
    """And makes the desk one that can be set back; where it fails, nothing opens."""
    reset = SshDesks((replace(desks.hosts[0], reset=_CLEAN),), Leases(tmp_path))
    assert Capability.CHECKPOINT in reset.capabilities(SPEC)
    assert Capability.CHECKPOINT not in desks.capabilities(SPEC)
    for _ in range(2):
        with reset.open(SPEC, label) as desk:
            assert desk.run(["test", "-e", "dirt"]).exit_code == 1
            desk.run(["touch", "dirt"])
    with pytest.raises(DeskFault, match="ended with 3"):
        use(SshDesks((replace(desks.hosts[0], reset=("sh", "-c", "exit 3")),), Leases(tmp_path)), label)


def test_one_trial_at_a_time(desks: SshDesks, desk: Desk, label: Label) -> None:
    """There is one machine: the second says so, and the first goes on."""
    other = Label("ssh", "other", label.deadline)
    with pytest.raises(DeskFault, match="taken"), desks.open(SPEC, other):
        pass
    assert desks.held() == (label,)
    assert desk.run(["true"]).exit_code == 0


def test_a_connection_that_is_cut_is_a_lost_desk(desks: SshDesks, label: Label) -> None:
    """At once, and the lease is free again."""
    with pytest.raises(DeskLost), desks.open(SPEC, label) as desk:  # noqa: PT012 - it is the block that raises
        desk.run(["sh", "-c", "pkill -9 -f 'practicum.vm_images.[h]andsd'"])
        desk.observe()
    assert desks.held() == ()


def test_another_screen_than_asked_is_a_fault(desks: SshDesks, label: Label) -> None:
    """Coordinates of a task are for its screen; the picture comes with the error."""
    wrong = replace(SPEC, width=1280)
    with pytest.raises(DeskFault, match="1024×640") as raised, desks.open(wrong, label):
        pass
    assert raised.value.frame


def test_hosts_are_read_from_a_file(tmp_path: Path) -> None:
    """With the machine in between; what is missing or misspelt is said, with the file to mend."""
    file = tmp_path / "ssh.toml"
    file.write_text(
        '[[host]]\nname = "far"\nuser = "exam"\nkey = "~/.ssh/exam"\ntrust = "first_use"\n'
        '[host.jump]\nname = "near"\nuser = "me"\n'
    )
    jump = Host("near", "me")
    assert read(file) == (Host("far", "exam", key=Path("~/.ssh/exam"), trust=Trust.FIRST_USE, jump=jump),)
    file.write_text('[[host]]\nname = "far"\nuser = 3\n')
    for wrong in (file, tmp_path / "nothing"):
        with pytest.raises(EngineUnavailable, match=wrong.name):
            read(wrong)
