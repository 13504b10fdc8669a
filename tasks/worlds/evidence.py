"""Evidence: what must have been looked at before a decision, read from the journal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from practicum.infra.world.journal import Entry
from practicum.infra.world.rules import Read, Write

Judge = Callable[[Sequence[Entry]], str | None]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A named demand on the journal: `judge` says in words what is lacking, or `None`."""

    name: str
    judge: Judge = field(repr=False)


def looked(
    name: str,
    read: Read,
    *,
    before: Write,
    same: Mapping[str, str] | None = None,
    since: Sequence[Write] = (),
    optional: bool = False,
) -> Evidence:
    """Each accepted call of `before` follows an accepted `read`.

    `same` maps arguments of the decision to arguments of the read that must be equal. The read must be
    newer than the last accepted call of any of `since`. Without any decision nothing is shown, and that
    fails unless `optional`.
    """
    pairs = dict(same or {})
    stirring = frozenset(write.__name__ for write in since)

    def judge(entries: Sequence[Entry]) -> str | None:
        decisions = [at for at, entry in enumerate(entries) if _accepted(entry, before.__name__)]
        if not decisions:
            return None if optional else f"{before.__name__} was never done"
        for at in decisions:
            start = max((n for n in range(at) if _stirs(entries[n], stirring)), default=-1)
            seen = any(_fits(entry, read, entries[at], pairs) for entry in entries[start + 1 : at])
            if not seen:
                return f"call {entries[at].seq} ({before.__name__}) without {read.__name__} before it"
        return None

    return Evidence(name, judge)


def looked_after(name: str, read: Read, *, after: Write, optional: bool = False) -> Evidence:
    """After the last accepted call of `after` there is an accepted `read`: the work was looked at again."""

    def judge(entries: Sequence[Entry]) -> str | None:
        last = max((at for at, entry in enumerate(entries) if _accepted(entry, after.__name__)), default=-1)
        if last < 0:
            return None if optional else f"{after.__name__} was never done"
        if any(_accepted(entry, read.__name__) for entry in entries[last + 1 :]):
            return None
        return f"no {read.__name__} after the last {after.__name__}"

    return Evidence(name, judge)


def _accepted(entry: Entry, tool: str) -> bool:
    return entry.tool == tool and entry.error is None


def _stirs(entry: Entry, tools: frozenset[str]) -> bool:
    return entry.tool in tools and entry.error is None


def _fits(entry: Entry, read: Read, decision: Entry, pairs: Mapping[str, str]) -> bool:
    return _accepted(entry, read.__name__) and all(
        decision.arguments.get(mine) == entry.arguments.get(theirs) for mine, theirs in pairs.items()
    )
