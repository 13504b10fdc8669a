"""Compare a drawing with its reference by what it shows: page, outlines, paint, texts."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment

from practicum.verifiers.colour import ciede2000, lab
from practicum.verifiers.errors import BadSpec, Unreadable
from practicum.verifiers.vector import outline
from practicum.verifiers.vector.spec import VectorSpec
from practicum.verifiers.vector.style import Rgb
from practicum.verifiers.vector.svg import PX_PER_MM, Drawing, Shape, Text, read
from practicum.verifiers.verdict import Check, Verdict, all_of, check

_MAX_SHAPES = 600
_MIN_VISIBLE = 0.01


def verify(candidate: Path, reference: Path, spec: VectorSpec | None = None) -> Verdict:
    """Raises `Unreadable` for the reference and `BadSpec` where it has nothing to compare."""
    spec = spec or VectorSpec()
    truth = read(reference)
    try:
        made = read(candidate)
    except Unreadable as error:
        return Verdict((check("readable", False, expected="an SVG", found=error.reason).as_gate(),))
    return Verdict(judge(made, truth, spec))


def judge(made: Drawing, truth: Drawing, spec: VectorSpec) -> tuple[Check, ...]:
    """Shapes are paired so that the sum of their differences is least, texts by content and place."""
    wanted, found = visible(truth), visible(made)
    if not wanted and not truth.texts:
        raise BadSpec("the reference shows nothing")
    if len(wanted) > _MAX_SHAPES:
        raise BadSpec(f"the reference has more than {_MAX_SHAPES} shapes")
    if len(found) > _MAX_SHAPES:
        crowd = check("readable", False, expected=f"at most {_MAX_SHAPES} shapes", found=f"{len(found)}")
        return (crowd.as_gate(),)
    checks = [
        check("readable", True, expected="an SVG", found=f"{len(found)} shapes").as_gate(),
        _page(made, truth, spec),
    ]
    room = spec.distance_mm * PX_PER_MM
    pairs, surplus = _paired(wanted, found, spec)
    if wanted:
        checks.append(all_of("shapes", [_shape(i, a, b, room, spec) for i, (a, b) in enumerate(pairs, 1)]))
        checks.append(_stacking(pairs, found))
    if not spec.extra_shapes:
        checks.append(
            check(
                "no other shapes",
                not surplus,
                found=f"{len(surplus)} more",
                reason=f"{len(surplus)} shapes not asked for",
                score=1 / (1 + len(surplus)),
            )
        )
    return (*checks, *_texts(made, truth, spec))


def visible(drawing: Drawing) -> list[Shape]:
    """Shapes that leave paint on the page."""
    return [shape for shape in drawing.shapes if _painted(shape) and _on_page(shape, drawing)]


def _painted(shape: Shape) -> bool:
    return shape.opacity > _MIN_VISIBLE and bool(shape.fill or (shape.stroke and shape.stroke_width > 0.0))


def _on_page(shape: Shape, drawing: Drawing) -> bool:
    x0, y0, x1, y1 = shape.box
    return x1 >= 0.0 and y1 >= 0.0 and x0 <= drawing.width and y0 <= drawing.height


def _page(made: Drawing, truth: Drawing, spec: VectorSpec) -> Check:
    (w, h), (wanted_w, wanted_h) = made.size_mm, truth.size_mm
    off = max(abs(w - wanted_w), abs(h - wanted_h))
    return check(
        "page size",
        off <= spec.page_mm,
        expected=f"{wanted_w:.2f} × {wanted_h:.2f} mm",
        found=f"{w:.2f} × {h:.2f} mm",
    )


def _paired(
    wanted: list[Shape], found: list[Shape], spec: VectorSpec
) -> tuple[list[tuple[Shape, Shape | None]], list[Shape]]:
    if not wanted or not found:
        return [(shape, None) for shape in wanted], found
    reach = max(1.0, 20.0 * spec.distance_mm) * PX_PER_MM
    cost = np.array([[_cost(a, b, reach) for b in found] for a in wanted])
    rows, columns = linear_sum_assignment(cost)
    partner = {
        int(row): int(column) for row, column in zip(rows, columns, strict=True) if cost[row, column] < 2.0
    }
    pairs = [(shape, found[partner[i]] if i in partner else None) for i, shape in enumerate(wanted)]
    taken = set(partner.values())
    return pairs, [shape for i, shape in enumerate(found) if i not in taken]


def _cost(a: Shape, b: Shape, reach: float) -> float:
    """In [0, 2]: outline distance as a share of how far a partner may be, then paint; 2 is no partner."""
    near = max(abs(x - y) for x, y in zip(a.box, b.box, strict=True))
    if near > reach:
        return 2.0
    apart = outline.distance(a.outlines, b.outlines)
    paint = min(100.0, difference(a.fill, b.fill) + difference(a.stroke, b.stroke)) / 100.0
    return min(1.0, apart / reach) + 0.5 * paint


def difference(first: Sequence[Rgb], second: Sequence[Rgb]) -> float:
    """The largest ΔE00 between two paints, stop by stop; 100 where their numbers of stops differ."""
    if len(first) != len(second):
        return 100.0
    return max((float(ciede2000(lab(a), lab(b))) for a, b in zip(first, second, strict=True)), default=0.0)


def _shape(number: int, wanted: Shape, found: Shape | None, room: float, spec: VectorSpec) -> Check:
    name = wanted.id or f"shape {number}"
    where = "box " + " ".join(f"{value / PX_PER_MM:.1f}" for value in wanted.box) + " mm"
    if found is None:
        return check(name, False, expected=where, found="nothing there", reason=f"no shape at {where}")
    apart = outline.distance(wanted.outlines, found.outlines)
    parts = [
        check(
            "outline",
            apart <= room,
            expected=f"within {spec.distance_mm:g} mm",
            found=f"{apart / PX_PER_MM:.3g} mm off",
        ),
        _paint("fill", wanted.fill, found.fill, spec),
        _paint("stroke", wanted.stroke, found.stroke, spec),
        check(
            "opacity",
            abs(wanted.opacity - found.opacity) <= 0.02,
            expected=f"{wanted.opacity:.2f}",
            found=f"{found.opacity:.2f}",
        ),
    ]
    if wanted.stroke and found.stroke:
        off = abs(wanted.stroke_width - found.stroke_width)
        parts.append(
            check(
                "stroke width",
                off <= max(room, 0.05 * wanted.stroke_width),
                expected=f"{wanted.stroke_width / PX_PER_MM:.3g} mm",
                found=f"{found.stroke_width / PX_PER_MM:.3g} mm",
            )
        )
    return all_of(name, parts)


def _stacking(pairs: Sequence[tuple[Shape, Shape | None]], found: list[Shape]) -> Check:
    """Where two shapes of the reference overlap, the one above must stay above."""
    present = [(a, found.index(b)) for a, b in pairs if b is not None]
    swapped = [
        f"{lower.id or 'a shape'} above {upper.id or 'another'}"
        for i, (lower, below) in enumerate(present)
        for upper, above in present[i + 1 :]
        if below > above and _overlap(lower, upper)
    ]
    return check(
        "stacking",
        not swapped,
        found="; ".join(swapped[:3]) or "as in the reference",
        reason="; ".join(swapped[:3]),
        score=1 / (1 + len(swapped)),
    )


def _overlap(a: Shape, b: Shape) -> bool:
    (ax0, ay0, ax1, ay1), (bx0, by0, bx1, by1) = a.box, b.box
    return ax0 < bx1 and bx0 < ax1 and ay0 < by1 and by0 < ay1


def _paint(name: str, wanted: Sequence[Rgb], found: Sequence[Rgb], spec: VectorSpec) -> Check:
    off = difference(wanted, found)
    return check(name, off <= spec.delta_e, expected=_hex(wanted), found=f"{_hex(found)}, ΔE00 {off:.1f}")


def _hex(paint: Sequence[Rgb]) -> str:
    return "–".join("#" + bytes(rgb).hex() for rgb in paint) or "none"


def _texts(made: Drawing, truth: Drawing, spec: VectorSpec) -> list[Check]:
    waiting, checks = list(made.texts), []
    for wanted in truth.texts:
        same = [text for text in waiting if _plain(text) == _plain(wanted)]
        found = min(same, key=lambda text: abs(text.x - wanted.x) + abs(text.y - wanted.y), default=None)
        if found is not None:
            waiting.remove(found)
        checks.append(_text(wanted, found, spec))
    result = [all_of("texts", checks)] if checks else []
    if not spec.extra_shapes:
        surplus = "; ".join(text.content for text in waiting[:3])
        result.append(
            check("no other texts", not waiting, found=surplus or "none", reason=f"not asked for: {surplus}")
        )
    return result


def _text(wanted: Text, found: Text | None, spec: VectorSpec) -> Check:
    name = wanted.content
    if found is None:
        return check(name, False, expected=name, found="no such text")
    off = max(abs(found.x - wanted.x), abs(found.y - wanted.y)) / PX_PER_MM
    size, wanted_size = (text.size / PX_PER_MM for text in (found, wanted))
    parts = [_paint("fill", wanted.fill, found.fill, spec)]
    if spec.text_mm is not None:
        parts.append(
            check(
                "place",
                off <= spec.text_mm,
                expected=f"within {spec.text_mm:g} mm",
                found=f"{off:.3g} mm off",
            )
        )
    parts.append(
        check(
            "font size",
            abs(size / wanted_size - 1.0) <= spec.font_size_fraction,
            expected=f"{wanted_size:.3g} mm",
            found=f"{size:.3g} mm",
        )
    )
    if spec.font_family:
        parts.append(
            check(
                "font",
                found.family.casefold() == wanted.family.casefold(),
                expected=wanted.family,
                found=found.family,
            )
        )
    return all_of(name, parts)


def _plain(text: Text) -> str:
    return unicodedata.normalize("NFC", " ".join(text.content.split()))
