"""Tests for verifiers: damage that must be seen, rewriting that must not.

from practicum.verifiers.mutation import kit
for damage in kit("mesh").damages: damage.apply(path, 0.3, Random(1))
"""

from __future__ import annotations

import importlib
import pkgutil

from practicum.verifiers.errors import VerifierError
from practicum.verifiers.mutation.kit import Damage, Kit, Rewriting

__all__ = ["Damage", "Kit", "Rewriting", "kinds", "kit"]


def kit(kind: str) -> Kit:
    """The kit of a family. Raises `VerifierError` where there is none."""
    if kind not in kinds():
        raise VerifierError(f"no mutation kit for {kind!r}; there are {', '.join(kinds())}")
    found: Kit = importlib.import_module(f"{__name__}.{kind}").KIT
    return found


def kinds() -> list[str]:
    return sorted(info.name for info in pkgutil.iter_modules(__path__) if info.name != "kit")
