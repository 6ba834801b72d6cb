# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""gaussian_blur, by SciPy in double precision, one axis after the other."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Any

import numpy as np
from scipy.ndimage import correlate1d

from .common import Array, Tolerance, numbers, refused_layouts, shortest, spatial_axes, to_dtype

# uint8 is in fixed point, and a sum next to a half may be rounded either way.
TOLERANCE = Tolerance(levels=1, share=1e-5)


def expected(
    inputs: list[Array],
    layout: str,
    sigma: Any = 0.0,
    window_size: Any = 0,
    dtype: str | None = None,
) -> Array:
    data = inputs[0]
    blurred = spatial_axes(layout, data)
    sigmas = np.broadcast_to(np.asarray(sigma, np.float32), len(blurred))
    windows = np.broadcast_to(window_size, len(blurred))
    values = data.astype(np.float64)
    for axis, s, window in zip(blurred, sigmas, windows.tolist(), strict=True):
        width = shortest(s)
        radius = (window - 1) // 2 if window else ceil(3 * width)
        width = width or ((2 * radius) / 2 - 1) * 0.3 + 0.8
        bell = np.exp(-((np.arange(-radius, radius + 1) / width) ** 2) / 2)
        if values.size:
            values = correlate1d(values, bell / bell.sum(), axis, mode="mirror")
    return to_dtype(values, dtype or str(data.dtype))


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    image = numbers(rng, (13, 17, 3), "uint8")
    for arguments in (
        {"sigma": [1.0]},
        {"sigma": [0.5, 2.0]},
        {"window_size": [5]},
        {"window_size": [3, 7]},
        {"window_size": [9, 0], "sigma": [0.0, 1.2]},
        {"window_size": [1, 3], "sigma": [3.0]},
        {"sigma": [0.05]},
        {"sigma": [11.0]},  # the window is wider than the image
        {"window_size": [71]},  # too wide for fixed point
    ):
        yield [image], "HWC", arguments
        yield [image], "HWC", {**arguments, "dtype": "float32"}
    for dtype in ("float32", "float16", "int8", "uint16", "int32", "float64", "bool"):
        yield [numbers(rng, (3, 9, 8), dtype)], "CHW", {"sigma": [0.8], "window_size": [5]}
        yield [numbers(rng, (7, 1), dtype)], "HW", {"sigma": [1.5, 0.7]}
    volume = numbers(rng, (4, 6, 5, 2), "uint8")
    yield [volume], "DHWC", {"sigma": [0.7, 1.0, 1.3]}
    yield [volume], "CDHW", {"window_size": [3]}
    yield [volume], "CDHW", {"window_size": [3, 1, 1], "sigma": [2.0]}
    yield [volume.astype(np.float32)], "DHWC", {"window_size": [1, 3, 5], "sigma": [1.0]}
    yield [volume], "FHWC", {"sigma": [1.0]}
    yield [numbers(rng, (2, 3, 5, 4), "int16")], "FCHW", {"sigma": [1.0, 0.5]}
    for layout in ("", "CWH", "XYC", "XYZ", "WDH"):
        yield [image], layout, {"sigma": 0.9}
        yield [image], layout, {"sigma": 0.9, "dtype": "float32"}
    yield [image], "", {"window_size": [3, 7, 1], "dtype": "float32"}
    yield [image], "WHC", {"window_size": [3, 7]}
    for layout in ("", "W", "x"):
        yield [numbers(rng, (50,), "float32")], layout, {"sigma": [1.5]}
    yield [numbers(rng, (40, 3), "uint8")], "WC", {"window_size": 9}
    yield [numbers(rng, (9, 8), "int16")], "", {"window_size": [1, 5]}
    yield [numbers(rng, (3, 4, 9, 8), "uint8")], "CFHW", {"sigma": [0.8, 1.2]}
    yield [numbers(rng, (2, 3, 4, 6, 5), "uint8")], "CFDHW", {"window_size": [3, 1, 5]}
    yield [numbers(rng, (2, 3, 4, 6, 5), "int16")], "FXYZC", {"window_size": [3, 1, 5]}
    yield [numbers(rng, (3, 20), "float32")], "FW", {"sigma": 1.0}
    yield [numbers(rng, (0, 5, 3), "uint8")], "HWC", {"sigma": [1.0]}
    yield [numbers(rng, (1, 1, 1), "uint8")], "HWC", {"sigma": [1.0]}
    yield [numbers(rng, (2, 300, 1), "uint8")], "HWC", {"sigma": [2.5]}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    image = np.zeros((5, 4, 3), np.uint8)
    yield [image], "HWC", {}, "the blur is missing: give 'sigma' or 'window_size'"
    yield [image], "HWC", {"window_size": 4}, "'window_size' is 4, expected odd numbers"
    yield [image], "HWC", {"sigma": [1.0, 2.0, 3.0]}, "'sigma' has 3 values, expected 1 or 2"
    yield [image], "HWC", {"sigma": 1.0, "dtype": "int16"}, "expected uint8 or float32"
    yield [image], "", {"sigma": [1.0, 2.0]}, "'sigma' has 2 values, expected 1 or 3"
    yield from refused_layouts({"sigma": 1.0})
