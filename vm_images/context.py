"""Build contexts: tar archives that are equal on every machine where their names and bytes are."""

from __future__ import annotations

import io
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from practicum.vm_images.recipe import files_of

Entry = tuple[str, bytes]
"""A path in the context, and its content."""

SPOOL_BYTES = 16 << 20


def folder_entries(folder: Path, under: str = "") -> Iterator[Entry]:
    for path in files_of(folder):
        yield f"{under}{path.relative_to(folder).as_posix()}", path.read_bytes()


@contextmanager
def archive(entries: Iterable[Entry]) -> Iterator[IO[bytes]]:
    """The entries as a tar file at its beginning: owned by root, modes 0644, no times."""
    with tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES) as spool:
        with tarfile.open(fileobj=spool, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for name, content in entries:
                member = tarfile.TarInfo(name)
                member.size, member.mode = len(content), 0o644
                tar.addfile(member, io.BytesIO(content))
        spool.seek(0)
        yield spool
