"""Office files whose bytes depend on their content only."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

EPOCH = (2020, 1, 1, 0, 0, 0)
_STAMP = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*(<)")
_CORE = "docProps/core.xml"


def freeze_zip(path: Path) -> None:
    """Rewrite a zip-based document without the time at which it was made."""
    with zipfile.ZipFile(path) as archive:
        parts = [(info.filename, archive.read(info)) for info in archive.infolist()]
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts:
            content = _STAMP.sub(rb"\g<1>2020-01-01T00:00:00Z\g<2>", data) if name == _CORE else data
            archive.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED)
