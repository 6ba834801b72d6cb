# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Writing pictures to files, one or many side by side, to look at what a pipeline makes."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from stoker import _core

if TYPE_CHECKING:
    import numpy.typing

    Pixels = numpy.typing.NDArray[Any]

__all__ = ["contact_sheet", "save"]

_LAYOUTS = {"HW": (0, 1), "HWC": (0, 1, 2), "CHW": (1, 2, 0)}
_COLOR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}  # of PNG, by channels


def save(
    path: str | os.PathLike[str], picture: Any, *, layout: str | None = None, quality: int = 90
) -> None:
    """Writes one picture as PNG or JPEG, as the ending of the path says.

    ``picture`` is a sample of a batch, on any device, or anything that NumPy takes as an array.
    ``layout`` is "HWC", "CHW" or "HW"; by default it is that of the sample, or HWC, or HW for two
    axes. PNG takes uint8 and uint16 with 1 (gray), 2 (gray, alpha), 3 (RGB) or 4 (RGBA) channels,
    JPEG takes uint8 with 1 or 3, and a ``quality`` from 1 to 100. Raises ValueError for all else.
    """
    pixels = _as_hwc(picture, layout)
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending == ".png":
        data = _png(pixels)
    elif ending in (".jpg", ".jpeg"):
        data = _jpeg(pixels, quality)
    else:
        raise ValueError(f"the path ends in {ending!r}, expected '.png', '.jpg' or '.jpeg'")
    with open(path, "wb") as file:
        file.write(data)


def contact_sheet(
    pictures: Iterable[Any], path: str | os.PathLike[str], columns: int = 8, gap: int = 4
) -> None:
    """Writes uint8 pictures as a grid on a white ground, as PNG or JPEG.

    They are samples or arrays as for ``save``, of 1 or 3 channels. Each stands in the middle of a
    tile, which is as large as the largest picture. ``columns`` counts the pictures of a row, and
    ``gap`` is the distance of tiles in pixels. Raises ``ValueError`` without a picture, and for all
    else.
    """
    import numpy

    if columns < 1 or gap < 0:
        raise ValueError(
            f"a contact sheet expects a column or more and no negative gap, got {columns=}, {gap=}"
        )
    tiles = [_as_hwc(picture, None) for picture in pictures]
    if not tiles:
        raise ValueError("a contact sheet needs at least one picture")
    for tile in tiles:
        if tile.dtype != "uint8" or tile.shape[2] not in (1, 3):
            raise _refuse("a contact sheet", tile, "uint8 with 1 or 3; fn.cast changes the dtype")
    height = max(tile.shape[0] for tile in tiles)
    width = max(tile.shape[1] for tile in tiles)
    columns = min(columns, len(tiles))
    rows = -(-len(tiles) // columns)
    size = (rows * (height + gap) + gap, columns * (width + gap) + gap, 3)
    sheet = numpy.full(size, 255, numpy.uint8)
    for i, tile in enumerate(tiles):
        y = gap + i // columns * (height + gap) + (height - tile.shape[0]) // 2
        x = gap + i % columns * (width + gap) + (width - tile.shape[1]) // 2
        sheet[y : y + tile.shape[0], x : x + tile.shape[1]] = tile
    save(path, sheet)


def _as_hwc(picture: Any, layout: str | None) -> Pixels:
    import numpy

    if isinstance(picture, _core.Tensor):
        layout = layout or picture.layout
        picture = picture.as_cpu()
    array = numpy.asarray(picture)
    layout = layout or ("HW" if array.ndim == 2 else "HWC")
    if layout not in _LAYOUTS:
        raise ValueError(f"the layout is {layout!r}, expected 'HWC', 'CHW' or 'HW'")
    if array.ndim != len(layout):
        raise ValueError(f"the picture has the shape {array.shape}, which is not {layout}")
    if 0 in array.shape:
        raise ValueError(f"the picture has the shape {array.shape}, so it has no pixels")
    array = array.transpose(_LAYOUTS[layout])
    return numpy.ascontiguousarray(array[..., None] if array.ndim == 2 else array)


def _refuse(format_: str, pixels: Pixels, expected: str) -> ValueError:
    found = f"{pixels.dtype} with {pixels.shape[2]} channels"
    return ValueError(f"{format_} does not hold {found}, expected {expected}")


def _jpeg(pixels: Pixels, quality: int) -> bytes:
    height, width, channels = pixels.shape
    if pixels.dtype != "uint8" or channels not in (1, 3):
        raise _refuse("JPEG", pixels, "uint8 with 1 or 3; fn.cast changes the dtype")
    if not 1 <= quality <= 100:
        raise ValueError(f"quality is {quality}, expected 1 to 100")
    # Above 90 the colours of each pixel are kept.
    return _core.write_jpeg(pixels.tobytes(), height, width, channels, quality, quality <= 90)


def _png(pixels: Pixels) -> bytes:
    height, width, channels = pixels.shape
    if pixels.dtype not in ("uint8", "uint16") or channels not in _COLOR_TYPES:
        raise _refuse("PNG", pixels, "uint8 or uint16 with 1 to 4; fn.cast changes the dtype")
    depth = 8 * pixels.itemsize
    header = struct.pack(">IIBBBBB", width, height, depth, _COLOR_TYPES[channels], 0, 0, 0)
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", header),
            _chunk(b"IDAT", zlib.compress(_filtered(pixels), 6)),
            _chunk(b"IEND", b""),
        )
    )


def _filtered(pixels: Pixels) -> bytes:
    """The rows, each with the filter of those below that leaves the smallest differences."""
    import numpy

    big_endian = pixels.astype(pixels.dtype.newbyteorder(">"))
    step = pixels.shape[2] * pixels.itemsize
    rows = numpy.frombuffer(big_endian.tobytes(), numpy.uint8).reshape(len(pixels), -1)
    left = numpy.zeros_like(rows)
    left[:, step:] = rows[:, :-step]
    above = numpy.zeros_like(rows)
    above[1:] = rows[:-1]
    candidates = numpy.stack([rows, rows - left, rows - above])  # None, Sub and Up
    sizes = numpy.abs(candidates.view(numpy.int8).astype(numpy.int32)).sum(axis=2)
    best = sizes.argmin(axis=0)
    filtered = numpy.empty((len(rows), rows.shape[1] + 1), numpy.uint8)
    filtered[:, 0] = best
    filtered[:, 1:] = candidates[best, numpy.arange(len(rows))]
    return filtered.tobytes()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
