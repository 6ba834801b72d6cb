# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""transforms.rotation, by SciPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from .common import Array, Tolerance
from .transforms_translation import Numbers, about, joined, matrices, single

TOLERANCE = Tolerance(share=1e-6)  # the order of the sums


def expected(
    inputs: list[Array],
    layout: str,
    angle: float = 0.0,
    axis: Numbers | None = None,
    center: Numbers | None = None,
    reverse_order: bool = False,
) -> Array:
    direction = single([0.0, 0.0, 1.0] if axis is None else axis)
    vector = direction / np.linalg.norm(direction) * np.radians(np.float64(np.float32(angle)))
    linear = Rotation.from_rotvec(vector).as_matrix()
    rank = 2 if axis is None else 3
    return joined(about(linear[:rank, :rank], center), inputs, reverse_order)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for angle in (30.0, -100.0, 400.0):
        for inputs, order in matrices(rng, 2):
            yield inputs, "", {"angle": angle, **order}
            yield inputs, "", {"angle": angle, "center": [5.0, 0.5], **order}
        for axis in ([0.0, 0.0, 1.0], [0.0, 2.0, 0.0], [1.0, -2.0, 3.0]):
            for inputs, order in matrices(rng, 3):
                yield inputs, "", {"angle": angle, "axis": axis, **order}
            yield [], "", {"angle": angle, "axis": axis, "center": [5.0, 0.5, 7.0]}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    turn = {"angle": 30.0}
    yield [], "", {**turn, "axis": [0.0] * 3}, "which has no direction"
    yield [], "", {**turn, "axis": [1.0, 0.0]}, "argument 'axis' has 2 values, expected 3"
    yield [], "", {**turn, "center": [1.0] * 3}, "argument 'center' has 3 values, expected 1 or 2"
    solid = np.zeros((3, 4), np.float32)
    yield [solid], "", turn, "a map of 2 dimensions does not fit 3 values"
