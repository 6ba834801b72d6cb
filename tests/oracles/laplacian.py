# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""laplacian, by SciPy's correlate1d in double precision; OpenCV must agree where it has it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cv2
import numpy as np
from scipy.ndimage import correlate1d

from .common import Array, Tolerance, numbers, refused_layouts, spatial_axes, to_dtype

# A sum next to a half may be rounded either way.
TOLERANCE = Tolerance(levels=1, share=1e-5)


def window(size: int, is_derivative: bool) -> Array:
    derivative, smooth = cv2.getDerivKernels(2, 0, max(size, 3), ktype=cv2.CV_64F)
    if not is_derivative and size == 1:
        return np.ones(1)
    return (derivative if is_derivative else smooth).ravel().astype(float)


def expected(
    inputs: list[Array],
    layout: str,
    window_size: Any = 3,
    smoothing_size: Any = None,
    scale: Any = None,
    normalized_kernel: bool = False,
    dtype: str | None = None,
) -> Array:
    data = inputs[0]
    axes = spatial_axes(layout, data)
    rank = len(axes)
    derivatives = np.broadcast_to(window_size, rank)
    smoothings = None if smoothing_size is None else np.broadcast_to(smoothing_size, rank)
    factors = np.broadcast_to(np.asarray(1 if scale is None else scale, np.float32), rank)
    result = np.zeros(data.shape)
    for i in range(rank):
        partial, exponent = data.astype(float), rank + 2
        for j in range(rank):
            smooths = i != j and smoothings is not None
            size = int(smoothings[j] if smooths else derivatives[i])
            partial = correlate1d(partial, window(size, i == j), axes[j], mode="mirror")
            exponent -= size
        result += partial * (2.0**exponent if normalized_kernel else float(factors[i]))
    if layout == "HW" and np.ptp(derivatives) == 0 and np.ptp(factors) == 0:
        size = int(derivatives[0])
        plain = size == 3 and smoothings is not None and smoothings.max() == 1
        if (smoothings is None or plain) and not normalized_kernel:
            theirs = cv2.Laplacian(
                data.astype(float), cv2.CV_64F, ksize=1 if plain else size, scale=float(factors[0])
            )
            np.testing.assert_allclose(result, theirs, atol=1e-9 * np.abs(theirs).max())
    return to_dtype(result, dtype or str(data.dtype))


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], Any, dict[str, Any]]]:
    frames = {"window_size": 5, "smoothing_size": 3, "scale": 0.1, "dtype": "float32"}
    yield [numbers(rng, (3, 9, 11, 2), "uint8")], "FHWC", frames
    image = numbers(rng, (13, 47, 3), "uint8")
    for size in (3, 5, 9, [3, 7], [11, 5]):
        for smoothing in (None, 1, 5, [3, 1]):
            more: dict[str, Any] = {} if smoothing is None else {"smoothing_size": smoothing}
            yield [image], "HWC", {"window_size": size, **more, "dtype": "float32"}
            yield [image], "HWC", {"window_size": size, **more, "normalized_kernel": True}
    for dtype in ("uint8", "float32", "float16", "int8", "uint16", "int16", "int32", "float64"):
        plane = numbers(rng, (19, 31), dtype)
        yield [plane], "HW", {}
        yield [plane], "HW", {"smoothing_size": 1, "scale": 0.25}
        yield [plane], "HW", {"window_size": 7, "dtype": "float32", "scale": 0.01}
        yield [numbers(rng, (2, 9, 18), dtype)], "CHW", {"scale": [0.5, -0.25]}
    for size in (23, 31):
        for dtype in ("float64", "float32", "uint8"):
            plane = numbers(rng, (30, 40), dtype)
            made = "float64" if dtype == "float64" else "float32"
            yield [plane], "HW", {"window_size": size, "scale": 2.0**-44, "dtype": made}
            yield [plane], "HW", {"window_size": size, "normalized_kernel": True}
    sizes = {"window_size": [31, 3], "smoothing_size": [1, 31], "dtype": "float32"}
    yield [image], "HWC", sizes
    yield [image], "HWC", {**sizes, "window_size": 31, "normalized_kernel": True}
    volume = numbers(rng, (5, 6, 7, 2), "uint8")
    yield [volume], "DHWC", {"dtype": "float32"}
    yield [volume], "DHWC", {"window_size": [3, 5, 3], "smoothing_size": 3, "dtype": "float32"}
    yield [numbers(rng, (2, 5, 6, 7), "int16")], "CDHW", {"normalized_kernel": True}
    yield [numbers(rng, (5, 6, 7), "float32")], "DHW", {"scale": [1.0, 0.0, 2.0]}
    for size in (5, 7, 15, [3, 31, 5]):
        more = {"window_size": size, "normalized_kernel": True}
        yield [volume], "DHWC", {**more, "dtype": "float32"}
        yield [volume], "CDHW", {**more, "smoothing_size": [1, 3, 9]}
        yield [numbers(rng, (5, 6, 7), "float32")], "", more
    for layout in ("", "CWH", "XYC", "XYZ", "WDH"):
        yield [image], layout, {"dtype": "float32"}
        yield [image], layout, {"window_size": 9, "normalized_kernel": True, "dtype": "float32"}
    yield [image], "", {"window_size": [3, 7, 5], "scale": [1.0, 0.01, 0.1], "dtype": "float32"}
    for layout in ("", "W", "x"):
        for size in (3, 5, 31):
            line = numbers(rng, (50,), "float32")
            yield [line], layout, {"window_size": size, "scale": 2.0**-size}
    yield [numbers(rng, (40, 3), "uint8")], "WC", {"window_size": 9, "normalized_kernel": True}
    yield [numbers(rng, (3, 4, 9, 8), "uint8")], "CFHW", {"scale": [0.5, 0.25]}
    deep = numbers(rng, (2, 3, 4, 6, 5), "uint8")
    yield [deep], "CFDHW", {"window_size": [3, 5, 7], "normalized_kernel": True}
    yield [deep], "FXYZC", {"window_size": 5, "normalized_kernel": True}
    yield [numbers(rng, (1, 1), "int16")], "HW", {"window_size": 5}
    yield [numbers(rng, (0, 5, 3), "uint8")], "HWC", {}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    image = np.zeros((5, 4, 3), np.uint8)
    yield [image], "HWC", {"window_size": 4}, "'window_size' is 4, expected odd numbers"
    yield [image], "HWC", {"smoothing_size": 4}, "'smoothing_size' is 4, expected odd numbers"
    yield [image], "HWC", {"window_size": [3, 3, 3]}, "has 3 values, expected 1 or 2"
    yield [image], "", {"scale": [1.0, 2.0]}, "'scale' has 2 values, expected 1 or 3"
    both = {"normalized_kernel": True, "scale": 1.0}
    yield [image], "HWC", both, "'normalized_kernel' and 'scale' do not go together"
    yield from refused_layouts({})
