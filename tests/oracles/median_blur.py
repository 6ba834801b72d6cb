# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""median_blur, by SciPy, and by OpenCV where that takes the window and the type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cv2
import numpy as np
from scipy.ndimage import median_filter

from .common import Array, numbers


def expected(inputs: list[Array], layout: str, window_size: Any = (3, 3)) -> Array:
    data = inputs[0]
    width, height = np.broadcast_to(window_size, 2).tolist()
    if data.size == 0:
        return data
    axes = [layout.index("H"), layout.index("W")]
    planes = np.moveaxis(data, axes, (-2, -1))
    made = np.empty_like(planes)
    for index in np.ndindex(planes.shape[:-2]):
        made[index] = median_of(planes[index], width, height)
    return np.moveaxis(made, (-2, -1), axes)


def median_of(plane: Array, width: int, height: int) -> Array:
    known = plane.dtype == np.uint8 or (plane.dtype.name in ("uint16", "float32") and width <= 5)
    if known and width == height > 1:
        return np.asarray(cv2.medianBlur(np.ascontiguousarray(plane), width))
    wide = plane.astype(np.float64 if plane.dtype.kind == "f" else np.int64)
    return np.asarray(median_filter(wide, (height, width), mode="nearest")).astype(plane.dtype)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    image = numbers(rng, (13, 47, 3), "uint8")
    for size in (1, 3, 5, 7, [3, 5], [5, 1], [1, 3], 15, 17, [9, 31]):
        yield [image], "HWC", {"window_size": size}
    for dtype in (
        *("float32", "float16", "int8", "uint16", "int16", "int32", "uint32", "float64", "bool"),
        *("int64", "uint64"),
    ):
        data = numbers(rng, (2, 9, 18), dtype)
        for size in (3, 5, [7, 3]):
            yield [data], "CHW", {"window_size": size}
    yield [numbers(rng, (3, 700), "uint8")], "HW", {"window_size": 3}
    yield [numbers(rng, (4, 3, 200), "uint8")], "HWC", {"window_size": 3}
    yield [numbers(rng, (4, 3, 80), "uint16")], "HWC", {"window_size": 5}
    yield [numbers(rng, (3, 9, 11, 2), "uint8")], "FHWC", {}
    yield [numbers(rng, (3, 9, 11), "float32")], "FHW", {"window_size": [5, 5]}
    yield [numbers(rng, (3, 2, 4, 5), "int16")], "FCHW", {"window_size": 7}
    yield [numbers(rng, (0, 5, 3), "uint8")], "HWC", {}
    yield [numbers(rng, (1, 1, 1), "uint8")], "HWC", {"window_size": 5}
