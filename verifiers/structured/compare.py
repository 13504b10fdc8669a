"""Compare two trees of data place by place; a place is named as `orders[2].price`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from practicum.verifiers.errors import Unreadable
from practicum.verifiers.structured.data import Tree, read
from practicum.verifiers.structured.spec import At, StructuredSpec
from practicum.verifiers.verdict import Check, Verdict, check

_SHOWN = 4
_MAX_PAIRED = 400


@dataclass(slots=True)
class _Tally:
    """Leaves of the reference, and the places that differ by kind."""

    leaves: int = 0
    missing: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)

    @property
    def bad(self) -> int:
        return len(self.missing) + len(self.wrong) + len(self.extra)

    def absorb(self, other: _Tally) -> None:
        self.leaves += other.leaves
        self.missing += other.missing
        self.wrong += other.wrong
        self.extra += other.extra


def verify(candidate: Path, reference: Path, spec: StructuredSpec | None = None) -> Verdict:
    """Raises `Unreadable` for the reference and `MissingExtra` for YAML."""
    spec = spec or StructuredSpec()
    truth = read(reference)
    try:
        made = read(candidate)
    except Unreadable as error:
        return Verdict((check("readable", False, expected="data", found=error.reason).as_gate(),))
    tally = _Comparer(spec).tally(truth, made, "")
    readable = check("readable", True, expected="data", found=candidate.suffix.lower()).as_gate()
    checks = [
        _share("nothing missing", tally.missing, tally),
        _share("values", tally.wrong, tally),
        *(() if spec.extra else (_share("nothing more", tally.extra, tally),)),
    ]
    return Verdict((readable, *checks))


def _share(name: str, places: list[str], tally: _Tally) -> Check:
    return check(
        name,
        not places,
        expected=f"{tally.leaves} values",
        found=f"{len(places)} places differ",
        reason="; ".join(places[:_SHOWN]),
        score=max(0.0, 1.0 - len(places) / max(1, tally.leaves)),
    )


class _Comparer:
    def __init__(self, spec: StructuredSpec) -> None:
        self._spec = spec
        self._rules = [(_pattern(rule.path), rule) for rule in spec.at]

    def tally(self, truth: Tree, made: Tree, place: str) -> _Tally:
        rule = self._rule(place)
        if rule is not None and rule.ignore:
            return _Tally()
        if isinstance(truth, dict) and isinstance(made, dict):
            return self._objects(truth, made, place)
        if isinstance(truth, list) and isinstance(made, list):
            ordered = self._spec.ordered if rule is None else rule.ordered
            return self._lists(truth, made, place, ordered=ordered)
        if self._same(truth, made, place):
            return _Tally(leaves=1)
        return _Tally(
            leaves=_leaves(truth),
            wrong=[f"{place or 'all of it'}: expected {_short(truth)}, found {_short(made)}"],
        )

    def _objects(self, truth: dict[str, Tree], made: dict[str, Tree], place: str) -> _Tally:
        total = _Tally()
        for name, value in truth.items():
            inner = f"{place}.{name}" if place else name
            if name in made:
                total.absorb(self.tally(value, made[name], inner))
            elif not (self._spec.blanks and value is None) and not self._ignored(inner):
                total.absorb(_Tally(leaves=_leaves(value), missing=[f"{inner} is missing"]))
        for name in made.keys() - truth.keys():
            inner = f"{place}.{name}" if place else name
            if not (self._spec.blanks and made[name] is None) and not self._ignored(inner):
                total.extra.append(f"{inner} is not asked for")
        return total

    def _lists(self, truth: list[Tree], made: list[Tree], place: str, *, ordered: bool) -> _Tally:
        total = _Tally()
        pairs = enumerate(made[: len(truth)]) if ordered else self._paired(truth, made, place)
        partner = dict(pairs)
        for index, value in enumerate(truth):
            inner = f"{place}[{index}]"
            if index in partner:
                total.absorb(self.tally(value, partner[index], inner))
            else:
                total.absorb(_Tally(leaves=_leaves(value), missing=[f"{inner} is missing"]))
        total.extra += [f"{place} has {len(made) - len(truth)} items more"] * max(0, len(made) - len(truth))
        return total

    def _paired(self, truth: list[Tree], made: list[Tree], place: str) -> Iterator[tuple[int, Tree]]:
        """Equal items first, then the least different of what is left."""
        left, open_ = list(made), []
        for index, value in enumerate(truth):
            same = next((item for item in left if not self.tally(value, item, f"{place}[{index}]").bad), None)
            if same is None and not any(item is None for item in left if value is None):
                open_.append((index, value))
                continue
            left.remove(same)
            yield index, same
        for index, value in open_[:_MAX_PAIRED]:
            if left:
                nearest = min(
                    left[:_MAX_PAIRED], key=lambda item: self.tally(value, item, f"{place}[{index}]").bad
                )
                left.remove(nearest)
                yield index, nearest

    def _same(self, truth: Tree, made: Tree, place: str) -> bool:
        if isinstance(truth, bool) or isinstance(made, bool):
            return truth is made
        if isinstance(truth, int | float) and isinstance(made, int | float):
            room = max(self._tolerance(place), self._spec.relative * abs(truth))
            return abs(truth - made) <= room
        if isinstance(truth, str) and isinstance(made, str):
            return _words(truth) == _words(made)
        return truth is None and made is None

    def _tolerance(self, place: str) -> float:
        """Of the longest rule at this place or above it."""
        found = self._spec.tolerance
        for end in [match.start() for match in re.finditer(r"[.\[]", place)] + [len(place)]:
            rule = self._rule(place[:end])
            if rule is not None and rule.tolerance is not None:
                found = rule.tolerance
        return found

    def _rule(self, place: str) -> At | None:
        return next((rule for pattern, rule in self._rules if pattern.fullmatch(place)), None)

    def _ignored(self, place: str) -> bool:
        rule = self._rule(place)
        return rule is not None and rule.ignore


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.escape(path).replace(r"\[\*\]", r"\[\d+\]").replace(r"\*", r"[^.\[]+"))


def _leaves(tree: Tree) -> int:
    if isinstance(tree, dict):
        return max(1, sum(map(_leaves, tree.values())))
    return max(1, sum(map(_leaves, tree))) if isinstance(tree, list) else 1


def _words(text: str) -> str:
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n")).strip()


def _short(tree: Tree) -> str:
    text = repr(tree)
    return text if len(text) <= 60 else text[:57] + "…"
