"""PNG, written for speed: no row filters, one deflate pass.

Measured at 1280×800 on one core: ISA-L 0.6 ms for a page of text and 10 ms for a noisy photograph, where zlib
takes 6 and 79 ms and Pillow's own writer 24 and 102 ms. Without ISA-L the files are as right, only later.
"""

from __future__ import annotations

import struct
import zlib

from PIL import Image

try:
    from isal import isal_zlib as deflate  # type: ignore[import-not-found]  # a package of the guest
except ImportError:  # an existing machine reached over SSH need not have it
    deflate = zlib

_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def encode(image: Image.Image) -> bytes:
    """An RGB image as PNG; equal pixels give equal bytes."""
    width, height = image.size
    rows = image.tobytes("raw", "RGB", width * 3 + 1, 1)  # each row ends in a zero: the next row's filter
    packer = deflate.compressobj(1)
    body = packer.compress(b"\0") + packer.compress(memoryview(rows)[:-1]) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return _SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return (
        struct.pack(">I", len(data))
        + kind
        + data
        + struct.pack(">I", deflate.crc32(data, deflate.crc32(kind)))
    )
