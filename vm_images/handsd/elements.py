"""What assistive technology sees, as JSON on standard output. Runs alone, in the agent's session.

Arguments: seconds and the number of elements at most.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

import gi  # type: ignore[import-not-found]  # a package of the guest

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # type: ignore[import-not-found]  # noqa: E402 - the version is chosen first

_MAX_TEXT = 1000
_PATIENCE = 700
"""Milliseconds for one answer, of an application that has just started too: a busy one is passed over."""
_SKIPPED_ROLES = frozenset({"redundant object", "filler"})
_TOLD = (
    *("ACTIVE", "CHECKED", "COLLAPSED", "EDITABLE", "ENABLED", "EXPANDED", "FOCUSED", "MODAL", "PRESSED"),
    *("READ_ONLY", "REQUIRED", "SELECTED", "SENSITIVE"),
)
_STATES = {name.lower(): getattr(Atspi.StateType, name) for name in _TOLD}


class Walk:
    """Depth first, so that the order is the reading order of the tree; bounded in time and number."""

    def __init__(self, seconds: float, most: int) -> None:
        self._deadline = time.monotonic() + seconds
        self._most = most
        self.found: list[dict[str, Any]] = []
        self.complete = True

    def desktop(self) -> None:
        windows = [window for app in _children(Atspi.get_desktop(0)) for window in _children(app)]
        shown = [window for window in windows if _has(window, Atspi.StateType.SHOWING)]
        active = [window for window in shown if _has(window, Atspi.StateType.ACTIVE)]
        owners = {_app(window) for window in active}
        for window in [w for w in shown if _app(w) in owners] or shown:
            self._visit(window, 0)

    def _visit(self, node: Any, depth: int) -> None:
        if len(self.found) >= self._most or time.monotonic() > self._deadline:
            self.complete = False
            return
        try:
            states = node.get_state_set()
            if not states.contains(Atspi.StateType.SHOWING):
                return
            element = _describe(node, states, depth)
        except GLib.Error:  # the object went away while it was looked at
            return
        if element is not None:
            self.found.append(element)
        made_when_asked = states.contains(Atspi.StateType.MANAGES_DESCENDANTS)
        for child in _cells(node) if made_when_asked else _children(node):
            self._visit(child, depth + (element is not None))


def _children(node: Any) -> list[Any]:
    try:
        count = min(node.get_child_count(), 2000)
        return [child for index in range(count) if (child := node.get_child_at_index(index)) is not None]
    except GLib.Error:
        return []


def _cells(table: Any) -> Iterator[Any]:
    """The cells on the screen of a table that makes them when asked: all of a spreadsheet would stall it."""
    corner = Atspi.CoordType.SCREEN
    try:
        component, grid = table.get_component_iface(), table.get_table_iface()
        if component is None or grid is None:
            return
        box = component.get_extents(corner)
        first = component.get_accessible_at_point(box.x + 2, box.y + 2, corner)
        last = component.get_accessible_at_point(box.x + box.width - 3, box.y + box.height - 3, corner)
        if first is None or last is None:
            return
        begin, end = first.get_index_in_parent(), last.get_index_in_parent()
        for row in range(grid.get_row_at_index(begin), grid.get_row_at_index(end) + 1):
            for column in range(grid.get_column_at_index(begin), grid.get_column_at_index(end) + 1):
                if (cell := grid.get_accessible_at(row, column)) is not None:
                    yield cell
    except GLib.Error:  # the table went away while it was looked at
        return


def _has(node: Any, state: Any) -> bool:
    try:
        return bool(node.get_state_set().contains(state))
    except GLib.Error:
        return False


def _app(node: Any) -> int:
    try:
        return int(node.get_process_id())
    except GLib.Error:
        return -1


def _describe(node: Any, states: Any, depth: int) -> dict[str, Any] | None:
    role = node.get_role_name()
    component = node.get_component_iface()
    if component is None or role in _SKIPPED_ROLES:
        return None
    box = component.get_extents(Atspi.CoordType.SCREEN)
    if box.width <= 0 or box.height <= 0 or box.x + box.width <= 0 or box.y + box.height <= 0:
        return None
    return {
        "role": role,
        "name": node.get_name() or "",
        "x": box.x,
        "y": box.y,
        "width": box.width,
        "height": box.height,
        "states": [name for name, state in _STATES.items() if states.contains(state)],
        "text": _text(node),
        "depth": depth,
    }


def _text(node: Any) -> str:
    text = node.get_text_iface()
    if text is not None:
        length, half = text.get_character_count(), _MAX_TEXT // 2
        if length <= _MAX_TEXT:
            return str(text.get_text(0, length)) if length > 0 else ""
        return f"{text.get_text(0, half)} … {text.get_text(length - half, length)}"
    value = node.get_value_iface()
    return f"{value.get_current_value():g}" if value is not None else ""


def main() -> None:
    Atspi.set_timeout(_PATIENCE, _PATIENCE)
    walk = Walk(float(sys.argv[1]), int(sys.argv[2]))
    walk.desktop()
    json.dump({"elements": walk.found, "complete": walk.complete}, sys.stdout)


main()
