# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Predicts draws: Philox 4x32-10, written a second time, from the paper, in NumPy.

Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (2011). What Stoker puts
into counter and key, of a draw's number, position, child and key, is also written a second time.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .common import Array

MASK = 2**64 - 1
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)


def philox(counters: Array, key: tuple[int, int]) -> Array:
    """Four random words for each row of four words."""
    x0, x1, x2, x3 = np.asarray(counters, np.uint64).T
    low = np.uint64(0xFFFFFFFF)
    for r in range(10):
        k0, k1 = (np.uint64((k + r * w) % 2**32) for k, w in zip(key, WEYL, strict=True))
        p0, p1 = x0 * np.uint64(MULTIPLIERS[0]), x2 * np.uint64(MULTIPLIERS[1])
        high = np.uint64(32)
        x0, x1, x2, x3 = (p1 >> high) ^ x1 ^ k0, p1 & low, (p0 >> high) ^ x3 ^ k1, p0 & low
    return np.stack([x0, x1, x2, x3], axis=1)


def _scramble(x: int) -> int:
    """The next output of splitmix64 for a state."""
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def _combine(*values: int) -> int:
    result = _scramble(values[0] & MASK)
    for v in values[1:]:
        result = _scramble(result ^ v & MASK)
    return result


def key_of(text: str) -> int:
    """The number for an operator's key, which is "flip#0", "flip/seed:3" or "name:mine"."""
    data = text.encode()
    padded = data + bytes(-len(data) % 8)
    result = _combine(len(data))
    for word in struct.unpack(f"<{len(padded) // 8}Q", padded):
        result = _combine(result, word)
    return result


@dataclass(frozen=True)
class Chance:
    """The draws of one operator on one sample: an endless list of 32-bit numbers."""

    seed: int
    key: str
    epoch: int = 0
    position: int = 0
    child: int = 0

    def words(self, count: int, first: int = 0) -> list[int]:
        """The draws first ... first + count - 1."""
        begin, end = first // 4, -(-(first + count) // 4)
        at = self.position
        counters = [
            [n & 0xFFFFFFFF, self.child, at & 0xFFFFFFFF, at >> 32 | n >> 32 << 16]
            for n in range(begin, end)
        ]
        own_seed = re.fullmatch(r"[^:]*/seed:\d+", self.key)  # then the pipeline's plays no part
        key = _combine(0 if own_seed else self.seed, key_of(self.key), self.epoch)
        if not counters:
            return []
        flat = philox(np.array(counters, np.uint64), (key & 0xFFFFFFFF, key >> 32)).reshape(-1)
        return [int(w) for w in flat[first - 4 * begin :][:count]]

    def wide(self, first: int) -> int:
        """The draws first and first + 1 as one number of 64 bits."""
        high, low = self.words(2, first)
        return high << 32 | low


def shape_asked(inputs: Sequence[Array], shape: Sequence[int] | None) -> tuple[int, ...]:
    """The output's shape of an operator without data: as asked, as the input's, or a scalar."""
    if shape is not None:
        return tuple(int(n) for n in np.asarray(shape).reshape(-1))
    return inputs[0].shape if inputs else ()
