"""The way into a desk: a file or folder as a tar that belongs to one account of the guest."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import IO

from practicum.infra.desk.desk import Account

OWNERS = {Account.AGENT: (1000, 1000), Account.HOUSE: (0, 0)}


def pack(sink: IO[bytes], source: Path, name: str, account: Account, mode: int) -> None:
    """Write `source` under `name`, left where the archive ends; links and devices stay out.

    A single file gets `mode`; in a folder each keeps its own.
    """
    uid, gid = OWNERS[account]

    def owned(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        if not (member.isfile() or member.isdir()):
            return None
        member.uid, member.gid, member.uname, member.gname = uid, gid, "", ""
        if source.is_file():
            member.mode = mode
        return member

    with tarfile.open(fileobj=sink, mode="w") as archive:
        archive.add(source, name, filter=owned)
