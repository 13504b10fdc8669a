"""Colour differences against published data; paths and transforms against closed forms."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from practicum.verifiers.colour import ciede2000, lab
from practicum.verifiers.errors import Unreadable
from practicum.verifiers.vector import outline, paths, svg

SHARMA = """
50.0000 2.6772 -79.7751 50.0000 0.0000 -82.7485 2.0425
50.0000 3.1571 -77.2803 50.0000 0.0000 -82.7485 2.8615
50.0000 2.8361 -74.0200 50.0000 0.0000 -82.7485 3.4412
50.0000 -1.3802 -84.2814 50.0000 0.0000 -82.7485 1.0000
50.0000 0.0000 0.0000 50.0000 -1.0000 2.0000 2.3669
50.0000 2.4900 -0.0010 50.0000 -2.4900 0.0009 7.1792
50.0000 2.4900 -0.0010 50.0000 -2.4900 0.0011 7.2195
50.0000 -0.0010 2.4900 50.0000 0.0009 -2.4900 4.8045
50.0000 2.5000 0.0000 73.0000 25.0000 -18.0000 27.1492
50.0000 2.5000 0.0000 58.0000 24.0000 15.0000 19.4535
60.2574 -34.0099 36.2677 60.4626 -34.1751 39.4387 1.2644
63.0109 -31.0961 -5.8663 62.8187 -29.7946 -4.0864 1.2630
35.0831 -44.1164 3.7933 35.0232 -40.0716 1.5901 1.8645
22.7233 20.0904 -46.6940 23.0331 14.9730 -42.5619 2.0373
90.8027 -2.0831 1.4410 91.1528 -1.6435 0.0447 1.4441
2.0776 0.0795 -1.1350 0.9033 -0.0636 -0.5514 0.9082
"""
"""Pairs of L*a*b* and their ΔE00: Sharma, Wu, Dalal, 2005, table 1."""


@pytest.mark.parametrize("row", SHARMA.strip().splitlines())
def test_ciede2000_gives_the_published_differences(row: str) -> None:
    """To the four digits printed, either way round."""
    *numbers, expected = map(float, row.split())
    first, second = np.array(numbers[:3]), np.array(numbers[3:])
    assert float(ciede2000(first, second)) == pytest.approx(expected, abs=5e-5)
    assert float(ciede2000(second, first)) == pytest.approx(expected, abs=5e-5)


def test_white_and_black_in_lab() -> None:
    """The ends of the grey axis are where they should be."""
    assert lab((255, 255, 255)) == pytest.approx([100, 0, 0], abs=0.02)
    assert lab((0, 0, 0)) == pytest.approx([0, 0, 0], abs=1e-9)


def area(data: str) -> float:
    return sum(
        outline.signed_area(np.array([[p.real, p.imag] for p in points]))
        for points, _ in paths.polylines(data)
    )


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("M0 0h10v10h-10z", 100.0),
        ("m0,0 10,0 0,10 -10,0z", 100.0),
        ("M0 0H10V10H0Zm2 2v6h6v-6z", 100.0 - 36.0),
        ("M5 0A5 5 0 1 1-5 0A5 5 0 1 1 5 0Z", 25 * math.pi),
        ("M5,0a5 5 0 11-10 0 5 5 0 1110 0", 25 * math.pi),
        ("M0 0Q5 10 10 0Z", -100 / 3),
        ("M0 0C0 10 10 10 10 0Z", -60.0),
        ("M0 0Q5 10 10 0T20 0Z", 0.0),
    ],
)
def test_areas_of_paths(data: str, expected: float) -> None:
    """Lines, relative and absolute, arcs with packed flags, curves and their smooth continuations."""
    assert area(data) == pytest.approx(expected, rel=0.004, abs=1e-6)


@pytest.mark.parametrize(
    "data", ["L1 1", "M0 0 L", "M0 0 1", "M0 0 X", "5 5", "M0 0A1 1 0 2 0 3 3", "M1e999 0"]
)
def test_broken_paths_are_refused(data: str) -> None:
    """Data outside the grammar is an error, not a guess."""
    with pytest.raises(paths.BrokenPath):
        paths.polylines(data)


@given(st.floats(-180, 180), st.floats(0.1, 8), st.floats(-50, 50), st.floats(-50, 50))
@settings(deadline=None)
def test_transforms_compose_as_written(angle: float, scale: float, x: float, y: float) -> None:
    """A list of transforms is the product of its parts, and a rotation about a point leaves that point."""
    whole = svg.matrix(f"translate({x!r},{y!r}) rotate({angle!r}) scale({scale!r})")
    parts = (
        svg.matrix(f"translate({x!r} {y!r})")
        @ svg.matrix(f"rotate({angle!r})")
        @ svg.matrix(f"scale({scale!r})")
    )
    assert whole == pytest.approx(parts, abs=1e-9)
    fixed = svg.matrix(f"rotate({angle!r} {x!r} {y!r})") @ np.array([x, y, 1.0])
    assert fixed == pytest.approx([x, y, 1.0], abs=1e-6)
    assert svg.matrix(f"skewX({angle / 3!r})")[0, 1] == pytest.approx(math.tan(math.radians(angle / 3)))


def test_a_use_that_uses_itself_is_refused(tmp_path: Path) -> None:
    """References that go round end with a reason."""
    path = tmp_path / "loop.svg"
    path.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg"><g id="a"><use href="#a"/><use href="#a"/></g></svg>'
    )
    with pytest.raises(Unreadable, match="beyond reason"):
        svg.read(path)
