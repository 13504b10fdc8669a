"""The engine: a world as an environment. Each call is checked, run in a transaction, and journaled."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from practicum.infra.environment import Tool, ToolCall, ToolErrorKind, ToolResult
from practicum.infra.errors import WorldFault
from practicum.infra.faults.operations import Access, Operation
from practicum.infra.world import journal
from practicum.infra.world.backend import Backend, Executable
from practicum.infra.world.rules import ACTIVITY, SUBMIT, Rules
from practicum.infra.world.tables import Change, Row, Tables
from practicum.infra.world.tool import BadArguments, WorldTool
from practicum.infra.world.world import CLOCK, Clock, Refused, View, World

_encode = msgspec.json.Encoder().encode


class WorldEnvironment:
    """One workplace, open for one trial.

    Leaves `state.json`, `journal.jsonl` and, once something was handed in, `answer.json`.
    """

    def __init__(
        self,
        rules: Rules,
        tables: Tables,
        *,
        operations: Callable[[], tuple[Operation, ...]] = tuple,
        backend: Backend | None = None,
    ) -> None:
        """`operations` tells, when asked, what a fault may strike here; calls are answered by `backend`, or
        by the tools' own code."""
        self.rules = rules
        self.operations = operations
        self.entries: list[journal.Entry] = []
        self.answer: dict[str, Any] | None = None
        self._tables = tables
        self._view = View(tables)
        self._world = World(tables)
        self.backend = backend or Executable()
        self._revision = 0
        self._digest = tables.digest

    @classmethod
    def at(cls, rules: Rules, now: datetime, rows: Iterable[Row], **more: Any) -> WorldEnvironment:
        """A world that starts at `now` with these rows."""
        return cls(rules, Tables(rules.kinds, [Clock(CLOCK, now), *rows]), **more)

    def tools(self) -> tuple[Tool, ...]:
        return self.rules.menu

    def access(self, tool: str) -> Access:
        """Unknown tools count as reads: they change nothing."""
        known = self.rules.tools.get(tool)
        return Access.WRITE if tool == SUBMIT else known.access if known else Access.READ

    def call(self, call: ToolCall) -> ToolResult:
        """Raises `WorldFault` when a tool of ours crashes; the state is then as it was."""
        if call.name == SUBMIT:
            return self._submit(call)
        tool = self.rules.tools.get(call.name)
        if tool is None:
            return self._reject(call, ToolErrorKind.UNKNOWN_TOOL, f"there is no tool {call.name!r}")
        try:
            arguments = tool.read(call.arguments)
        except BadArguments as error:
            return self._reject(call, ToolErrorKind.BAD_ARGUMENTS, str(error))
        if tool.access is Access.READ:
            return self._read(call, tool, arguments)
        if self.answer is not None:
            return self._reject(call, ToolErrorKind.REFUSED, "the work is already handed in")
        return self._write(call, tool, arguments)

    def _read(self, call: ToolCall, tool: WorldTool, arguments: dict[str, Any]) -> ToolResult:
        try:
            if tool.name == ACTIVITY:
                value: Any = journal.activities(self.entries)
            else:
                value = self.backend.read(tool, self._view, arguments)
        except Refused as refusal:
            return self._reject(call, ToolErrorKind.REFUSED, str(refusal))
        except WorldFault:
            raise
        except Exception as error:
            raise WorldFault(f"{self.rules.name}: {tool.name} crashed: {error!r}") from error
        return self._accept(call, tool.answer(value, self._revision), ())

    def _write(self, call: ToolCall, tool: WorldTool, arguments: dict[str, Any]) -> ToolResult:
        try:
            value = self.backend.write(tool, self._world, arguments)
            if (why := self.rules.broken(self._view)) is not None:
                raise Refused(why)
        except Refused as refusal:
            self._world.rollback()
            return self._reject(call, ToolErrorKind.REFUSED, str(refusal))
        except WorldFault:
            self._world.rollback()
            raise
        except Exception as error:
            self._world.rollback()
            raise WorldFault(f"{self.rules.name}: {tool.name} crashed: {error!r}") from error
        changes = self._world.commit()
        self._revision += bool(changes)
        return self._accept(call, tool.answer(value, self._revision), changes, write=True)

    def _submit(self, call: ToolCall) -> ToolResult:
        if self.answer is not None:
            return self._reject(call, ToolErrorKind.REFUSED, "the work is already handed in")
        try:
            answer = self.rules.submission.read(call.arguments)
        except BadArguments as error:
            return self._reject(call, ToolErrorKind.BAD_ARGUMENTS, str(error))
        self.answer = msgspec.to_builtins(answer)
        return self._accept(call, {"revision": self._revision, "record": {"accepted": True}}, (), write=True)

    def _accept(
        self, call: ToolCall, answer: dict[str, Any], changes: tuple[Change, ...], *, write: bool = False
    ) -> ToolResult:
        before = self._digest
        if changes:
            self._digest = self._tables.digest
        self._log(call, answer, before=before, changes=changes, write=write)
        return ToolResult(text=_encode(answer).decode(), data=answer)

    def _reject(self, call: ToolCall, kind: ToolErrorKind, why: str) -> ToolResult:
        write = self.access(call.name) is Access.WRITE
        self._log(call, why, error=kind, before=self._digest, write=write)
        return ToolResult(text=f"{kind}: {why}", error=kind)

    def _log(
        self,
        call: ToolCall,
        answer: Any,
        *,
        before: str,
        write: bool,
        changes: tuple[Change, ...] = (),
        error: ToolErrorKind | None = None,
    ) -> None:
        self.entries.append(
            journal.Entry(
                seq=len(self.entries) + 1,
                call_id=call.id,
                tool=call.name,
                arguments=dict(call.arguments),
                error=error,
                answer=answer,
                before=before,
                after=self._digest,
                changes=changes,
                write=write,
            )
        )

    def fork(self) -> WorldEnvironment:
        """The same world from here on, apart from this one."""
        twin = WorldEnvironment(
            self.rules, self._tables.copy(), operations=self.operations, backend=self.backend
        )
        twin.entries, twin.answer, twin._revision = list(self.entries), self.answer, self._revision
        return twin

    def snapshot(self) -> dict[str, Any]:
        """The whole state as JSON values, with its revision and hash. Not for agents."""
        return {"revision": self._revision, "digest": self._digest, "tables": self._tables.plain()}

    def collect(self, into: Path) -> tuple[str, ...]:
        (into / "state.json").write_bytes(_encode(self.snapshot()))
        journal.write(self.entries, into / "journal.jsonl")
        if self.answer is not None:
            (into / "answer.json").write_bytes(_encode(self.answer))
        return ()


def replay(rules: Rules, tables: Tables, entries: Iterable[journal.Entry]) -> WorldEnvironment:
    """Make all journaled calls again. Raises `WorldFault` at the first that answers or hashes differently."""
    world = WorldEnvironment(rules, tables)
    for entry in entries:
        world.call(ToolCall(entry.call_id, entry.tool, entry.arguments))
        if (again := world.entries[-1]) != entry:
            raise WorldFault(f"{rules.name}: call {entry.seq} ({entry.tool}) replays as {again}")
    return world
