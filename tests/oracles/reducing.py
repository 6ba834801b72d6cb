# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What the oracles of reductions share: axes, means in long double, and calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .common import Array, numbers, to_dtype

Calls = Iterator[tuple[list[Array], str, dict[str, Any]]]


def along(
    data: Array,
    layout: str,
    axes: Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
) -> dict[str, Any]:
    """NumPy's words for the axes to reduce, and for what becomes of them."""
    if axis_names is not None:
        axes = [layout.index(c) for c in axis_names]
    return {
        "axis": tuple(range(data.ndim)) if axes is None else tuple(axes),
        "keepdims": keep_dims,
    }


def count_of(data: Array, axis: tuple[int, ...]) -> int:
    return int(np.prod([data.shape[a] for a in axis], dtype=np.int64))


def mean_of(data: Array, axis: tuple[int, ...], keepdims: bool) -> Array:
    """The mean in long double; NaN of no values."""
    count = count_of(data, axis)
    total = np.asarray(data.astype(np.longdouble).sum(axis, keepdims=keepdims))
    return total / count if count else np.full(total.shape, np.nan, np.longdouble)


def mean_square_of(data: Array, axis: tuple[int, ...], keepdims: bool) -> Array:
    return mean_of(data.astype(np.longdouble) ** 2, axis, keepdims)


def variance_of(inputs: list[Array], layout: str, ddof: int, **where: Any) -> Array:
    """The mean squared distance from the second input."""
    data, mean = inputs
    reduced = along(data, layout, **where)
    axis = reduced["axis"]
    kept = [1 if a in {r % data.ndim for r in axis} else n for a, n in enumerate(data.shape)]
    centre = mean.reshape(kept if mean.size > 1 or not kept else [1] * data.ndim)
    squares = (data.astype(np.longdouble) - centre) ** 2
    total = np.asarray(squares.sum(**reduced))
    with np.errstate(divide="ignore", invalid="ignore"):
        return total / max(count_of(data, axis) - ddof, 0)


def rounded(exact: Array, data: Array, dtype: str | None = None) -> Array:
    """In the dtype that is asked for, or that of means of such data."""
    own = "float64" if data.dtype == np.float64 else "float32"
    return to_dtype(exact.astype(np.float64), dtype or own)


def tensors(rng: np.random.Generator) -> Calls:
    """Tensors and axes to reduce."""
    for dtype in ("uint8", "float32"):
        image = numbers(rng, (9, 70, 3), dtype)
        for axes in ([], [0], [1], [2], [0, 1], [0, 2], [1, 2], [2, 0, 1], [-1]):
            yield [image], "HWC", {"axes": axes}
        yield [image], "HWC", {"keep_dims": True}
        yield [image], "HWC", {"axis_names": "WC", "keep_dims": True}
        yield [numbers(rng, (8195,), dtype)], "", {}
        yield [numbers(rng, (0, 3), dtype)], "", {"axes": [0]}
        yield [numbers(rng, (0, 3), dtype)], "", {"axes": [1]}
    for dtype in ("int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "bool"):
        yield [numbers(rng, (7, 90), dtype)], "", {"axes": [0]}
    for dtype in ("float16", "float64"):
        yield [numbers(rng, (7, 90), dtype)], "", {"axes": [1]}
    yield [numbers(rng, (3, 4, 5, 2), "uint8")], "FHWC", {"axis_names": "FC"}


def squares(rng: np.random.Generator) -> Calls:
    """Those, and one whose squares are asked for as whole numbers."""
    for (data,), layout, arguments in tensors(rng):
        yield [data], layout, arguments
        if data.dtype == "int16":
            yield [data], layout, {**arguments, "dtype": "int32"}


def spreads(rng: np.random.Generator) -> Calls:
    """Those with their means, and with one number for all."""
    for (data,), layout, arguments in tensors(rng):
        if data.size == 0:
            continue
        axis = along(data, layout, **arguments)["axis"]
        mean = np.asarray(mean_of(data, axis, False), np.float32)
        yield [data, mean], layout, arguments
        yield [data, np.float32(3.5)], layout, {**arguments, "ddof": 1}
        kept = np.asarray(mean_of(data, axis, True), np.float32)
        yield [data, kept], layout, {**arguments, "ddof": 2}
    yield [np.zeros((0, 3), np.uint8), np.zeros(3, np.float32)], "", {"axes": [0]}


def refused_spreads() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    data = np.zeros((2, 3), np.float32)
    for mean in (np.zeros(2, np.float32), np.zeros((3, 1), np.float32)):
        yield [data, mean], "", {"axes": [0]}, "expected one number or (3,)"
