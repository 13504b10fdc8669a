"""Compare two machining or printing programs by the path they make, not by how it is written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from practicum.verifiers.errors import BadSpec, Unreadable
from practicum.verifiers.gcode.program import F8, Program, read
from practicum.verifiers.gcode.spec import GcodeSpec, Solid
from practicum.verifiers.verdict import Check, Verdict, all_of, check

_MAX_POINTS = 400_000


def verify(candidate: Path, reference: Path, spec: GcodeSpec | None = None) -> Verdict:
    """Raises `Unreadable` for the reference and `BadSpec` where it never feeds."""
    spec = spec or GcodeSpec()
    truth = read(reference)
    if truth.rapid.all():
        raise BadSpec("the reference has rapid moves only")
    try:
        made = read(candidate)
    except Unreadable as error:
        return Verdict((check("readable", False, expected="a program", found=error.reason).as_gate(),))
    if made.rapid.all():
        return Verdict(
            (check("readable", False, expected="feeding moves", found="rapid moves only").as_gate(),)
        )
    checks = [check("readable", True, expected="a program", found=f"{len(made.feed)} moves").as_gate()]
    checks += [_path(made, truth, spec), _extents(made, truth, spec), _length(made, truth, spec)]
    checks.append(
        _ratio("extrusion", _extruded(made), _extruded(truth), spec.extrusion_fraction, "mm of filament")
    )
    if spec.feed_fraction is not None:
        checks.append(_feed(made, truth, spec.feed_fraction))
    if spec.direction:
        checks.append(_direction(made, truth, spec))
    checks += [_clear(made, solid) for solid in spec.rapids_clear]
    for visit in spec.visits:
        near = float(_nearest(np.array([visit.at]), _points(made, spec.distance)[0])[0][0])
        checks.append(
            check(
                visit.name,
                near <= visit.tolerance + spec.distance,
                expected=f"within {visit.tolerance:g}",
                found=f"{near:.4g} mm off",
            ).weighing(visit.weight)
        )
    return Verdict(tuple(checks))


def _points(program: Program, step: float) -> tuple[F8, F8, F8]:
    """Points at most `step` apart along the feeding moves, with the unit direction and feed there."""
    feeds = ~program.rapid & (program.lengths > 0.0)
    start, end, lengths = program.start[feeds], program.end[feeds], program.lengths[feeds]
    pitch = max(step, float(lengths.sum()) / _MAX_POINTS)
    count = np.maximum(1, np.ceil(lengths / pitch).astype(np.int64)) + 1
    owner = np.repeat(np.arange(len(count)), count)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
    share = within / np.maximum(1, count[owner] - 1)
    points = start[owner] + share[:, None] * (end - start)[owner]
    return points, ((end - start) / np.maximum(lengths, 1e-12)[:, None])[owner], program.feed[feeds][owner]


def _nearest(points: F8, others: F8) -> tuple[F8, np.ndarray[tuple[int, ...], np.dtype[np.int64]]]:
    distance, place = cKDTree(others).query(points)
    return np.asarray(distance), np.asarray(place, np.int64)


def _path(made: Program, truth: Program, spec: GcodeSpec) -> Check:
    ours, theirs = _points(made, spec.distance)[0], _points(truth, spec.distance)[0]
    parts = []
    for name, source, target in (
        ("program → reference", ours, theirs),
        ("reference → program", theirs, ours),
    ):
        off = _nearest(source, target)[0]
        worst = int(off.argmax())
        place = ", ".join(f"{value:.3g}" for value in source[worst])
        within = float((off <= 1.5 * spec.distance).mean())
        parts.append(
            check(
                name,
                within == 1.0,
                expected=f"≤ {spec.distance:g} mm",
                found=f"{off[worst]:.4g} mm at ({place})",
                score=within,
            )
        )
    worst_part = min(part.score for part in parts)
    whole = all_of("path", parts)
    return Check(
        "path",
        whole.passed,
        min(worst_part, 1.0 if whole.passed else 0.95),
        reason=whole.reason,
        children=whole.children,
    )


def _extents(made: Program, truth: Program, spec: GcodeSpec) -> Check:
    boxes = [
        np.stack([p.min(axis=0), p.max(axis=0)]) for p in (_points(one, 1.0)[0] for one in (made, truth))
    ]
    off = float(np.abs(boxes[0] - boxes[1]).max())
    return check(
        "extents",
        off <= 2 * spec.distance,
        expected=f"within {2 * spec.distance:g} mm",
        found=f"{off:.4g} mm off",
    )


def _length(made: Program, truth: Program, spec: GcodeSpec) -> Check:
    ours, theirs = (float(one.lengths[~one.rapid].sum()) for one in (made, truth))
    return _ratio("length of cut", ours, theirs, spec.length_fraction, "mm")


def _extruded(program: Program) -> float:
    return float(program.extruded.sum())


def _ratio(name: str, found: float, wanted: float, fraction: float, unit: str) -> Check:
    error = abs(found - wanted) / abs(wanted) if wanted else float(abs(found) > 1e-9)
    score = 1.0 if error <= fraction else max(0.0, 0.95 - error)
    return check(
        name,
        error <= fraction,
        expected=f"{wanted:.4g} {unit} ± {100 * fraction:g} %",
        found=f"{found:.4g}",
        score=score,
    )


def _feed(made: Program, truth: Program, fraction: float) -> Check:
    """The feed in force where the reference has its own, point by point."""
    ours, _, our_feed = _points(made, 0.5)
    theirs, _, wanted = _points(truth, 0.5)
    found = our_feed[_nearest(theirs, ours)[1]]
    right = np.abs(found - wanted) <= fraction * np.maximum(wanted, 1e-9)
    share = float(right.mean())
    return check(
        "feed",
        share >= 0.98,
        expected=f"± {100 * fraction:g} % along the path",
        found=f"right over {share:.1%}",
        score=1.0 if share >= 0.98 else 0.95 * share,
    )


def _direction(made: Program, truth: Program, spec: GcodeSpec) -> Check:
    ours, our_way, _ = _points(made, spec.distance)
    theirs, way, _ = _points(truth, spec.distance)
    along = np.einsum("ij,ij->i", way, our_way[_nearest(theirs, ours)[1]])
    share = float((along > -0.5).mean())
    return check(
        "direction",
        share >= 0.98,
        expected="the reference's",
        found=f"the same over {share:.1%}",
        score=share,
    )


def _clear(made: Program, solid: Solid) -> Check:
    """No rapid passes through a box: the slab test on each segment."""
    start, end = made.start[made.rapid], made.end[made.rapid]
    low, high, way = np.array(solid.low), np.array(solid.high), end - start
    safe = np.where(way == 0.0, 1.0, way)
    first, second = (low - start) / safe, (high - start) / safe
    beside = (way == 0.0) & ((start <= low) | (start >= high))
    enter = np.where(way == 0.0, -np.inf, np.minimum(first, second)).max(axis=1)
    leave = np.where(way == 0.0, np.inf, np.maximum(first, second)).min(axis=1)
    through = (enter < leave - 1e-9) & (leave > 1e-9) & (enter < 1.0 - 1e-9) & ~beside.any(axis=1)
    name = f"rapids clear of {solid.name}"
    return check(
        name,
        not through.any(),
        expected="no rapid through it",
        found=f"{int(through.sum())} rapids through it",
    )
