"""Send a file or folder as a tar stream through the bulk line, then print how many bytes that was.

Arguments: its absolute path, and how many bytes and files it may have.
Exit codes: 0 sent, 65 refused, 66 not there.
"""

from __future__ import annotations

import sys
from pathlib import Path, PurePosixPath

sys.path.insert(0, "/opt/practicum")

from practicum.vm_images.handsd import files

_LINE = Path("/dev/virtio-ports/desk.bulk")
_REFUSED, _NOT_THERE = 65, 66


def main() -> int:
    path, caps = PurePosixPath(sys.argv[1]), files.Caps(int(sys.argv[2]), int(sys.argv[3]))
    sent = 0
    code = 0
    with _LINE.open("wb", buffering=0) as line:

        def send(piece: bytes) -> None:
            nonlocal sent
            left = memoryview(piece)
            while left:
                left = left[line.write(left) :]
            sent += len(piece)

        try:
            files.pack(path, caps, send)
        except FileNotFoundError:
            code = _NOT_THERE
        except files.Refused as refused:
            code = _REFUSED
            sys.stderr.write(f"{refused}\n")
    sys.stdout.write(f"{sent}\n")
    return code


sys.exit(main())
