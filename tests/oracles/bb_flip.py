# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""bb_flip, by NumPy on whole columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array


def expected(
    inputs: list[Array], layout: str, horizontal: int = 1, vertical: int = 0, ltrb: bool = False
) -> Array:
    boxes = inputs[0].reshape(-1, 4)
    low, high = boxes[:, :2], boxes[:, 2:]
    flips = np.array([horizontal, vertical], bool)
    if ltrb:
        columns = [np.where(flips, np.float32(1) - high, low)]
        columns += [np.where(flips, np.float32(1) - low, high)]
    else:
        columns = [np.where(flips, np.float32(1) - low - high, low), high]
    return np.concatenate(columns, 1).reshape(inputs[0].shape)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for shape in ((7, 4), (1, 4), (0, 4), (4,), (300, 4)):
        boxes = rng.uniform(-0.2, 1.2, shape).astype(np.float32)
        for ltrb in (False, True):
            yield [boxes], "", {"ltrb": ltrb}
            yield [boxes], "", {"ltrb": ltrb, "vertical": 1}
            yield [boxes], "", {"ltrb": ltrb, "horizontal": 0, "vertical": 1}
            yield [boxes], "", {"ltrb": ltrb, "horizontal": 0}
