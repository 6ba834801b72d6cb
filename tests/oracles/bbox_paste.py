# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""bbox_paste, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, Tolerance

TOLERANCE = Tolerance(share=1e-6)  # the order of the arithmetic


def expected(
    inputs: list[Array],
    layout: str,
    ltrb: bool = False,
    paste_x: float = 0.5,
    paste_y: float = 0.5,
    ratio: float = 1.0,
) -> Array:
    boxes = inputs[0].astype(np.float64) / ratio
    room = np.array([paste_x, paste_y]) * (ratio - 1) / ratio
    boxes[..., :2] += room
    if ltrb:
        boxes[..., 2:] += room
    return boxes.astype(np.float32)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for shape in ((7, 4), (4,), (0, 4), (300, 4)):
        boxes = rng.uniform(0, 1, shape).astype(np.float32)
        for ltrb in (False, True):
            yield [boxes], "", {"ltrb": ltrb, "ratio": 1.0}
            yield [boxes], "", {"ltrb": ltrb, "ratio": 2.75}
            yield [boxes], "", {"ltrb": ltrb, "ratio": 1.5, "paste_x": 0.25, "paste_y": 0.9}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    yield [np.zeros((5, 3), np.float32)], "", {"ratio": 2.0}, "expected four values in a row"
