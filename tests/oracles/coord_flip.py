# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""coord_flip, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array


def expected(
    inputs: list[Array],
    layout_of_input: str,
    center_x: float = 0.5,
    center_y: float = 0.5,
    center_z: float = 0.5,
    flip_x: int = 1,
    flip_y: int = 0,
    flip_z: int = 0,
    layout: str = "",
) -> Array:
    answer = inputs[0].copy()
    flips = {"x": (flip_x, center_x), "y": (flip_y, center_y), "z": (flip_z, center_z)}
    for i, letter in enumerate(layout or "xyz"[: answer.shape[-1]]):
        flip, center = flips[letter]
        if flip:
            answer[..., i] = 2 * np.float64(np.float32(center)) - answer[..., i].astype(np.float64)
    return answer


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for shape in ((30, 2), (5, 3), (4, 1), (2,), (2, 3, 2), (0, 2)):
        points = rng.uniform(-1, 1, shape).astype(np.float32)
        yield [points], "", {}
        yield [points], "", {"flip_x": 0, "flip_y": 1, "center_y": 0.25}
        yield [points], "", {"flip_z": 1, "flip_y": 1, "center_x": -3.0, "center_z": 0.1}
    points = rng.uniform(-1, 1, (30, 2)).astype(np.float32)
    yield [points], "", {"layout": "yx"}
    yield [points], "", {"layout": "zx", "flip_z": 1}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    points = np.zeros((5, 2), np.float32)
    yield [points], "", {"layout": "xyz"}, "the points have 2 coordinates, expected xyz"
    yield [points], "", {"layout": "xx"}, "expected each of x, y and z at most once"
    yield [np.zeros((5, 4), np.float32)], "", {}, "the points have 4 coordinates"
