# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""erase, by NumPy's slices, with positions as exact fractions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import trunc
from typing import Any

import numpy as np

from .common import Array, numbers, shortest, to_dtype


def fraction(value: float, extent: int | None) -> Fraction:
    """A position; a share of an extent is the nearest fraction of whole elements or of 10."""
    if extent is None:
        return Fraction(str(shortest(value)))
    places = 10 * max(extent, 1)
    return Fraction(round(value * places), places) * extent


def expected(
    inputs: list[Array],
    layout: str,
    anchor: Sequence[float] = (),
    shape: Sequence[float] = (),
    axes: Sequence[int] | None = None,
    axis_names: str | None = None,
    fill_value: Sequence[float] = (0.0,),
    centered_anchor: bool = False,
    normalized: bool = False,
    normalized_anchor: bool = False,
    normalized_shape: bool = False,
) -> Array:
    out = inputs[0].copy()
    if axis_names is None and axes is None and {"H", "W"} <= set(layout):
        axis_names = "HW"
    chosen = list(axes or (1, 0)) if axis_names is None else [layout.index(c) for c in axis_names]
    fill = to_dtype(np.asarray(fill_value, np.float32), str(out.dtype))
    if fill.size > 1:
        fill = fill.reshape([-1 if c == "C" else 1 for c in layout])
    filled = np.broadcast_to(fill, out.shape)
    sizes = np.reshape(shape, [-1, len(chosen)]).tolist()
    starts = np.reshape(anchor, [-1, len(chosen)]).tolist() or np.zeros_like(sizes).tolist()
    for start, size in zip(starts, sizes, strict=True):
        box = [slice(None)] * out.ndim
        for axis, a, s in zip(chosen, start, size, strict=True):
            begin = fraction(a, out.shape[axis] if normalized or normalized_anchor else None)
            length = fraction(s, out.shape[axis] if normalized or normalized_shape else None)
            if centered_anchor:
                begin -= length / 2
            box[axis] = slice(max(trunc(begin), 0), max(trunc(begin + length), 0))
        out[tuple(box)] = filled[tuple(box)]
    return out


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    image = numbers(rng, (10, 20, 3), "uint8")
    yield [image], "HWC", {"anchor": [2.0, 3.0], "shape": [5.0, 6.0]}
    yield [image], "HWC", {"anchor": [2.9, 3.9], "shape": [5.2, 6.05], "fill_value": [1.5]}
    yield [image], "HWC", {"shape": [4.0, 5.0], "fill_value": [300.0, -1.0, 7.5]}
    share = {"anchor": [0.1, 0.3], "shape": [0.7, 0.6], "axes": [1, 0]}
    yield [image], "HWC", {**share, "normalized": True}
    yield [image], "HWC", {**share, "normalized": True, "centered_anchor": True}
    for begin in range(0, 60, 7):
        whole = {"anchor": [begin / 60], "shape": [(60 - begin) / 60], "axes": [0]}
        yield [numbers(rng, (60, 3), "uint8")], "", {**whole, "normalized": True}
        yield [numbers(rng, (60, 3), "uint8")], "", {**whole, "normalized_shape": True}
    yield [image], "HWC", {**share, "normalized_shape": True, "axis_names": "WH"}
    yield [image], "HWC", {**share, "normalized_anchor": True, "axes": [-2, 0]}
    two = {"anchor": [-3.0, 1.0, 6.0, 15.0], "shape": [5.0, 4.0, 100.0, 3.5]}
    yield [image], "HWC", {**two, "fill_value": [1.0, 2.0, 3.0]}
    yield [image], "HWC", {"anchor": [1.0], "shape": [1.0], "axis_names": "C"}
    only = {"anchor": [1.0, 2.0], "shape": [2.0, 5.0], "fill_value": [1.0, 2.0, 3.0]}
    yield [image], "HWC", {**only, "axis_names": "CW"}
    yield [image], "HWC", {"anchor": [5.0, 5.0], "shape": [0.0, 9.0]}
    yield [image], "HWC", {"anchor": [50.0, 5.0], "shape": [9.0, 9.0]}
    planes = numbers(rng, (3, 6, 7), "float16")
    yield [planes], "CHW", {**only, "shape": [2.0, 3.0]}
    frames = numbers(rng, (3, 6, 7, 2), "int32")
    yield [frames], "FHWC", {"shape": [2.0, 3.0], "fill_value": [5e9, -5.0]}
    yield [frames], "FHWC", {"anchor": [1.0], "shape": [1.0], "axis_names": "F"}
    for dtype in ("bool", "int8", "uint64", "float64"):
        cube = numbers(rng, (5, 1, 9, 4), dtype)
        yield (
            [cube],
            "CDHW",
            {"anchor": [0.0, 1.0, 2.0], "shape": [1.0, 6.0, 1.0], "axes": [1, 2, 3]},
        )
        yield [cube], "CDHW", {"shape": [3.0], "axes": [0], "fill_value": [1.0, 0.0, 3.0, 4.0, 0.5]}
    yield [numbers(rng, (0, 4, 3), "uint8")], "HWC", {"shape": [2.0, 2.0]}
    yield [numbers(rng, (1, 1, 1), "uint8")], "HWC", {"shape": [2.0, 2.0], "fill_value": [9.0]}
    yield (
        [numbers(rng, (30,), "int64")],
        "",
        {"axes": [0], "anchor": [3.0, 9.0], "shape": [2.0, 1.0]},
    )
