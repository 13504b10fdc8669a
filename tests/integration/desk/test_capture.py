"""Frames are fresh, bounded, flagged when the screen did not come to rest, and show the cursor."""

from __future__ import annotations

import io
import time

import pytest
from PIL import Image, ImageChops

from practicum.infra.desk.actions import Key, Move, Point
from practicum.infra.desk.desk import Frame, Settle

pytestmark = pytest.mark.docker

PALETTE = [(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 0), (0, 255, 255), (255, 0, 255), (0, 0, 0)]
SPACE = Key(("space",))


def colour(frame: Frame) -> tuple[int, ...]:
    """Of a large part without the cursor; the assertion is that it was painted in one piece."""
    middle = Image.open(io.BytesIO(frame.png)).convert("RGB").crop((20, 60, 480, 500))
    colours = middle.getcolors()
    assert colours is not None
    assert len(colours) == 1
    return tuple(colours[0][1])


@pytest.mark.parametrize("milliseconds", [0, 15, 30])
def test_a_frame_shows_what_the_last_action_did(window, milliseconds: int) -> None:
    """For a window that paints some time after the key: never an older picture, never half of one."""
    window.show("paint", milliseconds)
    for step in range(1, 15):
        window.desk.act(SPACE)
        frame = window.desk.observe()
        assert frame.settled
        assert colour(frame) == (*PALETTE, (255, 255, 255))[step % 8]


def test_a_frame_comes_after_the_last_of_a_known_sequence(window) -> None:
    """Many changes at once are waited out as a whole."""
    window.show("paint", 20)
    window.desk.act(*[SPACE] * 5)
    assert colour(window.desk.observe()) == PALETTE[5]


def test_a_screen_that_never_rests_is_flagged_and_bounded(window) -> None:
    """Its frames say that they are unsettled, and come within the bound."""
    window.show("busy", 10)
    started = time.monotonic()
    frame = window.desk.observe(Settle(quiet=0.2, bound=0.5))
    assert time.monotonic() - started < 3.0
    assert not frame.settled
    assert 0.5 <= frame.waited < 1.5
    assert window.desk.observe(Settle(quiet=0.0, bound=0.0)).waited < 0.3


def test_a_busy_screen_never_gives_half_a_frame(window) -> None:
    """A picture is taken between paints, not across them."""
    window.show("busy", 5)
    for _ in range(20):
        colour(window.desk.observe(Settle(quiet=0.0, bound=0.0)))


def test_the_cursor_is_in_the_picture(window) -> None:
    """Where it was moved to, and no longer where it was."""
    window.show("paint")
    frames = []
    for point in (Point(300, 300), Point(500, 300)):
        window.desk.act(Move(point))
        frames.append(Image.open(io.BytesIO(window.desk.observe().png)).convert("RGB"))
    left, top, right, bottom = ImageChops.difference(*frames).getbbox() or (0, 0, 0, 0)
    assert 270 <= left <= 310
    assert 500 <= right <= 540
    assert 270 <= top <= 310
    assert bottom <= 340
