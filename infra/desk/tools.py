"""A desk as an environment: the canonical tools over the contract of `infra.desk.desk`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import cast

from practicum.infra.desk import schemas
from practicum.infra.desk.arguments import (
    ArgumentError,
    BashCall,
    ElementsCall,
    ReadFileCall,
    WriteFileCall,
    action,
    read,
    read_computer,
)
from practicum.infra.desk.desk import Accessible, Capability, Completed, Desk, Element, Settle
from practicum.infra.environment import JSON, Tool, ToolCall, ToolErrorKind, ToolResult
from practicum.infra.errors import OutputRefused, Unsupported

HOME = PurePosixPath("/home/agent")
INPUTS = HOME / "inputs"
OUTPUTS = HOME / "outputs"

READ_CAP = 256 << 10
_EXIT_NO_FILE = 66


class DeskTool(StrEnum):
    COMPUTER = "computer"
    BASH = "bash"
    READ_FILE = "read_file"
    WRITE_FILE = "write_file"


@dataclass(frozen=True, slots=True)
class Deliverable:
    """A file or folder to collect, relative to the output folder.

    `source` is where it is taken from instead, when that is a place of the house that no agent can write.
    """

    path: PurePosixPath
    max_bytes: int
    source: PurePosixPath | None = None


@dataclass(slots=True)
class DeskEnvironment:
    """`infra.environment.Environment` over one open desk, offering only the named tools."""

    desk: Desk
    offered: frozenset[DeskTool]
    deliverables: tuple[Deliverable, ...]
    settle: Settle = field(default_factory=Settle)

    def tools(self) -> tuple[Tool, ...]:
        spec = self.desk.spec
        all_tools = {
            DeskTool.COMPUTER: schemas.computer(spec.width, spec.height),
            DeskTool.BASH: schemas.BASH,
            DeskTool.READ_FILE: schemas.READ_FILE,
            DeskTool.WRITE_FILE: schemas.WRITE_FILE,
        }
        return tuple(tool for name, tool in all_tools.items() if name in self.offered)

    def call(self, call: ToolCall) -> ToolResult:
        handlers: Mapping[str, Callable[[JSON], ToolResult]] = {
            DeskTool.COMPUTER: self._computer,
            DeskTool.BASH: self._bash,
            DeskTool.READ_FILE: self._read_file,
            DeskTool.WRITE_FILE: self._write_file,
        }
        if call.name not in self.offered:
            offered = ", ".join(sorted(self.offered))
            return _error(ToolErrorKind.UNKNOWN_TOOL, f"no tool {call.name!r}; there are: {offered}")
        try:
            return handlers[call.name](call.arguments)
        except ArgumentError as error:
            return _error(ToolErrorKind.BAD_ARGUMENTS, str(error))
        except Unsupported as error:
            return _error(ToolErrorKind.UNSUPPORTED, str(error))

    def collect(self, into: Path) -> tuple[str, ...]:
        if Capability.FREEZE in self.desk.capabilities:
            self.desk.freeze()
        return self.snapshot(into)

    def snapshot(self, into: Path) -> tuple[str, ...]:
        """Like `collect`, of a desk that goes on: what was copied may change while it is copied."""
        return tuple(self._collect_each(into))

    def _collect_each(self, into: Path) -> Iterable[str]:
        for item in self.deliverables:
            try:
                self.desk.get(item.source or OUTPUTS / item.path, into / item.path, max_bytes=item.max_bytes)
            except FileNotFoundError:
                yield f"{item.path}: not there"
            except OutputRefused as error:
                yield f"{item.path}: {error}"

    def _computer(self, arguments: JSON) -> ToolResult:
        spec = self.desk.spec
        call = read_computer(arguments, spec.width, spec.height)
        if isinstance(call, ElementsCall):
            return self._elements()
        act = action(call)
        if act is not None:
            self.desk.act(act)
        frame = self.desk.observe(self.settle)
        return ToolResult(text="" if frame.settled else "The screen is still changing.", frames=(frame,))

    def _elements(self) -> ToolResult:
        if Capability.ACCESSIBILITY not in self.desk.capabilities:
            raise Unsupported("this desk has no accessibility tree")
        elements = cast(Accessible, self.desk).elements()
        return ToolResult(
            text="\n".join(_describe(element) for element in elements),
            data={"elements": [asdict(element) for element in elements]},
        )

    def _bash(self, arguments: JSON) -> ToolResult:
        call = read(arguments, BashCall)
        done = self.desk.run(["bash", "-lc", call.command], cwd=HOME, timeout=call.timeout)
        return ToolResult(text=_narrate(done), data=_answer(done))

    def _read_file(self, arguments: JSON) -> ToolResult:
        path = _absolute(read(arguments, ReadFileCall).path)
        script = f'[ -f "$1" ] && [ -r "$1" ] || exit {_EXIT_NO_FILE}; head -c "$2" -- "$1"'
        done = self._shell(script, str(path), str(READ_CAP + 1))
        if done.exit_code == _EXIT_NO_FILE:
            return _error(ToolErrorKind.FAILED, f"{path}: no such readable file")
        if done.exit_code != 0:
            return _error(ToolErrorKind.FAILED, _narrate(done))
        if len(done.stdout) > READ_CAP:
            return _error(ToolErrorKind.FAILED, f"{path}: larger than {READ_CAP} bytes")
        try:
            return ToolResult(text=done.stdout.decode())
        except UnicodeDecodeError as error:
            return _error(ToolErrorKind.FAILED, f"{path}: not UTF-8 text ({error})")

    def _write_file(self, arguments: JSON) -> ToolResult:
        call = read(arguments, WriteFileCall)
        path = _absolute(call.path)
        script = 'mkdir -p -- "$(dirname -- "$1")" && cat > "$1"'
        done = self._shell(script, str(path), stdin=call.text.encode("utf-8", "surrogatepass"))
        if done.exit_code != 0:
            return _error(ToolErrorKind.FAILED, _narrate(done))
        return ToolResult(text=f"Wrote {path}.")

    def _shell(self, script: str, *arguments: str, stdin: bytes = b"") -> Completed:
        """As the agent, whose rights and links are its own: the house never opens a path it was given."""
        return self.desk.run(
            ["sh", "-c", script, "sh", *arguments], stdin=stdin, cwd=HOME, timeout=30.0, cap=READ_CAP + 1
        )


def _absolute(path: str) -> PurePosixPath:
    if not path or "\0" in path:
        raise ArgumentError("path is empty or holds a NUL")
    return HOME / path


def _error(kind: ToolErrorKind, text: str) -> ToolResult:
    return ToolResult(text=text, error=kind)


def _describe(element: Element) -> str:
    states = f" [{', '.join(element.states)}]" if element.states else ""
    text = f" = {element.text!r}" if element.text and element.text != element.name else ""
    box = f"{element.x},{element.y} {element.width}×{element.height}"
    return f"{'  ' * element.depth}{element.role} {element.name!r} ({box}){text}{states}"


def _answer(done: Completed) -> JSON:
    return {
        "exit_code": done.exit_code,
        "stdout": done.stdout.decode("utf-8", "replace"),
        "stderr": done.stderr.decode("utf-8", "replace"),
        "timed_out": done.timed_out,
        "truncated": done.truncated,
    }


def _narrate(done: Completed) -> str:
    parts = [done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")]
    if done.timed_out:
        parts.append(f"[killed after {done.seconds:.0f} s]")
    elif done.exit_code != 0:
        parts.append(f"[exit code {done.exit_code}]")
    if done.truncated:
        parts.append("[output cut in the middle]")
    return "\n".join(part.rstrip("\n") for part in parts if part)
