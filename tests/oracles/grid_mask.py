# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""grid_mask, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, numbers


def expected(
    inputs: list[Array],
    layout: str,
    angle: float = 0.0,
    ratio: float = 0.5,
    shift_x: float = 0.0,
    shift_y: float = 0.0,
    tile: int = 100,
) -> Array:
    angle, ratio, shift_x, shift_y = np.float32([angle, ratio, shift_x, shift_y]).astype(float)
    positions = np.indices(inputs[0].shape)
    x, y = positions[layout.index("W")], positions[layout.index("H")]
    across = (x * np.cos(angle) - y * np.sin(angle) - shift_x) / tile
    down = (x * np.sin(angle) + y * np.cos(angle) - shift_y) / tile
    is_masked = (across % 1 < ratio) & (down % 1 < ratio)
    return np.where(is_masked, np.zeros((), inputs[0].dtype), inputs[0])


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for layout, shape, dtype in (
        ("HWC", (37, 70, 3), "uint8"),
        ("CHW", (3, 19, 24), "float32"),
        ("HW", (8, 13), "float64"),
        ("FHWC", (2, 15, 14, 3), "int16"),
    ):
        data = numbers(rng, shape, dtype)
        yield [data], layout, {}
        yield [data], layout, {"tile": 5}
        yield [data], layout, {"tile": 7, "ratio": 0.3, "angle": 0.4}
        yield [data], layout, {"tile": 1, "ratio": 1.0}
        yield [data], layout, {"tile": 9, "angle": -2.0, "shift_x": 3.5, "shift_y": -20.25}
