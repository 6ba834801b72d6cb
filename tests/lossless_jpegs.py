# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Lossless JPEG files (process 14), written here from samples that are then known exactly."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from helpers import Array

ADOBE_YCBCR = b"\xff\xee\x00\x0eAdobe\x00\x64" + bytes(4) + b"\x01"


def segment(marker: int, body: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body


class _Bits:
    """The codes of all 17 symbols have 5 bits each, and are the symbols themselves."""

    def __init__(self) -> None:
        self.done = bytearray()
        self.text = ""

    def add(self, difference: int) -> None:
        difference = (difference + 32768) % 65536 - 32768
        size = 16 if difference == -32768 else int(abs(difference)).bit_length()
        self.text += f"{size:05b}"
        if 0 < size < 16:
            value = difference if difference > 0 else difference + (1 << size) - 1
            self.text += f"{value:0{size}b}"

    def align(self) -> None:
        self.text += "1" * (-len(self.text) % 8)
        for i in range(0, len(self.text), 8):
            byte = int(self.text[i : i + 8], 2)
            self.done += bytes([byte] if byte != 0xFF else [0xFF, 0])
        self.text = ""


def _guess(plane: Array, y: int, x: int, predictor: int, depth: int, is_first: bool) -> int:
    left = int(plane[y, x - 1]) if x else 0
    if is_first:
        return left if x else 1 << (depth - 1)
    above = int(plane[y - 1, x])
    if not x:
        return above
    corner = int(plane[y - 1, x - 1])
    return (
        left,
        above,
        corner,
        left + above - corner,
        left + ((above - corner) >> 1),
        above + ((left - corner) >> 1),
        (left + above) >> 1,
    )[predictor - 1]


def _scan(
    planes: Sequence[Array],
    units: Sequence[tuple[int, int]],
    predictor: int,
    depth: int,
    restart_rows: int,
) -> bytes:
    bits = _Bits()
    rows, columns = (n // s for n, s in zip(planes[0].shape, units[0], strict=True))
    for row in range(rows):
        is_first = row == 0 or (restart_rows > 0 and row % restart_rows == 0)
        if is_first and row:
            bits.align()
            bits.done += bytes([0xFF, 0xD0 + (row // restart_rows - 1) % 8])
        for unit in range(columns):
            for plane, (v, h) in zip(planes, units, strict=True):
                for y in range(row * v, row * v + v):
                    for x in range(unit * h, unit * h + h):
                        guess = _guess(plane, y, x, predictor, depth, is_first and y == row * v)
                        bits.add(int(plane[y, x]) - guess)
    bits.align()
    return bytes(bits.done)


def encode(
    planes: Sequence[Array],
    size: tuple[int, int],
    bits: int,
    *,
    predictor: int = 1,
    shift: int = 0,
    restart_rows: int = 0,
    sampling: Sequence[tuple[int, int]] | None = None,
    interleaved: bool = True,
    before: bytes = b"",
) -> bytes:
    """A file of one plane of samples for each component. `sampling` is (rows, columns) of each."""
    height, width = size
    sampling = sampling or [(1, 1)] * len(planes)
    most_v, most_h = max(v for v, _ in sampling), max(h for _, h in sampling)
    coded = [p.astype(np.int64) >> shift for p in planes]
    frame = struct.pack(">BHHB", bits, height, width, len(planes))
    for i, (v, h) in enumerate(sampling):
        frame += bytes([i + 1, h << 4 | v, 0])
    table = bytes([0, 0, 0, 0, 0, 17, *[0] * 11, *range(17)])
    file = b"\xff\xd8" + before + segment(0xC3, frame) + segment(0xC4, table)
    groups = [list(range(len(planes)))] if interleaved else [[i] for i in range(len(planes))]
    for group in groups:
        if len(group) == 1:
            units = [(1, 1)]
            parts = [coded[group[0]]]
            across = parts[0].shape[1]
        else:
            units = [sampling[i] for i in group]
            across = -(-width // most_h)
            down = -(-height // most_v)
            parts = [
                np.pad(
                    coded[i],
                    ((0, down * v - coded[i].shape[0]), (0, across * h - coded[i].shape[1])),
                    "edge",
                )
                for i, (v, h) in zip(group, units, strict=True)
            ]
        if restart_rows:
            file += segment(0xDD, struct.pack(">H", restart_rows * across))
        head = bytes([len(group), *(b for i in group for b in (i + 1, 0)), predictor, 0, shift])
        file += segment(0xDA, head)
        file += _scan(parts, units, predictor, bits - shift, restart_rows)
    return file + b"\xff\xd9"


def subsampled(plane: Array, factor: tuple[int, int], most: tuple[int, int]) -> Array:
    """The samples of a component that has `factor` of `most` samples."""
    rows, columns = (-(-n * f // m) for n, f, m in zip(plane.shape, factor, most, strict=True))
    return plane[
        np.ix_(np.arange(rows) * most[0] // factor[0], np.arange(columns) * most[1] // factor[1])
    ]


def upsampled(
    plane: Array, size: tuple[int, int], factor: tuple[int, int], most: tuple[int, int]
) -> Array:
    return plane[
        np.ix_(*(np.arange(n) * f // m for n, f, m in zip(size, factor, most, strict=True)))
    ]
