"""Plain texts, compared by what they say.

from practicum.verifiers.text import Mention, TextSpec, verify
"""

from practicum.verifiers.text.compare import read, verify
from practicum.verifiers.text.spec import Mention, TextSpec

__all__ = ["Mention", "TextSpec", "read", "verify"]
