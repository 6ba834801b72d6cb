# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""flip, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, numbers


def expected(
    inputs: list[Array], layout: str, horizontal: int = 1, vertical: int = 0, depthwise: int = 0
) -> Array:
    wanted = {"W": horizontal, "H": vertical, "D": depthwise}
    axes = [layout.index(letter) for letter, on in wanted.items() if on and letter in layout]
    return np.ascontiguousarray(np.flip(inputs[0], axes))


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for layout, shape, dtype in (
        ("HWC", (5, 7, 3), "uint8"),
        ("CHW", (2, 1, 9), "float32"),
        ("HW", (8, 3), "float64"),
        ("FHWC", (2, 5, 4, 3), "int16"),
        ("CDHW", (2, 3, 5, 4), "uint16"),
        ("FDHWC", (2, 3, 2, 5, 1), "bool"),
    ):
        data = numbers(rng, shape, dtype)
        for horizontal, vertical in ((1, 0), (0, 1), (1, 1), (0, 0)):
            yield [data], layout, {"horizontal": horizontal, "vertical": vertical}
        yield [data], layout, {"depthwise": 1}
