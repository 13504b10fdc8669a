"""A window that tells what it received. Runs inside a desk: `window.py MODE LOG [MILLISECONDS]`.

text     a text area; F12 logs its text and empties it
events   logs each key, button, motion and wheel event; F12 logs a mark
paint    each press of the space bar shows the next colour, MILLISECONDS after it
busy     shows another colour every MILLISECONDS
targets  a page of squares, each of its own colour; logs the number of each one that is clicked
"""

import json
import sys
from typing import Any

import gi  # type: ignore[import-not-found]  # a package of the guest

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, GdkPixbuf, GLib, Gtk  # type: ignore[import-not-found]  # noqa: E402 - version first

MODE, LOG = sys.argv[1], open(sys.argv[2], "a", encoding="utf-8", buffering=1)  # noqa: SIM115, PTH123 - for life
DELAY = int(sys.argv[3]) if len(sys.argv) > 3 else 0
COLUMNS, ROWS, RADIUS = 8, 5, 6
BARS = 80
PALETTE = [
    *((255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 0)),
    *((0, 255, 255), (255, 0, 255), (0, 0, 0), (255, 255, 255)),
]


def tell(**fields: Any) -> None:
    LOG.write(json.dumps(fields) + "\n")


class Page(Gtk.Layout):  # type: ignore[misc]  # Any, outside a guest
    """Its whole picture is replaced at once."""

    def __init__(self) -> None:
        super().__init__()
        self.step = 0
        self.image = Gtk.Image()
        self.put(self.image, 0, 0)
        screen = Gdk.Screen.get_default()
        self.size = screen.get_width(), screen.get_height() - BARS
        self.paint()

    def advance(self) -> bool:
        self.step += 1
        self.paint()
        return MODE == "busy"

    def paint(self) -> None:
        width, height = self.size
        colour = bytes((128, 128, 128)) if MODE == "targets" else bytes(PALETTE[self.step % len(PALETTE)])
        pixels = bytearray(colour * (width * height))
        for number in range(COLUMNS * ROWS if MODE == "targets" else 0):
            x, y = self.centre(number)
            for row in range(y - RADIUS, y + RADIUS + 1):
                start = 3 * (row * width + x - RADIUS)
                pixels[start : start + 3 * (2 * RADIUS + 1)] = bytes((number + 1, 255, 0)) * (2 * RADIUS + 1)
        data = GLib.Bytes.new(bytes(pixels))
        rgb = GdkPixbuf.Colorspace.RGB
        self.image.set_from_pixbuf(
            GdkPixbuf.Pixbuf.new_from_bytes(data, rgb, False, 8, width, height, 3 * width)
        )

    def centre(self, number: int) -> tuple[int, int]:
        width, height = self.size
        column, row = number % COLUMNS, number // COLUMNS
        return (2 * column + 1) * width // (2 * COLUMNS), (2 * row + 1) * height // (2 * ROWS)

    def hit(self, event: Any) -> None:
        for number in range(COLUMNS * ROWS):
            x, y = self.centre(number)
            if max(abs(event.x - x), abs(event.y - y)) <= RADIUS:
                tell(hit=number)
                return
        tell(hit=None)


def key(widget: Any, event: Any, view: Any) -> bool:
    press = event.type == Gdk.EventType.KEY_PRESS
    if event.keyval == Gdk.KEY_F12:
        if press:
            mark(view)
        return True
    if MODE == "events":
        name = Gdk.keyval_name(event.keyval)
        tell(
            key=name,
            press=press,
            state=int(event.state) & 0xFF,
            character=Gdk.keyval_to_unicode(event.keyval),
        )
        return True
    if MODE == "paint" and press and event.keyval == Gdk.KEY_space:
        GLib.timeout_add(DELAY, view.advance)
        return True
    return False


def mark(view: Any) -> None:
    if MODE == "text":
        buffer = view.get_buffer()
        tell(text=buffer.get_text(buffer.get_start_iter(), buffer.get_end_iter(), True))
        buffer.set_text("")
    else:
        tell(mark=True)


def pointer(widget: Any, event: Any, view: Any) -> bool:
    if MODE == "targets" and event.type == Gdk.EventType.BUTTON_PRESS:
        view.hit(event)
    if MODE != "events":
        return False
    place = {"x": round(event.x_root), "y": round(event.y_root), "state": int(event.state) & 0x1FFF}
    kind = event.type.value_nick
    if event.type == Gdk.EventType.SCROLL:
        tell(pointer=kind, direction=event.direction.value_nick, **place)
    elif event.type == Gdk.EventType.MOTION_NOTIFY:
        tell(pointer=kind, **place)
    else:
        tell(pointer=kind, button=event.button, **place)
    return True


def main() -> None:
    window = Gtk.Window(title="fixture")
    view = Gtk.TextView() if MODE == "text" else Page()
    view.set_can_focus(True)
    window.add(view)
    window.maximize()
    mask = Gdk.EventMask
    view.add_events(
        mask.BUTTON_PRESS_MASK
        | mask.BUTTON_RELEASE_MASK
        | mask.POINTER_MOTION_MASK
        | mask.SCROLL_MASK
        | mask.KEY_PRESS_MASK
    )
    for signal in ("key-press-event", "key-release-event"):
        window.connect(signal, key, view)
    for signal in ("button-press-event", "button-release-event", "motion-notify-event", "scroll-event"):
        view.connect(signal, pointer, view)
    window.connect("destroy", Gtk.main_quit)
    window.connect("focus-in-event", lambda *_: tell(focus=True) and False)
    window.show_all()
    if MODE == "busy":
        GLib.timeout_add(DELAY, view.advance)
    Gtk.main()


main()
