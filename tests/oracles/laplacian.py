# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""laplacian, by SciPy's correlate1d in double precision; OpenCV must agree where it has it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cv2
import numpy as np
from scipy.ndimage import correlate1d

from .common import Array, Tolerance, numbers, to_dtype

# A sum next to a half may be rounded either way.
TOLERANCE = Tolerance(levels=1, share=1e-5)


def window(size: int, is_derivative: bool) -> Array:
    derivative, smooth = cv2.getDerivKernels(2, 0, max(size, 3))
    if not is_derivative and size == 1:
        return np.ones(1)
    return (derivative if is_derivative else smooth).ravel().astype(float)


def expected(
    inputs: list[Array],
    layout: str,
    window_size: Any = 3,
    smoothing_size: Any = None,
    scale: Any = 1.0,
    normalized_kernel: bool = False,
    dtype: str | None = None,
) -> Array:
    data = inputs[0]
    axes = [layout.index(c) for c in "DHW" if c in layout]
    rank = len(axes)
    derivatives = np.broadcast_to(window_size, rank)
    smoothings = None if smoothing_size is None else np.broadcast_to(smoothing_size, rank)
    factors = np.broadcast_to(np.asarray(scale, np.float32), rank)
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
    yield [numbers(rng, (30, 40), "float64")], "HW", {"window_size": 23, "scale": 1e-9}
    volume = numbers(rng, (5, 6, 7, 2), "uint8")
    yield [volume], "DHWC", {"dtype": "float32"}
    yield [volume], "DHWC", {"window_size": [3, 5, 3], "smoothing_size": 3, "dtype": "float32"}
    yield [numbers(rng, (2, 5, 6, 7), "int16")], "CDHW", {"normalized_kernel": True}
    yield [numbers(rng, (5, 6, 7), "float32")], "DHW", {"scale": [1.0, 0.0, 2.0]}
    yield [numbers(rng, (1, 1), "int16")], "HW", {"window_size": 5}
    yield [numbers(rng, (0, 5, 3), "uint8")], "HWC", {}
