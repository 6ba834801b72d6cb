# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""PNG files of every kind, written here from samples that are then known exactly."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

import numpy as np

from helpers import Array

COLORS = {"gray": 0, "rgb": 2, "palette": 3, "gray alpha": 4, "rgba": 6}
CHANNELS = {"gray": 1, "rgb": 3, "palette": 1, "gray alpha": 2, "rgba": 4}
DEPTHS = {
    "gray": (1, 2, 4, 8, 16),
    "rgb": (8, 16),
    "palette": (1, 2, 4, 8),
    "gray alpha": (8, 16),
    "rgba": (8, 16),
}
PASSES = (
    (0, 0, 8, 8),
    (0, 4, 8, 8),
    (4, 0, 8, 4),
    (0, 2, 4, 4),
    (2, 0, 4, 2),
    (0, 1, 2, 2),
    (1, 0, 2, 1),
)


def chunk(kind: bytes, data: bytes = b"") -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def samples(rng: np.random.Generator, height: int, width: int, color: str, depth: int) -> Array:
    """Random samples, or indices, with slopes as photographs have."""
    y, x = np.mgrid[0:height, 0:width]
    slope = (np.add.outer(y * 3 + x * 5, np.arange(CHANNELS[color]) * 40)) << max(0, depth - 8)
    noise = rng.integers(0, 1 << depth, slope.shape) >> min(depth - 1, 3)
    return ((slope + noise) % (1 << depth)).astype(np.uint16)


def _packed(rows: Array, depth: int) -> Array:
    """Rows of samples as rows of bytes."""
    flat = rows.reshape(len(rows), -1)
    if depth == 16:
        return flat.astype(">u2").view(np.uint8)
    if depth == 8:
        return flat.astype(np.uint8)
    bits = np.unpackbits(flat.astype(np.uint8)[..., None], axis=-1)[..., 8 - depth :]
    return np.packbits(bits.reshape(len(flat), -1), axis=1)


def _filtered(rows: Array, step: int, choose: Callable[[int], int]) -> bytes:
    """Each row behind the number of its filter."""
    out = bytearray()
    above = np.zeros(rows.shape[1], np.int32)
    for y, row in enumerate(rows.astype(np.int32)):
        left = np.concatenate([np.zeros(step, np.int32), row])[: len(row)]
        corner = np.concatenate([np.zeros(step, np.int32), above])[: len(row)]
        guess = left + above - corner
        a, b, c = abs(guess - left), abs(guess - above), abs(guess - corner)
        paeth = np.where((a <= b) & (a <= c), left, np.where(b <= c, above, corner))
        kind = choose(y)
        predicted = (0 * left, left, above, (left + above) // 2, paeth)[kind]
        out.append(kind)
        out += ((row - predicted) % 256).astype(np.uint8).tobytes()
        above = row
    return bytes(out)


def encode(
    pixels: Array,
    color: str,
    depth: int,
    *,
    interlaced: bool = False,
    palette: Array | None = None,
    transparency: bytes = b"",
    before: bytes = b"",
    behind: bytes = b"",
    piece: int = 8192,
) -> bytes:
    """A PNG file of samples (height, width, channels). Chunks may stand before and behind IDAT."""
    height, width = pixels.shape[:2]
    step = max(1, CHANNELS[color] * depth // 8)
    raw = b""
    for y, x, down, right in PASSES if interlaced else ((0, 0, 1, 1),):
        part = pixels[y::down, x::right]
        if part.size:
            raw += _filtered(_packed(part, depth), step, lambda row: row % 5)
    data = zlib.compress(raw)
    header = struct.pack(">IIBBBBB", width, height, depth, COLORS[color], 0, 0, interlaced)
    parts = [b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", header)]
    if palette is not None:
        parts.append(chunk(b"PLTE", palette.astype(np.uint8).tobytes()))
    if transparency:
        parts.append(chunk(b"tRNS", transparency))
    parts.append(before)
    parts += [chunk(b"IDAT", data[i : i + piece]) for i in range(0, len(data), piece)]
    return b"".join([*parts, behind, chunk(b"IEND")])
