# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""TIFF files in tiles, planes and either order of bytes, written here from their samples."""

from __future__ import annotations

import struct

import numpy as np

from helpers import Array


def encode(
    pixels: Array, *, tile: int = 0, planar: bool = False, endian: str = "<", orientation: int = 1
) -> bytes:
    """An uncompressed file of 8 or 16 bits, in square tiles or strips of 7 rows."""
    height, width, channels = pixels.shape
    data = pixels.astype(pixels.dtype.newbyteorder(endian))
    planes = [data[..., c : c + 1] for c in range(channels)] if planar else [data]
    parts = []
    for plane in planes:
        if tile:
            wide = np.pad(plane, ((0, -height % tile), (0, -width % tile), (0, 0)))
            for y in range(0, height, tile):
                parts += [wide[y : y + tile, x : x + tile] for x in range(0, width, tile)]
        else:
            parts += [plane[y : y + 7] for y in range(0, height, 7)]
    body, offsets = b"", []
    for part in parts:
        offsets.append(8 + len(body))
        body += part.tobytes()
    body += b"\0" * (len(body) % 2)
    sizes = [p.nbytes for p in parts]
    tags: dict[int, tuple[str, list[int]]] = {
        256: ("I", [width]),
        257: ("I", [height]),
        258: ("H", [8 * pixels.itemsize] * channels),
        259: ("H", [1]),
        262: ("H", [1 if channels < 3 else 2]),
        274: ("H", [orientation]),
        277: ("H", [channels]),
        284: ("H", [2 if planar else 1]),
    }
    tags |= (
        {322: ("I", [tile]), 323: ("I", [tile]), 324: ("I", offsets), 325: ("I", sizes)}
        if tile
        else {273: ("I", offsets), 278: ("I", [7]), 279: ("I", sizes)}
    )
    if channels in (2, 4):
        tags[338] = ("H", [2])
    entries, far = b"", b""
    far_at = 8 + len(body) + 2 + 12 * len(tags) + 4
    for tag, (kind, values) in sorted(tags.items()):
        value = struct.pack(f"{endian}{len(values)}{kind}", *values)
        if len(value) > 4:
            far += value
            value = struct.pack(f"{endian}I", far_at + len(far) - len(value))
        code = 3 if kind == "H" else 4
        entries += struct.pack(f"{endian}HHI", tag, code, len(values)) + value.ljust(4, b"\0")
    head = b"II*\0" if endian == "<" else b"MM\0*"
    directory = struct.pack(f"{endian}H", len(tags)) + entries + bytes(4)
    return head + struct.pack(f"{endian}I", 8 + len(body)) + body + directory + far
