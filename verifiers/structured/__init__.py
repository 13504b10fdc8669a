"""JSON, YAML, TOML and XML, compared as data.

from practicum.verifiers.structured import At, StructuredSpec, verify
"""

from __future__ import annotations

from pathlib import Path

from practicum.verifiers.registry import Fact, Family
from practicum.verifiers.structured.spec import At, StructuredSpec
from practicum.verifiers.verdict import Verdict

__all__ = ["At", "StructuredSpec", "verify"]


def verify(candidate: Path, reference: Path, spec: StructuredSpec | None = None) -> Verdict:
    """Compare two files of data, which may be in different formats."""
    from practicum.verifiers.structured import compare  # noqa: PLC0415 - lxml is paid for at use

    return compare.verify(candidate, reference, spec)


FAMILY = Family(
    kind="structured",
    title="Structured data",
    spec=StructuredSpec,
    verify=verify,
    suffixes=(".json", ".geojson", ".jsonl", ".yaml", ".yml", ".toml", ".xml"),
    facts=(
        Fact(
            "readable",
            "",
            "the file is well-formed data without entities or doubled names; a gate",
            "RFC 8259",
        ),
        Fact("nothing missing", "places", "every name and item of the reference is there"),
        Fact("values", "places", "numbers as numbers, text after Unicode NFC, true is not 1"),
        Fact("nothing more", "places", "no name or item that the reference does not have"),
    ),
)
