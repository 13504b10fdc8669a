"""What may go wrong while verifying, typed once.

    VerifierError
    ├── Unreadable       a file is missing, malformed, hostile or over its bounds; names the file
    ├── MissingExtra     a format needs something that is not installed; carries the mending command
    ├── BadSpec          a spec contradicts itself or does not fit its reference
    ├── VerifierFault    the verifier itself failed: never a score
    └── JailUnavailable  nothing here can hold a verification; carries the mending command

`Unreadable` about a *candidate* is a failing check; about a *reference* it is ours, a `VerifierFault`.
"""

from __future__ import annotations

from pathlib import Path


class VerifierError(Exception):
    """Root of everything below."""


class Unreadable(VerifierError):
    """This file cannot be read as what it should be."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path.name}: {reason}")
        self.path = path
        self.reason = reason


class MissingExtra(VerifierError):
    """A library or program that this format needs is not installed."""

    def __init__(self, what: str, *, mend: str) -> None:
        super().__init__(f"{what} is not installed (mend: {mend})")
        self.what = what
        self.mend = mend


class BadSpec(VerifierError):
    """The spec cannot be applied to this reference."""


class VerifierFault(VerifierError):
    """The verifier failed, and not because of what it was given to grade."""

    def __init__(self, message: str, *, logs: str = "") -> None:
        super().__init__(message)
        self.logs = logs


class JailUnavailable(VerifierError):
    """This machine cannot hold a verification apart."""

    def __init__(self, message: str, *, mend: str) -> None:
        super().__init__(f"{message} (mend: {mend})")
        self.mend = mend
