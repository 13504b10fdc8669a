"""What is asked of a Linux guest through its agent. Nothing of ours stays running in it.

Commands write to files, of which the agent then reads head and tail: a pipe would be held open by whatever a
command leaves in the background, and the agent would wait for that. Each command has a control group, by
which all its descendants are found when its time is up.
"""

from __future__ import annotations

import itertools
import json
import select
import socket
import time
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import IO

from practicum.infra.desk import keys
from practicum.infra.desk.desk import Account, Completed, Element
from practicum.infra.desk.vm.guest_agent import Exited, GuestAgent
from practicum.infra.desk.vm.input import Keyboard
from practicum.infra.desk.vm.keymap import KEYCODES, Keymap, loan_words
from practicum.infra.desk.vm.qmp import ChannelLost
from practicum.infra.errors import OutputRefused, Unsupported

HOMES = {Account.AGENT: "/home/agent", Account.HOUSE: "/var/lib/house"}
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"

_LIBRARY = "/usr/local/lib/desk"
_ELEMENTS = "/opt/practicum/practicum/vm_images/handsd/elements.py"
_COMMANDS = "/var/lib/vm/commands"
_INLINE = 48 << 10
_PIECE = 1 << 18
_LOOK = 0.05
_KILL_SECONDS = 20.0
_BULK_SECONDS = 60.0
_REFUSED, _NOT_THERE = 65, 66
_ELEMENT_COUNT = 2000

_LAUNCH = f"""
place={_COMMANDS}/$1 group=/sys/fs/cgroup/$2/$1
for old in $4; do rm -rf "{_COMMANDS}/$old"; rmdir "/sys/fs/cgroup/$2/$old" 2>&-; done
mkdir -m 700 "$place" && mkdir "$group" && echo 0 > "$group/cgroup.procs" || exit 125
umask 0; : > "$place/out"; : > "$place/err"; umask 022
[ -z "$3" ] || exec < "$3"
[ -z "$3" ] || rm "$3"
shift 4
exec >> "$place/out" 2>> "$place/err" "$@"
"""
_BECOME_AGENT = (
    "setpriv",
    "--reuid=1000",
    "--regid=1000",
    "--clear-groups",
    "--inh-caps=-all",
    "--no-new-privs",
)
_KILL = """
until ! kill -0 "$1" 2>&-; do echo 1 > "$2/cgroup.kill"; sleep 0.02; done 2>/dev/null
"""
_AWAIT_SESSION = """
docked() {
    for window in $(xprop -root _NET_CLIENT_LIST | tr -d , | cut -d'#' -f2-); do
        xprop -id "$window" _NET_WM_WINDOW_TYPE | grep -q DOCK && return
    done
    return 1
}
until xprop -root _NET_SUPPORTING_WM_CHECK | grep -q '# 0x' && docked; do sleep 0.2; done 2>/dev/null
"""
_UNPACK = 'mkdir -p -- "$1" && tar -xpf - -C "$1"; code=$?; cat > /dev/null; exit $code'
_RECEIVE = 'head -c "$1" < /dev/virtio-ports/desk.bulk | { shift; "$@"; }'
_KEYBOARD_STATE = "xset -q && xprop -root _XKB_RULES_NAMES"
_TELL_KEYMAP = f"""
kept=$1; shift
if [ ! -s "$kept" ]; then
    python3 -I {_LIBRARY}/vm_keymap.py "$@" > "$kept.new" && mv "$kept.new" "$kept"
fi
cat "$kept"
"""
_FREEZE = """
echo 1 > /sys/fs/cgroup/agent/cgroup.freeze
until grep -qx 'frozen 1' /sys/fs/cgroup/agent/cgroup.events; do sleep 0.02; done
"""


class LinuxGuest:
    """Raises `ChannelLost` when the guest does not answer. `patience` multiplies what may take long."""

    def __init__(self, agent: GuestAgent, bulk: Path, *, patience: float) -> None:
        self._agent = agent
        self._patience = patience
        self._bulk = socket.socket(socket.AF_UNIX)
        try:
            self._bulk.connect(str(bulk))
        except OSError:
            self.close()
            raise
        self._bulk.setblocking(False)
        self._numbers = itertools.count(time.time_ns())
        self._finished: dict[Account, list[str]] = {Account.AGENT: [], Account.HOUSE: []}
        self._keymap: tuple[bytes, Keymap] | None = None

    def await_session(self, *, timeout: float) -> None:
        """Return when the display, a window manager and a panel are there."""
        self._agent.call("/bin/sh", "-c", _AWAIT_SESSION, timeout=timeout)

    def set_clock(self) -> None:
        self._agent.set_time(time.time())

    def barrier(self) -> None:
        """Return when the display server has answered a new client: by then it has read earlier input."""
        self._ask("xprop", "-root", "_NET_ACTIVE_WINDOW")

    def keyboard(self) -> Keyboard:
        """The keyboard as it is now; its layout is only read again when it was changed."""
        state = self._ask("/bin/sh", "-c", _KEYBOARD_STATE).stdout
        locks, _, rules = state.partition(b"_XKB_RULES_NAMES")
        if self._keymap is None or self._keymap[0] != rules:
            self._keymap = rules, self._read_keymap(rules)
        words = b" ".join(locks.split())
        return Keyboard(self._keymap[1], b"Caps Lock: on" in words, b"Num Lock: on" in words)

    def lend(self, loans: Mapping[str, int]) -> None:
        """Give keycodes the meanings of names or characters."""
        self._ask("python3", "-I", f"{_LIBRARY}/vm_lend.py", *loan_words(loans))

    def run(
        self,
        argv: Sequence[str],
        *,
        account: Account,
        stdin: bytes,
        env: Mapping[str, str],
        cwd: PurePosixPath | None,
        timeout: float,
        cap: int,
    ) -> Completed:
        number = str(next(self._numbers))
        given = self._give(number, stdin)
        done, self._finished[account] = self._finished[account], []
        words = (number, account.value, given, " ".join(done), *_command(argv, account, env, cwd))
        started = time.monotonic()
        inline = stdin if not given else b""
        pid = self._agent.start("/bin/sh", ["-c", _LAUNCH, "sh", *words], stdin=inline)
        ended = self._agent.wait(pid, timeout=timeout)
        if timed_out := ended is None:
            ended = self._kill(pid, account, number)
        seconds = time.monotonic() - started
        place = f"{_COMMANDS}/{number}"
        (out, out_cut), (err, err_cut) = (self._agent.read(f"{place}/{name}", cap) for name in ("out", "err"))
        self._finished[account].append(number)
        return Completed(ended.code, out, err, seconds, timed_out, out_cut or err_cut)

    def put(self, packed: IO[bytes], size: int, folder: PurePosixPath, account: Account) -> Exited:
        """Unpack a tar of `size` bytes in a folder of the guest, with the rights of the account."""
        unpack = ("sh", "-c", _UNPACK, "sh", str(folder))
        become = _BECOME_AGENT if account is Account.AGENT else ()
        words = ["-c", _RECEIVE, "sh", str(size), *become, *unpack]
        pid = self._agent.start("/bin/sh", words, capture=True)
        left = memoryview(b"")
        ended: Exited | None = None
        quiet_since = time.monotonic()
        while ended is None:
            left = left or memoryview(packed.read(_PIECE))
            if left and select.select([], [self._bulk], [], _LOOK)[1]:
                left = left[self._bulk.send(left) :]
                quiet_since = time.monotonic()
                continue
            ended = self._agent.wait(pid, timeout=_LOOK)
            if time.monotonic() - quiet_since > _BULK_SECONDS * self._patience:
                raise ChannelLost("the guest stopped taking a file")
        return ended

    def get(self, source: PurePosixPath, sink: IO[bytes], max_bytes: int, max_files: int) -> None:
        """Write a file or folder as a tar to `sink`. Raises `FileNotFoundError` and `OutputRefused`."""
        program = ["-I", f"{_LIBRARY}/vm_send.py", str(source), str(max_bytes), str(max_files)]
        pid = self._agent.start("/usr/bin/python3", program, capture=True)
        ended = self._receive(pid, sink, cap=max_bytes + (max_files + 1) * 4096 + (1 << 20))
        if ended.code == _NOT_THERE:
            raise FileNotFoundError(str(source))
        if ended.code == _REFUSED:
            raise OutputRefused(f"{source}: {ended.stderr.decode('utf-8', 'replace').strip()}")
        if ended.code != 0:
            raise ChannelLost(f"{source}: {ended.stderr.decode('utf-8', 'replace').strip()}")

    def freeze(self) -> None:
        """Stop every process of the agent at once: none can leave the control group it was born in."""
        self._ask("/bin/sh", "-c", _FREEZE)

    def elements(self) -> tuple[Element, ...]:
        seconds = 5.0 * self._patience
        argv = ["/usr/bin/python3", "-I", _ELEMENTS, str(seconds), str(_ELEMENT_COUNT)]
        done = self.run(
            argv, account=Account.AGENT, stdin=b"", env={}, cwd=None, timeout=3 * seconds, cap=8 << 20
        )
        if done.exit_code != 0 or done.truncated:
            raise ChannelLost(f"accessibility: {done.stderr.decode('utf-8', 'replace')}")
        found = json.loads(done.stdout)["elements"]
        return tuple(Element(**{**element, "states": tuple(element["states"])}) for element in found)

    def close(self) -> None:
        self._bulk.close()
        self._agent.close()

    def _ask(self, path: str, *arguments: str) -> Exited:
        """A short program of the house. These do not fail in a guest that is well: raises `ChannelLost`."""
        program = path if path.startswith("/") else f"/usr/bin/{path}"
        done = self._agent.call(program, *arguments, timeout=20.0 * self._patience)
        if done.code != 0:
            raise ChannelLost(f"{path}: {done.stderr.decode('utf-8', 'replace').strip() or done.code}")
        return done

    def _read_keymap(self, rules: bytes) -> Keymap:
        """Kept in the guest by the rules that give it, where a saved machine finds it again."""
        names = [keys.keysym(name) or name for name in sorted(keys.NAMED)]
        pressable = ",".join(map(str, KEYCODES))
        kept = f"/run/keymap-{sha256(rules).hexdigest()[:16]}"
        return Keymap.read(self._ask("/bin/sh", "-c", _TELL_KEYMAP, "sh", kept, pressable, *names).stdout)

    def _give(self, number: str, stdin: bytes) -> str:
        """Where in the guest a long standard input was laid; empty where it goes with the command."""
        if len(stdin) <= _INLINE:
            return ""
        path = f"{_COMMANDS}/{number}.in"
        self._agent.write(path, stdin)
        return path

    def _kill(self, pid: int, account: Account, number: str) -> Exited:
        group = f"/sys/fs/cgroup/{account.value}/{number}"
        self._ask("/bin/sh", "-c", _KILL, "sh", str(pid), group)
        ended = self._agent.wait(pid, timeout=_KILL_SECONDS * self._patience)
        if ended is None:
            raise ChannelLost("a command that was killed goes on")
        return ended

    def _receive(self, pid: int, sink: IO[bytes], cap: int) -> Exited:
        ended: Exited | None = None
        arrived = 0
        quiet_since = time.monotonic()
        while ended is None or arrived < int(ended.stdout or b"0"):
            if select.select([self._bulk], [], [], _LOOK)[0]:
                piece = self._bulk.recv(_PIECE)
                arrived += len(piece)
                if not piece or arrived > cap:
                    raise ChannelLost("the guest sends more than it may, or hung up")
                sink.write(piece)
                quiet_since = time.monotonic()
            elif ended is None:
                ended = self._agent.poll(pid)
            if time.monotonic() - quiet_since > _BULK_SECONDS * self._patience:
                raise ChannelLost("the guest stopped sending a file")
        return ended


def _command(
    argv: Sequence[str], account: Account, env: Mapping[str, str], cwd: PurePosixPath | None
) -> tuple[str, ...]:
    """Any environment that a person of this account would have, then the command."""
    if not argv or any("\0" in word for word in argv):
        raise Unsupported("a command is at least one word, without NUL")
    home = HOMES[account]
    own = {"HOME": home, "USER": account.value, "LOGNAME": account.value, "PATH": PATH, "SHELL": "/bin/bash"}
    less = ("-u", "DBUS_SESSION_BUS_ADDRESS", "-u", "XDG_RUNTIME_DIR") if account is Account.HOUSE else ()
    become = _BECOME_AGENT if account is Account.AGENT else ()
    settings = (f"{name}={value}" for name, value in {**own, **env}.items())
    return (*become, "env", *less, f"--chdir={cwd or home}", *settings, *argv)
