"""What the model is shown: under its limits, with the newest frame whole, marks drawn, words read."""

from __future__ import annotations

import io
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image as Pictures
from PIL import ImageDraw, ImageFont

from practicum.agents.agent import Image, Text
from practicum.agents.generalist.eyes.marks import AccessibilityMarker, MarkedEyes, visible
from practicum.agents.generalist.eyes.ocr import OcrMarker, read_lines
from practicum.agents.generalist.eyes.picture import encode, fitted, show
from practicum.agents.generalist.eyes.plain import PlainEyes
from practicum.agents.generalist.limits import limits_of
from practicum.agents.generalist.view import Size, Space
from practicum.infra.desk.desk import Element, Frame
from practicum.infra.environment import ToolCall, ToolErrorKind, ToolResult

LIMITS = limits_of("claude-opus-4-6")


def frame(width: int, height: int, *, settled: bool = True, noise: bool = False) -> Frame:
    rng = np.random.default_rng(1)
    pixels = (
        rng.integers(0, 255, (height, width, 3), dtype=np.uint8)
        if noise
        else np.zeros((height, width, 3), np.uint8)
    )
    return Frame(encode(Pictures.fromarray(pixels)), width, height, settled=settled, waited=0.0)


def untouched(call: ToolCall) -> ToolResult:
    raise AssertionError(f"nothing should be called, but {call} was")


@given(st.integers(1, 5000), st.integers(1, 5000), st.integers(16, 2000), st.integers(256, 2_000_000))
def test_a_fitted_size_keeps_its_shape_and_every_bound(
    width: int, height: int, side: int, pixels: int
) -> None:
    size = fitted(Size(width, height), side, pixels)
    assert size.width <= min(width, side)
    assert size.height <= min(height, side)
    assert size.width * size.height <= pixels or 1 in {size.width, size.height}
    if min(size.width, size.height) > 20:
        assert abs(size.width / size.height - width / height) < 0.1 * width / height


def test_a_frame_under_all_limits_is_sent_byte_for_byte() -> None:
    given_frame = frame(1280, 800)
    assert show(given_frame, LIMITS, None).png == given_frame.png


@pytest.mark.parametrize(("width", "height"), [(1920, 1080), (3840, 2160), (800, 3000)])
def test_a_large_frame_is_scaled_under_the_model_s_limits(width: int, height: int) -> None:
    image = show(frame(width, height), LIMITS, None)
    assert max(image.width, image.height) <= LIMITS.side
    assert image.width * image.height <= LIMITS.pixels
    with Pictures.open(io.BytesIO(image.png)) as picture:
        assert picture.size == (image.width, image.height)


def test_a_frame_with_too_many_bytes_is_made_smaller_until_it_fits() -> None:
    tight = msgspec.structs.replace(LIMITS, image_bytes=60_000)
    image = show(frame(640, 400, noise=True), tight, None)
    assert len(image.png) <= 60_000


def test_an_unsettled_screen_is_said_to_be_unsettled() -> None:
    eyes = PlainEyes(LIMITS, Space.PIXELS)
    (warning, _) = eyes.see(frame(64, 40, settled=False), untouched).parts
    assert isinstance(warning, Text)
    assert "changing" in warning.text
    assert len(eyes.see(frame(64, 40), untouched).parts) == 1


def test_the_view_belongs_to_the_picture_that_was_sent() -> None:
    sight = PlainEyes(LIMITS, Space.PIXELS, side=500).see(frame(1000, 600), untouched)
    (image,) = sight.parts
    assert isinstance(image, Image)
    assert sight.view.sent == Size(image.width, image.height) == Size(500, 300)
    assert sight.view.desk == Size(1000, 600)


def elements(*boxes: tuple[int, int, int, int]) -> Any:
    listed = [
        {"role": "push button", "name": f"b{n}", "x": x, "y": y, "width": w, "height": h}
        for n, (x, y, w, h) in enumerate(boxes)
    ]
    return lambda _: ToolResult("", data={"elements": [*listed, {**listed[0], "role": "panel"}]})


def test_marks_are_drawn_and_listed_by_number() -> None:
    eyes = MarkedEyes(LIMITS, Space.PIXELS, AccessibilityMarker())
    sight = eyes.see(frame(400, 300), elements((10, 40, 50, 20), (100, 100, 80, 30)))
    image, legend = sight.parts
    assert isinstance(image, Image)
    assert isinstance(legend, Text)
    assert legend.text.splitlines() == ["[1] push button 'b0'", "[2] push button 'b1'"]
    with Pictures.open(io.BytesIO(image.png)) as picture:
        assert picture.getpixel((100, 115)) != (0, 0, 0)
        assert picture.getpixel((300, 250)) == (0, 0, 0)
    assert sight.view.mark(2).x == 140


def test_a_desk_without_accessibility_still_shows_its_picture() -> None:
    refused = ToolResult("none", error=ToolErrorKind.UNSUPPORTED)
    sight = MarkedEyes(LIMITS, Space.PIXELS, AccessibilityMarker()).see(frame(64, 40), lambda _: refused)
    assert sight.view.marks == ()
    assert isinstance(sight.parts[0], Image)


boxes = st.builds(
    Element,
    *(st.just("push button"), st.text(max_size=3)),
    *(st.integers(-300, 900), st.integers(-300, 900), st.integers(-5, 400), st.integers(-5, 400)),
)


@given(st.lists(boxes, max_size=30))
@settings(max_examples=60)
def test_every_mark_stands_on_the_screen(found: list[Element]) -> None:
    """Also where the accessibility tree tells of places off the screen or of no size."""
    answer = ToolResult("", data={"elements": [msgspec.to_builtins(each) for each in found]})
    sight = MarkedEyes(LIMITS, Space.PIXELS, AccessibilityMarker(), most=10).see(
        frame(320, 200), lambda _: answer
    )
    assert len(sight.view.marks) <= 10
    assert len(visible(found, Size(320, 200))) >= len(sight.view.marks)
    for number in range(1, len(sight.view.marks) + 1):
        point = sight.view.mark(number)
        assert 0 <= point.x < 320
        assert 0 <= point.y < 200


def test_words_are_read_also_on_a_dark_button() -> None:
    picture = Pictures.new("RGB", (640, 300), "white")
    pen, font = ImageDraw.Draw(picture), ImageFont.load_default(size=14)
    pen.text((40, 40), "Delivery date", fill="#223", font=font)
    pen.text((300, 40), "Shipping method", fill="#223", font=font)
    pen.rectangle((40, 120, 170, 155), fill="#0d6b60")
    pen.text((62, 130), "Place order", fill="white", font=font)
    lines = {line.name: line for line in read_lines(picture)}
    assert {"Delivery date", "Shipping method", "Place order"} <= set(lines)
    button = lines["Place order"]
    assert 40 <= button.x < button.x + button.width <= 170
    assert 120 <= button.y < button.y + button.height <= 155
    shown = Frame(encode(picture), 640, 300, settled=True, waited=0.0)
    assert {mark.name for mark in OcrMarker().find(shown, untouched)} == set(lines)
