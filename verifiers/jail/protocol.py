"""What the jail and the process inside it say to each other, as JSON over one pipe each way."""

from __future__ import annotations

from typing import Any

import msgspec

from practicum.verifiers.jail.limits import JailLimits, Resource
from practicum.verifiers.verdict import Verdict

OUTPUTS = "/exam/outputs"
REFERENCE = "/exam/reference"
READY = b"R"
"""First byte on the report pipe: the walls stand and Python runs."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    target: str
    params: dict[str, Any]
    search_path: tuple[str, ...]
    limits: JailLimits


class Graded(msgspec.Struct, frozen=True, tag="graded"):
    verdict: Verdict


class Refused(msgspec.Struct, frozen=True, tag="refused"):
    """A file could not be read, and the verifier did not make a check of that."""

    path: str
    reason: str


class Exhausted(msgspec.Struct, frozen=True, tag="exhausted"):
    resource: Resource
    detail: str


class Crashed(msgspec.Struct, frozen=True, tag="crashed"):
    error: str
    traceback: str


Report = Graded | Refused | Exhausted | Crashed
