"""Plain texts, compared by what they say.

from practicum.verifiers.text import Mention, TextSpec, verify
"""

from practicum.verifiers.registry import Fact, Family
from practicum.verifiers.text.compare import read, verify
from practicum.verifiers.text.spec import Mention, TextSpec

__all__ = ["Mention", "TextSpec", "read", "verify"]

FAMILY = Family(
    kind="text",
    title="Plain texts",
    spec=TextSpec,
    verify=verify,
    suffixes=(".txt", ".md", ".log"),
    facts=(
        Fact("readable", "", "the file is text in UTF-8, UTF-16 or Windows-1252; a gate"),
        Fact("lines", "lines", "the same lines, numbers compared as numbers", "Unicode NFC"),
        Fact("<mention>", "count", "how often a phrase occurs"),
    ),
)
