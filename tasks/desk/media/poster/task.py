"""A poster set exactly as its brief says, judged by what it shows and not by how it is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from random import Random

import msgspec

from practicum.infra.operator import Operator
from practicum.tasks.desk.media.poster.layout import Disc, Line, Poster, Rectangle, Triangle, draw_lots
from practicum.tasks.spec import Benign, Mutant, Params
from practicum.verifiers import vector
from practicum.verifiers.verdict import Verdict

POSTER = "poster.svg"
SPEC = vector.VectorSpec(
    distance_mm=0.5, page_mm=0.5, delta_e=0.5, text_mm=0.5, font_size_fraction=0.02, font_family=True
)
_PX_PER_MM = 96 / 25.4
_DRAFT = "/home/agent/draft.svg"


def generate(rng: Random, inputs: Path, reference: Path) -> Params:
    poster = draw_lots(rng)
    (inputs / "brief.txt").write_text(poster.brief(), encoding="utf-8")
    (reference / POSTER).write_text(poster.svg(), encoding="utf-8")
    return {
        "say": {
            "title": poster.lines[0].text,
            "shapes": str(len(poster.shapes)),
            "texts": str(len(poster.lines)),
        },
        "poster": msgspec.to_builtins(poster),
    }


def facts(params: Params) -> Mapping[str, str]:
    poster = _poster(params)
    told = {item.name: item.told() for item in (*poster.shapes, *poster.lines)}
    return told | {
        "page": f"{poster.width:g} wide and {poster.height:g} high",
        "unit": "All lengths in millimetres",
    }


def solve(hands: Operator, params: Params) -> None:
    """Drafted as text, then opened, checked and saved by Inkscape, as a person in a hurry does."""
    hands.write_file(_DRAFT, _poster(params).svg())
    hands.bash(
        f"inkscape {_DRAFT} --export-plain-svg --export-filename=/home/agent/outputs/{POSTER}", timeout=300.0
    )


def ideal(outputs: Path, reference: Path, params: Params) -> None:
    del reference
    _save(_poster(params).svg(), outputs)


def verify(outputs: Path, reference: Path, params: Params) -> Verdict:
    del params
    return vector.verify(outputs / POSTER, reference / POSTER, SPEC)


def mutants(outputs: Path, params: Params) -> Iterable[Mutant]:
    del outputs
    poster = _poster(params)
    ground, sun, hill, band = poster.shapes
    title, *_ = poster.lines
    assert isinstance(sun, Disc)
    assert isinstance(hill, Triangle)
    assert isinstance(band, Rectangle)
    change = msgspec.structs.replace
    wider = change(sun, radius=sun.radius + 1)
    (x, y), *others = hill.corners
    yield Mutant("sun 1 mm too large", "Sun/outline", _with(poster, sun, wider))
    yield Mutant(
        "hill's corner 2 mm off",
        "Hill/outline",
        _with(poster, hill, change(hill, corners=((x + 2, y), *others))),
    )
    yield Mutant(
        "band a shade lighter", "Band/fill", _with(poster, band, change(band, fill=_lighter(band.fill)))
    )
    yield Mutant("band 1 mm lower", "Band/outline", _with(poster, band, change(band, y=band.y + 1)))
    yield Mutant("letter left out", title.text, _with(poster, title, change(title, text=title.text[:-1])))
    yield Mutant(
        "title 1 mm too low", f"{title.text}/place", _with(poster, title, change(title, y=title.y + 1))
    )
    yield Mutant(
        "title 4 % too large",
        f"{title.text}/font size",
        _with(poster, title, change(title, size=title.size * 1.04)),
    )
    yield Mutant(
        "title in another colour", f"{title.text}/fill", _with(poster, title, change(title, fill=sun.fill))
    )
    yield Mutant(
        "hill behind the sun", "stacking", _saved(change(poster, shapes=(ground, hill, sun, band)).svg())
    )
    yield Mutant("page in pixels", "page size", _edited(poster, 'mm" viewBox', '" viewBox'))
    yield Mutant(
        "outlined sun",
        "Sun/stroke",
        _edited(poster, '<circle id="Sun"', '<circle id="Sun" stroke="#000000" stroke-width="1"'),
    )
    yield Mutant(
        "half transparent band",
        "Band/opacity",
        _edited(poster, '<rect id="Band"', '<rect id="Band" opacity="0.5"'),
    )
    yield Mutant(
        "helper line left in",
        "no other shapes",
        _edited(poster, "</svg>", '<rect x="5" y="5" width="9" height="9" fill="#00ff00"/></svg>'),
    )
    yield Mutant(
        "hidden title",
        title.text,
        _edited(
            poster,
            f'<text x="{title.x:g}" y="{title.y:g}"',
            f'<text display="none" x="{title.x:g}" y="{title.y:g}"',
        ),
    )


def benign(outputs: Path, params: Params) -> Iterable[Benign]:
    del outputs
    poster = _poster(params)
    yield Benign("in pixels of 96 to the inch, under a scaling group", _saved(_in_pixels(poster)))
    yield Benign("painted by style attributes, colours as rgb()", _saved(_styled(poster)))
    yield Benign("CRLF, comment, metadata, no ids", _saved(_decorated(poster)))
    yield Benign("positions rounded to 0.25 mm", _saved(_nudged(poster)))


def _poster(params: Params) -> Poster:
    return msgspec.convert(params["poster"], Poster)


def _save(text: str, outputs: Path) -> None:
    (outputs / POSTER).write_bytes(text.encode())


def _saved(text: str) -> Callable[[Path], None]:
    return lambda outputs: _save(text, outputs)


def _with(
    poster: Poster, old: Rectangle | Disc | Triangle | Line, new: Rectangle | Disc | Triangle | Line
) -> Callable[[Path], None]:
    shapes = tuple(new if item is old else item for item in poster.shapes)
    lines = tuple(new if item is old else item for item in poster.lines)
    return _saved(msgspec.structs.replace(poster, shapes=shapes, lines=lines).svg())


def _edited(poster: Poster, old: str, new: str) -> Callable[[Path], None]:
    return _saved(poster.svg().replace(old, new))


def _lighter(colour: str) -> str:
    return "#" + "".join(f"{min(255, int(colour[n : n + 2], 16) + 12):02x}" for n in (1, 3, 5))


def _in_pixels(poster: Poster) -> str:
    size = f"{poster.width * _PX_PER_MM:.4f} {poster.height * _PX_PER_MM:.4f}"
    text = poster.svg().replace(
        f'viewBox="0 0 {poster.width:g} {poster.height:g}">',
        f'viewBox="0 0 {size}"><g transform="scale({_PX_PER_MM:.8f})">',
    )
    return text.replace("</svg>", "</g></svg>")


def _styled(poster: Poster) -> str:
    def rgb(found: re.Match[str]) -> str:
        parts = ", ".join(str(int(found[1][n : n + 2], 16)) for n in (0, 2, 4))
        return f'style="fill:rgb({parts});stroke:none;fill-opacity:1"'

    return re.sub(r'fill="#([0-9a-f]{6})"', rgb, poster.svg())


def _decorated(poster: Poster) -> str:
    text = re.sub(r' id="\w+"', "", poster.svg()).replace("</svg>", "<metadata>draft 3</metadata></svg>")
    return text.replace("\n<rect", "\n<!-- made by hand -->\n<rect", 1).replace("\n", "\r\n")


def _nudged(poster: Poster) -> str:
    change = msgspec.structs.replace
    lines = tuple(change(line, x=line.x + 0.25, y=line.y - 0.25) for line in poster.lines)
    return change(poster, lines=lines).svg()
