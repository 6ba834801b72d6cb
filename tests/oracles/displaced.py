# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Pixels of an image that lie at any places, by NumPy, for water, sphere and jitter."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .common import Array, Tolerance, numbers, to_dtype

TOLERANCE = Tolerance(levels=1, share=5e-6)  # uint8 is in fixed point
Coordinates = Callable[[Array, Array, tuple[int, ...]], tuple[Array, Array]]


def displaced(
    data: Array, where: Coordinates, interp_type: str, fill: float, mask: int = 1
) -> Array:
    """Each frame with its pixels moved: where(y, x, shape) has the coordinates for pixels."""
    if not mask:
        return data
    frames = data if data.ndim == 4 else data[None]
    y, x = np.indices(frames.shape[1:3])
    linear = interp_type == "INTERP_LINEAR"
    made = [take(f, *where(y, x, f.shape), linear, fill) for f in frames]
    return np.stack(made) if data.ndim == 4 else made[0]


def take(image: Array, y: Array, x: Array, linear: bool, fill: float) -> Array:
    """What lies at coordinates whose (0, 0) is the image's corner. The layout is HWC."""
    height, width, _ = image.shape
    dtype = str(image.dtype)
    padded = np.pad(
        image,
        ((2, 2), (2, 2), (0, 0)),
        constant_values=to_dtype(np.array([fill], np.float32), dtype)[0],
    )

    def at(rows: Array, columns: Array) -> Array:
        inside_y = np.clip(rows, -2, height + 1).astype(np.int64) + 2
        inside_x = np.clip(columns, -2, width + 1).astype(np.int64) + 2
        return np.asarray(padded[inside_y, inside_x])

    y, x = (np.clip(np.nan_to_num(v, nan=-9), -9.0, 2.0**40) for v in (y, x))
    if not linear:
        return at(np.floor(y), np.floor(x))
    y, x = y - 0.5, x - 0.5
    top, left = np.floor(y), np.floor(x)
    down, right = (y - top)[..., None], (x - left)[..., None]

    def mixed(a: Array, b: Array, share: Array) -> Array:
        wide = a.astype(np.float64), b.astype(np.float64)
        return np.where(share == 0, wide[0], wide[0] * (1 - share) + wide[1] * share)

    upper = mixed(at(top, left), at(top, left + 1), right)
    lower = mixed(at(top + 1, left), at(top + 1, left + 1), right)
    return to_dtype(mixed(upper, lower, down), dtype)


def images(rng: np.random.Generator) -> Iterator[Array]:
    """Images of several dtypes and sizes."""
    for shape in ((13, 17, 3), (1, 1, 1), (20, 9, 1), (7, 40, 4), (6, 5, 6), (2, 8, 9, 3)):
        yield numbers(rng, shape, "uint8")
        yield numbers(rng, shape, "float32")
    for dtype in ("int8", "uint16", "int32", "float64", "float16", "bool", "int64"):
        yield numbers(rng, (9, 11, 2), dtype)
