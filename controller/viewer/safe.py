"""Text from a desk or a model, made harmless to look at: control characters are spelled out, never obeyed."""

from __future__ import annotations

import unicodedata

LIMIT = 20_000

_KEPT = frozenset("\n\t")
_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")


def visible(text: str) -> str:
    """Every control character but newline and tab spelled out, as `\\x1b` or `\\u202e`.

    Bidirectional overrides go the same way: they make a reader see another order than was written.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_picture(char) for char in text)


def clip(text: str, limit: int = LIMIT) -> str:
    """Head and tail of an overlong text, with what was left out said in between."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters …]\n{text[-half:]}"


def _picture(char: str) -> str:
    if char in _KEPT:
        return char
    if char in _BIDI or unicodedata.category(char) in ("Cc", "Cs"):
        return f"\\x{ord(char):02x}" if ord(char) < 0x100 else f"\\u{ord(char):04x}"
    return char
