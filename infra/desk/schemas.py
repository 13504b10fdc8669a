"""The desk tools as models are told of them. Flat schemas: several model APIs refuse unions at the top."""

from __future__ import annotations

from typing import Any

from practicum.infra.desk.arguments import MAX_TIMEOUT, MAX_WAIT
from practicum.infra.environment import Tool


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def computer(width: int, height: int) -> Tool:
    """The screen, pointer and keyboard of a desk of this size in pixels."""
    return Tool(
        "computer",
        f"Look at and operate the {width}×{height} pixel screen. (0, 0) is the top-left pixel. "
        "Every action but `elements` answers with a screenshot taken once the screen is quiet. "
        "`click` {x, y, button, count, keys}; `move` {x, y}; `drag` {path, button, keys}; "
        "`scroll` {x, y, dx, dy, keys} in wheel notches, positive dy towards the end; `type` {text}; "
        "`key` {keys, hold} such as ctrl+shift+s; `mouse_down`, `mouse_up` {button}; `wait` {seconds}; "
        "`screenshot`; `elements` lists the accessible objects with their boxes in pixels.",
        _object(
            ["action"],
            action={
                "type": "string",
                "enum": [
                    *("screenshot", "elements", "click", "move", "drag", "scroll"),
                    *("type", "key", "mouse_down", "mouse_up", "wait"),
                ],
            },
            x={"type": "integer", "minimum": 0, "maximum": width - 1, "description": "pixels from the left"},
            y={"type": "integer", "minimum": 0, "maximum": height - 1, "description": "pixels from the top"},
            button={"type": "string", "enum": ["left", "middle", "right"]},
            count={"type": "integer", "minimum": 1, "maximum": 3, "description": "2 is a double click"},
            path={
                "type": "array",
                "minItems": 2,
                "items": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
                "description": "points [x, y] in pixels, from press to release",
            },
            dx={"type": "integer", "description": "notches to the right"},
            dy={"type": "integer", "description": "notches down"},
            text={"type": "string", "description": "typed as it is; newline is Enter"},
            keys={"type": "string", "description": "a chord, or modifiers held during a click"},
            hold={"type": "number", "minimum": 0, "maximum": 10, "description": "seconds to hold the chord"},
            seconds={"type": "number", "minimum": 0, "maximum": MAX_WAIT},
        ),
    )


BASH = Tool(
    "bash",
    "Run a command line in bash as the user who sits at the desk. Answers with output and exit code. "
    "Each command is a new shell in the home folder; programs started in the background go on.",
    _object(
        ["command"],
        command={"type": "string"},
        timeout={
            "type": "number",
            "exclusiveMinimum": 0,
            "maximum": MAX_TIMEOUT,
            "description": "seconds until the command and its children are killed; 120 unless told",
        },
    ),
)

READ_FILE = Tool(
    "read_file",
    "Read a UTF-8 text file of at most 256 KiB.",
    _object(["path"], path={"type": "string", "description": "absolute, or relative to the home folder"}),
)

WRITE_FILE = Tool(
    "write_file",
    "Write a UTF-8 text file, replacing what was there; missing folders are made.",
    _object(
        ["path", "text"],
        path={"type": "string", "description": "absolute, or relative to the home folder"},
        text={"type": "string"},
    ),
)
