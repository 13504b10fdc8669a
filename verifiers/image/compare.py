"""Compare a picture with its reference, by what is seen and never after resizing.

A global measure is high for the untouched input already, so partial credit is counted from there, and the
worst small block is looked at beside the mean.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image

from practicum.verifiers.errors import BadSpec, Unreadable
from practicum.verifiers.image.measures import colour_difference, share_near, structural_similarity
from practicum.verifiers.image.raster import F8, U1, Picture, read
from practicum.verifiers.image.spec import Area, ImageSpec
from practicum.verifiers.verdict import Check, Evidence, Verdict, check

_FULL_RED = 20.0


def verify(
    candidate: Path, reference: Path, spec: ImageSpec | None = None, *, before: Path | None = None
) -> Verdict:
    """`before` is the untouched input: what it already scores earns nothing.

    Raises `Unreadable` for the reference or input, and `BadSpec` where they do not fit together.
    """
    spec = spec or ImageSpec()
    truth = read(reference)
    start = read(before) if before else None
    try:
        made = read(candidate)
    except Unreadable as error:
        return Verdict((check("readable", False, expected="a picture", found=error.reason).as_gate(),))
    return Verdict(judge(made, truth, spec, start))


def judge(made: Picture, truth: Picture, spec: ImageSpec, before: Picture | None = None) -> tuple[Check, ...]:
    checks = [check("readable", True, expected="a picture", found=f"{made.format} {made.mode}").as_gate()]
    same_size = check("size", made.size == truth.size, expected=_by(truth), found=_by(made))
    if not same_size.passed:
        return (*checks, same_size.as_gate())
    off = colour_difference(made.rgb, truth.rgb)
    gained = 1.0
    if before is not None:
        gained = _gained(off, before, truth)
        checks.append(_beats(gained, spec.margin))
    checks += [
        same_size,
        _mean(off, gained, made, spec),
        _p95(off, spec),
        _block(off, spec),
        _alpha(made, truth, spec),
    ]
    if spec.ssim is not None:
        found = float(structural_similarity(made.rgb, truth.rgb).mean())
        checks.append(
            check(
                "structure",
                found >= spec.ssim,
                expected=f"SSIM ≥ {spec.ssim:g}",
                found=f"{found:.4f}",
                score=1.0 if found >= spec.ssim else 0.9 * max(0.0, found),
            )
        )
    if spec.formats:
        checks.append(
            check(
                "format", made.format in spec.formats, expected=" or ".join(spec.formats), found=made.format
            )
        )
    checks += [_area(off, area) for area in spec.areas]
    for share in spec.palette:
        found = share_near(made.rgb, share.colour, share.delta_e)
        checks.append(
            check(
                share.name,
                share.least <= found <= share.most,
                expected=f"{share.least:.1%} – {share.most:.1%}",
                found=f"{found:.1%}",
            ).weighing(share.weight)
        )
    return tuple(checks)


def _by(picture: Picture) -> str:
    return f"{picture.size[0]} × {picture.size[1]} pixels"


def _gained(off: F8, before: Picture, truth: Picture) -> float:
    """How much of the input's difference from the reference is gone."""
    if before.size != truth.size:
        return 1.0
    base = float(colour_difference(before.rgb, truth.rgb).mean())
    if base == 0.0:
        raise BadSpec("the untouched input is the reference already")
    return 1.0 - float(off.mean()) / base


def _beats(gained: float, margin: float) -> Check:
    reason = "no nearer to the reference than the untouched input"
    if gained > 0.0:
        reason = f"only {gained:.0%} of the input's difference is gone"
    return check(
        "beats the input",
        gained >= margin,
        expected=f"≥ {margin:.0%} of its difference gone",
        found=f"{gained:.1%}",
        reason=reason,
    ).as_gate()


def _mean(off: F8, gained: float, made: Picture, spec: ImageSpec) -> Check:
    found = float(off.mean())
    passed = found <= spec.mean
    score = 1.0 if passed else 0.9 * min(max(0.0, gained), spec.mean / found)
    base = check("colour, mean", passed, expected=f"ΔE00 ≤ {spec.mean:g}", found=f"{found:.3f}", score=score)
    return Check(
        base.name,
        base.passed,
        base.score,
        base.expected,
        base.found,
        base.reason,
        evidence=(_map(off, made),),
    )


def _p95(off: F8, spec: ImageSpec) -> Check:
    found = float(np.percentile(off, 95))
    score = 1.0 if found <= spec.p95 else 0.9 * spec.p95 / found
    return check(
        "colour, 95 %", found <= spec.p95, expected=f"ΔE00 ≤ {spec.p95:g}", found=f"{found:.3f}", score=score
    )


def _block(off: F8, spec: ImageSpec) -> Check:
    """Means over all squares, by a summed-area table."""
    side = min(spec.block, *off.shape)
    table = np.pad(off.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    means = (
        table[side:, side:] - table[:-side, side:] - table[side:, :-side] + table[:-side, :-side]
    ) / side**2
    row, column = np.unravel_index(int(means.argmax()), means.shape)
    found = float(means[row, column])
    return check(
        "worst place",
        found <= spec.worst_block,
        expected=f"ΔE00 ≤ {spec.worst_block:g} in any {side} px square",
        found=f"{found:.2f} at ({column}, {row})",
        score=1.0 if found <= spec.worst_block else 0.9 * spec.worst_block / found,
    )


def _alpha(made: Picture, truth: Picture, spec: ImageSpec) -> Check:
    found = float(np.abs(made.alpha - truth.alpha).mean())
    return check(
        "transparency",
        found <= spec.alpha,
        expected=f"mean difference ≤ {spec.alpha:g}",
        found=f"{found:.4f}",
    )


def _area(off: F8, area: Area) -> Check:
    left, top, right, bottom = area.box
    part = off[max(0, top) : bottom, max(0, left) : right]
    if part.size == 0:
        raise BadSpec(f"area {area.name!r} is outside the picture")
    mean, p95 = float(part.mean()), float(np.percentile(part, 95))
    worse = max(mean / area.mean, p95 / area.p95)
    return check(
        area.name,
        worse <= 1.0,
        expected=f"ΔE00 mean ≤ {area.mean:g}, 95 % ≤ {area.p95:g}",
        found=f"{mean:.2f}, {p95:.2f}",
        score=1.0 if worse <= 1.0 else 0.9 / worse,
    ).weighing(area.weight)


def _map(off: F8, made: Picture) -> Evidence:
    """The candidate in grey, with red where it differs; full red at ΔE00 20."""
    grey = made.rgb.mean(axis=2, keepdims=True) * 0.5 + 100.0
    heat = np.clip(off / _FULL_RED, 0.0, 1.0)[..., None]
    mixed: U1 = np.round(grey * (1.0 - heat) + np.array([220.0, 30.0, 30.0]) * heat).astype(np.uint8)
    image = Image.fromarray(mixed)
    image.thumbnail((1024, 1024))
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return Evidence(
        "difference.png", "image/png", buffer.getvalue(), "where the picture differs; full red is ΔE00 20"
    )
