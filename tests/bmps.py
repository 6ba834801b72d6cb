# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""BMP files of every kind, written here from the bytes of their rows."""

from __future__ import annotations

import struct
from collections.abc import Sequence


def bmp(
    pixels: bytes,
    size: tuple[int, int],
    bits: int,
    *,
    compression: int = 0,
    masks: Sequence[int] = (),
    palette: bytes = b"",
    header: int = 40,
) -> bytes:
    """A file of rows that are given as they are stored. `size` is (height, width)."""
    height, width = size
    if header == 12:
        info = struct.pack("<IHHHH", 12, width, height, 1, bits)
    else:
        counts = (len(pixels), 0, 0, len(palette) // 4, 0)
        info = struct.pack("<IiiHHIIiiII", header, width, height, 1, bits, compression, *counts)
        info += struct.pack(f"<{len(masks)}I", *masks)
        info = info.ljust(header, b"\0")
    at = 14 + len(info) + len(palette)
    return struct.pack("<2sIHHI", b"BM", at + len(pixels), 0, 0, at) + info + palette + pixels
