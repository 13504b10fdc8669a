"""Compare a mesh with its reference, and say why.

Global measures do not see a missing hole: the uncut stock of a drilled block has a two-way F-score of 0.96.
So the maximum distance decides, both ways; partial credit is counted from what the stock already scores;
and named probes look at each feature.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from practicum.verifiers.errors import BadSpec, Unreadable
from practicum.verifiers.mesh import boolean, formats
from practicum.verifiers.mesh.align import rigid
from practicum.verifiers.mesh.diagnosis import mirror_axis, rescaled_by
from practicum.verifiers.mesh.distance import Deviation, deviation
from practicum.verifiers.mesh.index import Index
from practicum.verifiers.mesh.mass import mass_properties
from practicum.verifiers.mesh.probes import measure
from practicum.verifiers.mesh.render import deviation_picture
from practicum.verifiers.mesh.soup import content_seed
from practicum.verifiers.mesh.spec import Alignment, MeshSpec
from practicum.verifiers.mesh.topology import Solid, solid
from practicum.verifiers.verdict import Check, Evidence, Role, Verdict, check

_STEPS = (1.0, 2.0, 4.0, 8.0)


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """`forward` is candidate → reference, `backward` the other way; lengths in file units."""

    candidate: Solid
    reference: Solid
    tolerance: float
    forward: Deviation
    backward: Deviation
    candidate_volume: float
    reference_volume: float

    @property
    def largest(self) -> float:
        return max(self.forward.largest, self.backward.largest)

    @property
    def precision(self) -> float:
        return self.forward.share_within(self.tolerance)

    @property
    def recall(self) -> float:
        return self.backward.share_within(self.tolerance)

    @property
    def f_score(self) -> float:
        both = self.precision + self.recall
        return 2.0 * self.precision * self.recall / both if both else 0.0

    @property
    def closeness(self) -> float:
        """min(precision, recall), averaged over 1, 2, 4 and 8 tolerances; damage lowers it."""
        shares = [
            min(
                self.forward.share_within(step * self.tolerance),
                self.backward.share_within(step * self.tolerance),
            )
            for step in _STEPS
        ]
        return float(np.mean(shares))


def verify(
    candidate: Path, reference: Path, spec: MeshSpec | None = None, *, before: Path | None = None
) -> Verdict:
    """`before` is the stock, the part before the work: what it already scores earns nothing.

    Raises `Unreadable` for the reference or the stock, `BadSpec`, and `MissingExtra` for a format.
    """
    spec = spec or MeshSpec()
    truth = solid(formats.read(reference))
    stock = solid(formats.read(before)) if before else None
    try:
        made = solid(formats.read(candidate))
    except Unreadable as error:
        return Verdict((check("readable", False, expected="a mesh", found=error.reason).as_gate(),))
    return judge(made, truth, spec, stock)


def compare(candidate: Solid, reference: Solid, spec: MeshSpec) -> Comparison:
    """Both must have facets."""
    tolerance = spec.distance or spec.distance_fraction * reference.mesh.diagonal
    if not tolerance > 0.0:
        raise BadSpec("the reference has no extent, or the tolerance is not positive")
    ours, theirs = Index(candidate.mesh.triangles), Index(reference.mesh.triangles)
    seed = content_seed(reference.mesh)
    forward = deviation(candidate.mesh, theirs, tolerance, spec, seed)
    backward = deviation(reference.mesh, ours, tolerance, spec, seed)
    return Comparison(
        candidate,
        reference,
        tolerance,
        forward,
        backward,
        boolean.union_volume(candidate),
        boolean.union_volume(reference),
    )


def judge(candidate: Solid, reference: Solid, spec: MeshSpec, stock: Solid | None = None) -> Verdict:
    """The checks of a comparison. Raises `BadSpec` where a probe does not fit the reference."""
    _hold_probes(reference, spec)
    checks = [check("readable", True, expected="a mesh", found=f"{len(candidate.mesh)} facets").as_gate()]
    if factor := rescaled_by(candidate.mesh, reference.mesh):
        checks.append(
            check(
                "not rescaled",
                False,
                expected="the reference's size",
                found=f"{factor} times as large",
                reason=f"every length is {factor} times the reference's: wrong unit",
            ).as_gate()
        )
        return Verdict(tuple(checks))
    checks.append(check("not rescaled", True, expected="the reference's size").as_gate())
    if spec.alignment is Alignment.RIGID:
        candidate, note = _aligned(candidate, reference)
        checks.append(note)
    compared = compare(candidate, reference, spec)
    base = compare(stock, reference, spec).closeness if stock else 0.0
    gained = (compared.closeness - base) / (1.0 - base) if base < 1.0 else 0.0
    if stock:
        checks.append(_beats_stock(gained, spec.stock_margin))
    checks.append(_surface(compared, gained, spec))
    checks += [_volume(compared, spec), _bodies(compared, spec), _watertight(compared), _mirrored(compared)]
    checks += [measure(probe, candidate.mesh, reference.mesh) for probe in spec.probes]
    checks += [_facts(candidate, reference), _tolerated(candidate), boolean.overlap(candidate, reference)]
    return Verdict(tuple(checks))


def _aligned(candidate: Solid, reference: Solid) -> tuple[Solid, Check]:
    motion = rigid(candidate.mesh, reference.mesh)
    written = "; ".join(" ".join(f"{value:.6g}" for value in row) for row in motion[:3])
    return solid(candidate.mesh.moved(motion)), Check(
        "aligned by", True, 1.0, found=written, weight=0.0, role=Role.BONUS
    )


def _hold_probes(reference: Solid, spec: MeshSpec) -> None:
    for probe in spec.probes:
        found = measure(probe, reference.mesh, reference.mesh)
        if not found.passed:
            raise BadSpec(f"probe {probe.name!r} fails on the reference itself: {found.reason}")


def _beats_stock(gained: float, margin: float) -> Check:
    return check(
        "beats the stock",
        gained >= margin,
        expected=f"≥ {margin:g} of the way from stock to reference",
        found=f"{gained:.3f}",
        reason="no nearer to the reference than the part before the work",
    ).as_gate()


def _surface(compared: Comparison, gained: float, spec: MeshSpec) -> Check:
    parts = tuple(
        check(
            f"{name} largest distance",
            one.largest <= compared.tolerance,
            expected=f"≤ {compared.tolerance:.4g}",
            found=f"{one.largest:.4g} at ({', '.join(f'{value:.4g}' for value in one.worst)}); "
            f"p50 {one.p50:.3g}, p95 {one.p95:.3g}, p99 {one.p99:.3g}, nowhere above {one.bound:.3g}",
            score=one.share_within(compared.tolerance),
        )
        for name, one in (
            ("candidate → reference", compared.forward),
            ("reference → candidate", compared.backward),
        )
    )
    passed = all(part.passed for part in parts)
    return Check(
        "surface",
        passed,
        1.0 if passed else min(0.95, max(0.0, gained)),
        expected=f"within {compared.tolerance:.4g} everywhere, both ways",
        found=f"{compared.largest:.4g}; precision {compared.precision:.4f}, recall {compared.recall:.4f}, "
        f"F {compared.f_score:.4f}",
        reason="" if passed else next(f"{part.name}: {part.found}" for part in parts if not part.passed),
        weight=spec.surface_weight,
        children=parts,
        evidence=_picture(compared) if spec.picture else (),
    )


def _picture(compared: Comparison) -> tuple[Evidence, ...]:
    return (deviation_picture(compared.candidate.mesh, compared.reference.mesh, compared.tolerance),)


def _volume(compared: Comparison, spec: MeshSpec) -> Check:
    wanted, found = compared.reference_volume, compared.candidate_volume
    error = abs(found - wanted) / abs(wanted) if wanted else abs(found)
    return check(
        "volume",
        error <= spec.volume_fraction,
        expected=f"{wanted:.6g} ± {100 * spec.volume_fraction:g} %",
        found=f"{found:.6g} ({100 * (found - wanted) / wanted if wanted else 0.0:+.3g} %)",
        score=1.0 if error <= spec.volume_fraction else max(0.0, 0.95 - error / (20 * spec.volume_fraction)),
    )


def _bodies(compared: Comparison, spec: MeshSpec) -> Check:
    wanted, found = compared.reference, compared.candidate
    same = (wanted.bodies, wanted.cavities) == (found.bodies, found.cavities)
    return check(
        "bodies",
        same or not spec.same_bodies,
        expected=f"{wanted.bodies} bodies, {wanted.cavities} cavities",
        found=f"{found.bodies} bodies, {found.cavities} cavities",
    )


def _watertight(compared: Comparison) -> Check:
    needed = compared.reference.watertight
    return check(
        "watertight",
        compared.candidate.watertight or not needed,
        expected="closed" if needed else "closed or open",
        found="closed" if compared.candidate.watertight else "open edges",
    )


def _mirrored(compared: Comparison) -> Check:
    axis = None
    if compared.largest > compared.tolerance:
        axis = mirror_axis(compared.candidate.mesh, compared.reference.mesh, compared.tolerance)
    return check(
        "not mirrored",
        axis is None,
        expected="the reference's handedness",
        found=f"mirrored in {axis}" if axis else "",
        reason=f"the part is the reference's mirror image in {axis}",
    )


def _facts(candidate: Solid, reference: Solid) -> Check:
    found, wanted = (_facts_of(one) for one in (candidate, reference))
    return Check("facts", True, 1.0, expected=wanted, found=found, weight=0.0, role=Role.BONUS)


def _facts_of(one: Solid) -> str:
    mass = mass_properties(one)
    centre, moments = (" ".join(f"{value:.6g}" for value in column) for column in (mass.centre, mass.moments))
    return f"area {mass.area:.6g}, centre {centre}, moments {moments}, Euler characteristic {one.euler}"


def _tolerated(candidate: Solid) -> Check:
    notes = "; ".join((*candidate.mesh.notes, *candidate.mended)) or "nothing"
    return Check("tolerated and mended", True, 1.0, found=notes, weight=0.0, role=Role.BONUS)
