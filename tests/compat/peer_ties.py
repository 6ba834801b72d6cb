# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Which outputs of a resize to the nearest pixel lie exactly between two pixels.

Both libraries take the pixel that holds the centre of an output. Where the centre is the border of
two pixels, the roundings of the arithmetic decide, which differ.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def ties(call: dict[str, Any], extents: list[int], sizes: list[int]) -> list[Array]:
    """For each spatial axis, which outputs are ties."""
    return [np.array([c.denominator == 1 for c in axis]) for axis in centres(call, extents, sizes)]


def centres(call: dict[str, Any], extents: list[int], sizes: list[int]) -> list[list[Fraction]]:
    """For each spatial axis, where the centres of outputs are in the input, without rounding."""
    scales = _scales(call, extents)
    found = []
    for axis, (extent, size) in enumerate(zip(extents, sizes, strict=True)):
        low, high = (_end(call, name, axis, default) for name, default in _ends(extent))
        scale = scales[axis] or Fraction(size) / (high - low)
        middle = (low + high) / 2
        found.append([middle + (o + Fraction(1 - size, 2)) / scale for o in range(size)])
    return found


def _ends(extent: int) -> list[tuple[str, Fraction]]:
    return [("roi_start", Fraction(0)), ("roi_end", Fraction(extent))]


def _end(call: dict[str, Any], name: str, axis: int, default: Fraction) -> Fraction:
    return Fraction(call[name][axis]) if name in call else default


def _scales(call: dict[str, Any], extents: list[int]) -> list[Fraction | None]:
    """The scale of each axis, or None where it is that of the sizes."""
    if "resize_shorter" in call:
        return [Fraction(call["resize_shorter"]) / min(extents)] * len(extents)
    each = [Fraction(s) / e for s, e in zip(call["size"], extents, strict=True)]
    picks = {"not_smaller": max, "not_larger": min}
    mode = call.get("mode", "default")
    return [picks[mode](each)] * len(extents) if mode in picks else [None] * len(extents)


def tied(call: dict[str, Any], layout: str, extents: Any, shape: tuple[int, ...]) -> Array:
    """Which values of an output lie between two pixels along some axis."""
    found = np.zeros(shape, bool)
    if call.get("interp_type") != "INTERP_NN" or any("crop" in name for name in call):
        return found
    spatial = [layout.index(c) for c in "DHW" if c in layout]
    every = ties(call, [extents[a] for a in spatial], [shape[a] for a in spatial])
    for axis, at in zip(spatial, every, strict=True):
        found[(slice(None),) * axis + (at,)] = True
    return found
