# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Writes pictures of a batch side by side into one PNG, to see what augmentations do."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy.typing

    Picture = numpy.typing.NDArray[Any]


def contact_sheet(
    pictures: Sequence[Picture], path: str | os.PathLike[str], columns: int = 8, gap: int = 4
) -> None:
    """Writes uint8 pictures (H, W, 3), all of one size, as a grid on a white ground.

    Requires: at least one picture.
    """
    import numpy

    height, width, _ = pictures[0].shape
    columns = min(columns, len(pictures))
    rows = -(-len(pictures) // columns)
    size = (rows * (height + gap) + gap, columns * (width + gap) + gap, 3)
    sheet = numpy.full(size, 255, numpy.uint8)
    for i, picture in enumerate(pictures):
        y = gap + i // columns * (height + gap)
        x = gap + i % columns * (width + gap)
        sheet[y : y + height, x : x + width] = picture
    write_png(sheet, path)


def write_png(picture: Picture, path: str | os.PathLike[str]) -> None:
    """Writes a uint8 picture (H, W, 3) as a PNG."""
    height, width, _ = picture.shape
    rows = b"".join(b"\0" + row.tobytes() for row in picture)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        file.write(_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)))
        file.write(_chunk(b"IDAT", zlib.compress(rows, 6)))
        file.write(_chunk(b"IEND", b""))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
