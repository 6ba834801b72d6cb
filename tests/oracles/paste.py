# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""paste, by copying into a full canvas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .common import Array, numbers, shortest, to_dtype


def expected(
    inputs: list[Array],
    layout: str,
    fill_value: float | Sequence[float] = 0.0,
    min_canvas_size: float = 0.0,
    paste_x: float = 0.5,
    paste_y: float = 0.5,
    ratio: float = 1.0,
) -> Array:
    picture = inputs[0]
    shape, place = list(picture.shape), [slice(None)] * picture.ndim
    for letter, share in (("H", paste_y), ("W", paste_x)):
        a = layout.index(letter)
        shape[a] = int(max(shortest(ratio) * shape[a], min_canvas_size))
        begin = int(shortest(share) * (shape[a] - picture.shape[a]))
        place[a] = slice(begin, begin + picture.shape[a])
    fill = np.float32(fill_value).reshape(-1)
    if fill.size > 1:
        channels = layout.index("C")
        fill = fill.reshape([-1 if a == channels else 1 for a in range(picture.ndim)])
    canvas = np.broadcast_to(to_dtype(fill, str(picture.dtype)), shape).copy()
    canvas[tuple(place)] = picture
    return canvas


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for layout, shape, dtype in (
        ("HWC", (5, 7, 3), "uint8"),
        ("CHW", (3, 9, 4), "float32"),
        ("FHWC", (2, 5, 4, 3), "int16"),
    ):
        data = numbers(rng, shape, dtype)
        yield [data], layout, {"ratio": 1.0, "fill_value": 0}
        yield [data], layout, {"ratio": 2.3, "fill_value": [1, 2, 300]}
        yield [data], layout, {"ratio": 1.7, "fill_value": 9, "paste_x": 0.0, "paste_y": 1.0}
        yield [data], layout, {"ratio": 1.1, "fill_value": 9, "min_canvas_size": 8.5}
        yield [data], layout, {"ratio": 3.0, "fill_value": 9, "paste_x": 0.3, "paste_y": 0.77}
    yield [numbers(rng, (8, 3), "float64")], "HW", {"ratio": 1.5, "fill_value": -1}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    picture = np.zeros((5, 7, 3), np.uint8)
    words = "argument 'fill_value' has 2 values, expected 1 or 3"
    yield [picture], "HWC", {"ratio": 1.0, "fill_value": [1, 2]}, words
