"""A photograph with a colour cast, flat levels and dust, to be corrected against the test card in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from random import Random

import msgspec
import numpy as np
from PIL import Image, ImageFilter

from practicum.infra.operator import Operator
from practicum.tasks.desk.media.photo.darkroom import (
    Bytes,
    Dust,
    Levels,
    draw_dust,
    draw_levels,
    mended,
    spoiled,
    to_bytes,
)
from practicum.tasks.desk.media.photo.scene import HEIGHT, PATCHES, WIDTH, patch_box, photograph
from practicum.tasks.spec import Benign, Mutant, Params
from practicum.verifiers import image
from practicum.verifiers.verdict import Verdict

PICTURE = "corrected.png"
INPUT = "photograph.png"
SPOTS = 3
_SCRIPT = "/home/agent/correct.scm"
_INPUTS, _OUTPUTS = "/home/agent/inputs", "/home/agent/outputs"


class _Flaws(msgspec.Struct, frozen=True):
    levels: tuple[Levels, ...]
    dust: tuple[Dust, ...]


def generate(rng: Random, inputs: Path, reference: Path) -> Params:
    right = photograph(rng)
    flaws = _Flaws(draw_levels(rng), draw_dust(rng, right, SPOTS))
    _save(spoiled(right, flaws.levels, flaws.dust), inputs / INPUT)
    _save(spoiled(right, flaws.levels, flaws.dust), reference / INPUT)
    _save(to_bytes(right), reference / PICTURE)
    return {
        "say": {
            "width": str(WIDTH),
            "height": str(HEIGHT),
            "count": str(SPOTS),
            "patches": "\n".join(f"   - {_patch(name)}" for name in PATCHES),
            "dust": "\n".join(f"   - {_spot(spot)}" for spot in flaws.dust),
        },
        "flaws": msgspec.to_builtins(flaws),
    }


def facts(params: Params) -> Mapping[str, str]:
    spots = {f"dust {number}": _spot(spot) for number, spot in enumerate(_flaws(params).dust, 1)}
    return (
        {f"{name} patch": _patch(name) for name in PATCHES} | spots | {"size": f"{WIDTH} × {HEIGHT} pixels"}
    )


def solve(hands: Operator, params: Params) -> None:
    """GIMP without its window, by a script of the moves one would make in it."""
    hands.write_file(_SCRIPT, script(_flaws(params)))
    hands.bash(f"gimp -i -d -f -b - < {_SCRIPT}", timeout=300.0)


def script(flaws: _Flaws) -> str:
    """Script-Fu: Levels a channel, then clean sky from both sides laid softly over each spot."""
    channels = ("HISTOGRAM-RED", "HISTOGRAM-GREEN", "HISTOGRAM-BLUE")
    levels = [
        f"(gimp-drawable-levels sky {channel} {low} {high} TRUE {gamma} 0 1 TRUE)"
        for channel, (low, high, gamma) in zip(channels, map(_in_gimp, flaws.levels), strict=True)
    ]
    patches = [
        f"(lay {spot.x - reach:g} {spot.y - reach:g} {2 * reach:g} {dx} {share})"
        for spot, reach in ((spot, 1.2 * spot.radius) for spot in flaws.dust)
        for (dx, _), share in zip(spot.sides(), (100, 50), strict=True)
    ]
    return "\n".join(
        [
            f'(define image (car (gimp-file-load RUN-NONINTERACTIVE "{_INPUTS}/{INPUT}" "{INPUT}")))',
            "(define sky (car (gimp-image-get-active-drawable image)))",
            "(gimp-context-set-feather TRUE)",
            "(gimp-context-set-feather-radius 3 3)",
            "(define (lay x y size dx share)",
            "  (gimp-image-select-ellipse image CHANNEL-OP-REPLACE (+ x dx) y size size)",
            "  (gimp-edit-copy sky)",
            "  (let* ((box (gimp-selection-bounds image)) (left (cadr box)) (top (caddr box)))",
            "    (gimp-selection-none image)",
            "    (let ((patch (car (gimp-edit-paste sky FALSE))))",
            "      (gimp-layer-set-offsets patch (- left dx) top)",
            "      (gimp-layer-set-opacity patch share)",
            "      (gimp-floating-sel-anchor patch))))",
            *levels,
            *patches,
            f'(file-png-save-defaults RUN-NONINTERACTIVE image sky "{_OUTPUTS}/{PICTURE}" "{PICTURE}")',
            "(gimp-quit 0)",
            "",
        ]
    )


def _in_gimp(levels: Levels) -> tuple[str, str, str]:
    """Limits as fractions, as GIMP's procedures want them."""
    return f"{levels.low / 255:.6f}", f"{levels.high / 255:.6f}", f"{levels.gamma:g}"


def ideal(outputs: Path, reference: Path, params: Params) -> None:
    flaws = _flaws(params)
    _save(mended(_load(reference / INPUT), flaws.levels, flaws.dust), outputs / PICTURE)


def verify(outputs: Path, reference: Path, params: Params) -> Verdict:
    return image.verify(
        outputs / PICTURE, reference / PICTURE, _spec(_flaws(params)), before=reference / INPUT
    )


def _spec(flaws: _Flaws) -> image.ImageSpec:
    patches = (
        image.Area(name=f"{name} patch", box=_box(*patch_box(name)), mean=3.0, p95=5.0) for name in PATCHES
    )
    spots = (
        image.Area(
            name=f"dust {n}",
            box=_box(s.x - s.radius, s.y - s.radius, 2 * s.radius, 2 * s.radius),
            mean=3.0,
            p95=7.0,
        )
        for n, s in enumerate(flaws.dust, 1)
    )
    return image.ImageSpec(
        mean=2.5, p95=6.0, worst_block=9.0, ssim=0.93, margin=0.6, formats=("PNG",), areas=(*patches, *spots)
    )


def mutants(outputs: Path, params: Params) -> Iterable[Mutant]:
    flaws = _flaws(params)
    made = _load(outputs / PICTURE)
    spot = flaws.dust[0]
    yield Mutant("first spot left in", "dust 1", _painted(_darkened(made, spot)))
    yield Mutant("spots smeared grey", "dust 2", _painted(_blotted(made, flaws.dust[1])))
    yield Mutant("blue left as recorded", "grey patch", _painted(_channel(made, 2, flaws.levels[2])))
    yield Mutant("a third of a stop too bright", "colour, mean", _painted(_brightened(made, 1.26)))
    yield Mutant("smoothed", "structure", _filtered(ImageFilter.GaussianBlur(2.0)))
    yield Mutant("sharpened", "structure", _filtered(ImageFilter.UnsharpMask(3, 250, 0)))
    yield Mutant("cropped by a pixel", "size", _painted(made[:, :-1]))
    yield Mutant("moved by three pixels", "structure", _painted(np.roll(made, 3, axis=1)))
    yield Mutant("card repainted only", "beats the input", _card_only)
    yield Mutant("JPEG under a PNG's name", "format", _as_jpeg)


def benign(outputs: Path, params: Params) -> Iterable[Benign]:
    del params
    made = _load(outputs / PICTURE)
    noise = np.random.Generator(np.random.PCG64(7)).integers(-1, 2, made.shape)
    yield Benign("with an opaque alpha channel", _resaved("RGBA"))
    yield Benign(
        "compressed otherwise, with a comment and 72 dpi", _resaved("RGB", compress_level=1, dpi=(72, 72))
    )
    yield Benign("dithered by one step", _painted(np.clip(made.astype(int) + noise, 0, 255).astype(np.uint8)))
    yield Benign("a touch brighter", _painted(_brightened(made, 1.015)))


def _flaws(params: Params) -> _Flaws:
    return msgspec.convert(params["flaws"], _Flaws)


def _patch(name: str) -> str:
    x, y, w, h = patch_box(name)
    return f"{name} patch, x {x} to {x + w}, y {y} to {y + h}: {PATCHES[name]}"


def _spot(spot: Dust) -> str:
    return f"x {spot.x}, y {spot.y}, radius {spot.radius}"


def _box(x: int, y: int, w: int, h: int) -> tuple[int, int, int, int]:
    return x, y, x + w, y + h


def _load(path: Path) -> Bytes:
    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB"))


def _save(picture: Bytes, path: Path) -> None:
    Image.fromarray(picture).save(path)


def _painted(picture: Bytes) -> Callable[[Path], None]:
    return lambda outputs: _save(np.ascontiguousarray(picture), outputs / PICTURE)


def _darkened(made: Bytes, spot: Dust) -> Bytes:
    return to_bytes(made / 255 * (1 - 0.6 * spot.mask(made.shape)[..., None]))


def _blotted(made: Bytes, spot: Dust) -> Bytes:
    blotted = made.copy()
    r = spot.radius
    blotted[spot.y - r : spot.y + r, spot.x - r : spot.x + r] = 128
    return blotted


def _channel(made: Bytes, channel: int, levels: Levels) -> Bytes:
    cast = made.copy()
    cast[..., channel] = to_bytes(levels.spoil(made[..., channel] / 255))
    return cast


def _brightened(made: Bytes, factor: float) -> Bytes:
    return to_bytes(made / 255 * factor)


def _filtered(kind: ImageFilter.Filter) -> Callable[[Path], None]:
    def apply(outputs: Path) -> None:
        with Image.open(outputs / PICTURE) as picture:
            picture.convert("RGB").filter(kind).save(outputs / PICTURE)

    return apply


def _card_only(outputs: Path) -> None:
    """The right card pasted into a picture that is flat and warm as before."""
    made = _load(outputs / PICTURE)
    flat = to_bytes(0.15 + 0.6 * made / 255 * np.array([1.0, 0.85, 0.65]))
    for name in PATCHES:
        x, y, w, h = patch_box(name)
        flat[y : y + h, x : x + w] = made[y : y + h, x : x + w]
    _save(flat, outputs / PICTURE)


def _as_jpeg(outputs: Path) -> None:
    with Image.open(outputs / PICTURE) as picture:
        picture.convert("RGB").save(outputs / PICTURE, format="JPEG", quality=95)


def _resaved(mode: str, **options: object) -> Callable[[Path], None]:
    def apply(outputs: Path) -> None:
        with Image.open(outputs / PICTURE) as picture:
            picture.convert(mode).save(outputs / PICTURE, format="PNG", **options)

    return apply
