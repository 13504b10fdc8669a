"""How the host and the program inside a desk speak: one message is a JSON object and a run of raw bytes.

    u32 length of the JSON · u32 length of the blob (both big-endian) · JSON · blob

A request carries `id`, growing by one, and `op`; an answer carries the same `id` and either `ok` or `error`.
An answer with `more` is followed by others of the same id. Asking again with an id already answered gives
the remembered answer and does nothing else.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

VERSION = 1
MAX_JSON = 16 << 20
MAX_BLOB = 256 << 20
CHUNK = 256 << 10

_HEADER = struct.Struct(">II")


class ErrorKind(StrEnum):
    """What an `error` answer says of the cause."""

    UNSUPPORTED = "unsupported"
    NOT_FOUND = "not_found"
    REFUSED = "refused"
    DISPLAY = "display"
    BAD_REQUEST = "bad_request"
    FAILED = "failed"


class ProtocolError(Exception):
    """The other side does not speak this protocol."""


@dataclass(frozen=True, slots=True)
class Message:
    head: dict[str, Any]
    blob: bytes = field(default=b"", repr=False)


def encode(message: Message) -> bytes:
    head = json.dumps(message.head, separators=(",", ":")).encode()
    return _HEADER.pack(len(head), len(message.blob)) + head + message.blob


def decode(read_exactly: Callable[[int], bytes]) -> Message:
    """One message from a reader which raises at the end of the stream. Raises `ProtocolError`."""
    head_size, blob_size = _HEADER.unpack(read_exactly(_HEADER.size))
    if head_size > MAX_JSON or blob_size > MAX_BLOB:
        raise ProtocolError(f"a message of {head_size} + {blob_size} bytes")
    try:
        head = json.loads(read_exactly(head_size))
    except ValueError as error:
        raise ProtocolError(f"not JSON: {error}") from error
    if not isinstance(head, dict):
        raise ProtocolError("a message must be an object")
    return Message(head, read_exactly(blob_size))
