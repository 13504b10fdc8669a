"""Compare plain texts by what they say, not by how they are saved."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from difflib import SequenceMatcher
from pathlib import Path

from practicum.verifiers.bounds import read_bytes
from practicum.verifiers.errors import Unreadable
from practicum.verifiers.text.spec import Mention, TextSpec
from practicum.verifiers.verdict import Check, Verdict, check

MAX_BYTES = 32 << 20
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_MAX_DIFFED = 20_000
_SHOWN = 3


def read(path: Path) -> str:
    """UTF-8, UTF-16 with a mark, or else Windows-1252; line ends become "\\n". Raises `Unreadable`."""
    data = read_bytes(path, limit=MAX_BYTES)
    marked = next((name for mark, name in _BOMS if data.startswith(mark)), "")
    for name in (marked,) if marked else ("utf-8", "cp1252"):
        try:
            text = data.decode(name)
        except UnicodeError:
            continue
        if "\0" in text:
            raise Unreadable(path, "NUL characters in text")
        return unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))
    raise Unreadable(path, "not text in UTF-8, UTF-16 or Windows-1252")


def verify(candidate: Path, reference: Path, spec: TextSpec | None = None) -> Verdict:
    """Raises `Unreadable` for the reference."""
    spec = spec or TextSpec()
    truth = read(reference) if spec.lines else ""
    try:
        made = read(candidate)
    except Unreadable as error:
        return Verdict((check("readable", False, expected="a text", found=error.reason).as_gate(),))
    checks = [check("readable", True, expected="a text", found=f"{len(made)} characters").as_gate()]
    if spec.lines:
        checks.append(_lines(made, truth, spec))
    checks += [_mention(made, mention) for mention in spec.mentions]
    return Verdict(tuple(checks))


def _lines(made: str, truth: str, spec: TextSpec) -> Check:
    wanted, found = (_normal(text, spec) for text in (truth, made))
    if not spec.ordered:
        return _unordered(wanted, found)
    same = wanted == found
    if same or len(wanted) + len(found) > _MAX_DIFFED:
        return check("lines", same, expected=f"{len(wanted)} lines", found=f"{len(found)} lines")
    matcher = SequenceMatcher(None, wanted, found, autojunk=False)
    wrong = [
        f"line {i1 + 1}: expected {wanted[i1:i2][:2]}, found {found[j1:j2][:2]}"
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]
    return check(
        "lines",
        same,
        expected=f"{len(wanted)} lines",
        found=f"{len(found)} lines",
        reason="; ".join(wrong[:_SHOWN]),
        score=min(0.99, matcher.ratio()),
    )


def _unordered(wanted: list[str], found: list[str]) -> Check:
    missing, surplus = Counter(wanted) - Counter(found), Counter(found) - Counter(wanted)
    total = max(1, len(wanted) + len(found))
    return check(
        "lines",
        not missing and not surplus,
        expected=f"{len(wanted)} lines in any order",
        found=f"{len(found)} lines",
        reason=f"missing {list(missing)[:_SHOWN]}, not asked for {list(surplus)[:_SHOWN]}",
        score=1.0 - (missing.total() + surplus.total()) / total,
    )


def _normal(text: str, spec: TextSpec) -> list[str]:
    lines = [line.rstrip() for line in text.split("\n")]
    if not spec.blank_lines:
        lines = [line for line in lines if line]
    if spec.casefold:
        lines = [line.casefold() for line in lines]
    if spec.digits:
        lines = [_NUMBER.sub(lambda match: _number(match[0], spec.digits), line) for line in lines]
    return lines


def _number(token: str, digits: int) -> str:
    """One spelling for numbers that differ by rounding; digits that name something keep their zeros."""
    bare = token.lstrip("+-")
    if len(bare) > 1 and bare[0] == "0" and bare[1].isdigit():
        return token
    return f"{float(token):.{digits}g}"


def _mention(text: str, mention: Mention) -> Check:
    plain, phrase = (
        " ".join(part.split()).casefold() for part in (text, unicodedata.normalize("NFC", mention.phrase))
    )
    count = plain.count(phrase)
    right = mention.least <= count and (mention.most is None or count <= mention.most)
    most = "any number" if mention.most is None else mention.most
    return check(
        mention.name,
        right,
        expected=f"{mention.phrase!r} {mention.least} to {most} times",
        found=f"{count} times",
    ).weighing(mention.weight)
