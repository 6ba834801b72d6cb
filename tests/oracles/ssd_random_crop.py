# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""ssd_random_crop, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .box_crop import Rules, boxes, choose, labels_of, seen
from .chance import Chance
from .common import Array, Tolerance, half_away

TOLERANCE = Tolerance(share=1e-6)  # float32 against float64


def expected(
    inputs: list[Array], layout: str, *, chance: Chance, num_attempts: int = 1
) -> list[Array]:
    image, rows, labels = inputs
    low, high = rows[:, :2].astype(np.float64), rows[:, 2:].astype(np.float64)
    thresholds = (None, 0.1, 0.3, 0.5, 0.7, 0.9, 0.0)
    rules = Rules(
        thresholds,
        attempts=num_attempts,
        scaling=(0.3, 1.0),
        ratios=((0.5, 2.0), (0.5, 2.0), (0.5, 2.0)),
    )
    window = choose(chance, low, high, rules)
    parts = []
    for extent, a, b in zip(image.shape, window.low[::-1], window.high[::-1], strict=False):
        begin = min(half_away(a * extent), max(extent - 1, 0))
        parts.append(slice(begin, max(min(half_away(b * extent), extent), begin + 1)))
    left = rows[window.kept]
    if not window.is_whole:
        left = np.concatenate(seen(low, high, window), axis=1).astype(np.float32)
    return [image[tuple(parts)], left, labels[window.kept]]


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for count, shape in ((0, (20, 30, 3)), (1, (1, 1, 1)), (3, (31, 17, 3)), (1, (50, 40, 2))):
        image = rng.integers(0, 256, shape).astype(np.uint8)
        rows = boxes(rng, count)
        for labels in labels_of(count):
            yield [image, rows, labels], "HWC", {}
        yield [image.astype(np.float32), rows, labels], "HWC", {"num_attempts": 50}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    image, rows, labels = np.zeros((4, 4, 1), np.uint8), np.zeros((2, 4), np.float32), np.zeros(2)
    yield [image, rows[:, :3], labels], "HWC", {}, "expected (N, 4)"
    yield [image, rows - 1, labels], "HWC", {}, "box 0 has a coordinate of -1.0, expected 0 to 1"
    yield [image, rows, labels[:1]], "HWC", {}, "and there are 2 boxes"
    yield [image, rows, np.float32(1)], "HWC", {}, "the labels are one number"
