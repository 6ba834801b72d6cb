# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""reductions.mean, by NumPy in long double. The other reductions to means share its parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .common import Array, Tolerance, numbers, to_dtype

TOLERANCE = Tolerance()  # the rounding of the dtype


def along(
    data: Array, layout: str, axes: Sequence[int] | None, axis_names: str | None
) -> tuple[int, ...]:
    """The reduced axes."""
    if axis_names is not None:
        return tuple(layout.index(c) for c in axis_names)
    return tuple(range(data.ndim)) if axes is None else tuple(axes)


def own_dtype(data: Array) -> str:
    return "float64" if data.dtype == np.float64 else "float32"


def mean_of(data: Array, axes: tuple[int, ...], keep_dims: bool) -> Array:
    """The mean in long double; NaN of no values."""
    count = int(np.prod([data.shape[a] for a in axes], dtype=np.int64))
    total = np.asarray(data.astype(np.longdouble).sum(axes, keepdims=keep_dims))
    return total / count if count else np.full(total.shape, np.nan, np.longdouble)


def expected(
    inputs: list[Array],
    layout: str,
    axes: Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    dtype: str | None = None,
) -> Array:
    reduced = along(inputs[0], layout, axes, axis_names)
    exact = mean_of(inputs[0], reduced, keep_dims).astype(np.float64)
    return to_dtype(exact, dtype or own_dtype(inputs[0]))


def calls(rng: np.random.Generator) -> Iterator[tuple[Array, str, dict[str, Any]]]:
    """Tensors and axes to reduce."""
    for dtype in ("uint8", "float32"):
        image = numbers(rng, (9, 70, 3), dtype)
        for axes in ([], [0], [1], [2], [0, 1], [0, 2], [1, 2], [2, 0, 1], [-1]):
            yield image, "HWC", {"axes": axes}
        yield image, "HWC", {"keep_dims": True}
        yield image, "HWC", {"axis_names": "WC", "keep_dims": True}
        yield numbers(rng, (8195,), dtype), "", {}
        yield numbers(rng, (0, 3), dtype), "", {"axes": [0]}
        yield numbers(rng, (0, 3), dtype), "", {"axes": [1]}
    for dtype in ("int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "bool"):
        yield numbers(rng, (7, 90), dtype), "", {"axes": [0]}
    for dtype in ("float16", "float64"):
        yield numbers(rng, (7, 90), dtype), "", {"axes": [1]}
    yield numbers(rng, (3, 4, 5, 2), "uint8"), "FHWC", {"axis_names": "FC"}


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for data, layout, arguments in calls(rng):
        yield [data], layout, arguments
    yield [np.full(5, 2**62, np.uint64)], "", {}
    for dtype in ("uint8", "int32", "float64"):
        yield [numbers(rng, (7, 90), "float32")], "", {"axes": [0], "dtype": dtype}
