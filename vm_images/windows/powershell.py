"""PowerShell from Python: every word is quoted, and scripts travel encoded.

Grammar: Microsoft, "Windows PowerShell Language Specification", section 2.3.5 (literals).
"""

from __future__ import annotations

import base64
from collections.abc import Iterable

_QUOTES = "'\u2018\u2019\u201a\u201b"
"""All that ends a single-quoted literal; each stands for itself when it is doubled."""


def quote(text: str) -> str:
    """A literal that means exactly `text`: nothing in it is expanded. Raises `ValueError` for NUL."""
    if "\0" in text:
        raise ValueError("a PowerShell literal cannot hold NUL")
    return "'" + "".join(char * 2 if char in _QUOTES else char for char in text) + "'"


def command(words: Iterable[str]) -> str:
    """A call of a program by its words, none of which is read as anything but itself."""
    return "& " + " ".join(quote(word) for word in words)


def native_argument(word: str) -> str:
    """A word as a Windows program's own parser reads it back from one command line.

    Rules: Microsoft C runtime, "Parsing C command-line arguments": backslashes count before a quote only.
    """
    if word and not set(word) & set(' \t\n\v"'):
        return word
    quoted, slashes = '"', 0
    for char in word:
        if char == "\\":
            slashes += 1
            continue
        quoted += "\\" * (2 * slashes + 1 if char == '"' else slashes) + char
        slashes = 0
    return quoted + "\\" * (2 * slashes) + '"'


def command_line(words: Iterable[str]) -> str:
    """Words as one command line of a Windows process."""
    return " ".join(native_argument(word) for word in words)


def encoded(script: str) -> list[str]:
    """A PowerShell that runs a script, whatever characters it has."""
    payload = base64.b64encode(script.encode("utf-16-le")).decode("ascii")
    options = ["-NoLogo", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass"]
    return ["powershell.exe", *options, "-EncodedCommand", payload]


def script_file(lines: Iterable[str]) -> bytes:
    """A file of a script as Windows PowerShell 5.1 reads it: with its mark of UTF-8, and CRLF."""
    return b"\xef\xbb\xbf" + "".join(f"{line}\r\n" for line in lines).encode()
