"""Libraries that only some families need: imported at use, missed with the line that installs them."""

from __future__ import annotations

import importlib
from typing import Any

from practicum.verifiers.errors import MissingExtra


def need(module: str, *, extra: str) -> Any:
    """The module, or `MissingExtra` raised from the original error."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(module, mend=f"pip install 'practicum[{extra}]'") from error
