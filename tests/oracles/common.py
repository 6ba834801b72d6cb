# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What several oracles need: converting values, and windows that reach outside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

DTYPES = [
    *["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"],
    *["float16", "float32", "float64", "bool"],
]


class Tolerance(NamedTuple):
    """How far an answer may be off.

    `levels` is for integers. `share`, of the largest value, is for floats and wide integers. The
    rounding of the dtype itself is always allowed.
    """

    levels: float = 0.0
    share: float = 0.0

    def of(self, right: Array) -> float:
        """The largest allowed difference from these values."""
        largest = float(np.max(np.abs(right.astype(np.float64)), initial=0))
        if right.dtype.kind == "f":
            return max(self.share, float(np.finfo(right.dtype).eps)) * largest
        return max(self.levels, self.share * largest)


def full(dtype: str) -> float:
    """The value of a pixel's full intensity: 1 for floats, else the largest value."""
    return 1.0 if np.dtype(dtype).kind == "f" else float(np.iinfo(dtype).max)


def to_dtype(values: Array, dtype: str | None) -> Array:
    """Rounds to the nearest, halves away from zero, and saturates. NaN becomes 0, and true."""
    if dtype is None or str(values.dtype) == dtype:
        return values
    if dtype == "bool":
        return ~(np.abs(values) < 0.5) if values.dtype.kind == "f" else values != 0
    if np.dtype(dtype).kind == "f":
        with np.errstate(over="ignore"):
            return values.astype(dtype)
    limits = np.iinfo(dtype)
    lowest, highest = int(limits.min), int(limits.max)
    flat = values.reshape(-1)
    if values.dtype.kind == "f":
        wide = flat.astype(np.float64)
        nearest = np.trunc(wide) + (np.abs(wide - np.trunc(wide)) >= 0.5) * np.sign(wide)
        flat = np.nan_to_num(nearest, posinf=np.inf, neginf=-np.inf)

    def whole(v: Any) -> int:
        return lowest if v <= lowest else highest if v >= highest else int(v)

    return np.array([whole(v) for v in flat.tolist()], dtype=dtype).reshape(values.shape)


def shortest(x: Any) -> float:
    """The decimal that prints shortest among those that are this number in float32."""
    return float(str(np.float32(x)))


def spatial_axes(layout: str, data: Array) -> list[int]:
    """The axes that are neither channels nor frames: all of what has no layout."""
    return [a for a in range(data.ndim) if not layout or layout[a] not in "CF"]


def refused_layouts(
    arguments: dict[str, Any], *more: Array
) -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    """Inputs without axes in space, with too many or with others between them."""
    for layout, words in (
        ("C", "has 0 spatial axes, expected 1 to 3"),
        ("FC", "has 0 spatial axes, expected 1 to 3"),
        ("WXYZC", "has 4 spatial axes (WXYZ), expected 1 to 3"),
        ("FWXYZC", "has 4 spatial axes (WXYZ), expected 1 to 3"),
        ("HCW", "has the axes HCW, expected the spatial ones, HW, next to each other"),
        ("HWF", "has the axes F behind the spatial ones, expected none or C"),
        ("CFFHW", "has the axes CFF before the spatial ones, expected none, C or CF"),
        ("FFHW", "has the axes F before the spatial ones, expected none, C or CF"),
    ):
        yield [np.zeros([2] * len(layout), np.uint8), *more], layout, arguments, words
    for rank in (0, 4):
        words = f"has {rank} axes and no layout, expected 1 to 3, which are all spatial"
        yield [np.zeros([2] * rank, np.uint8), *more], "", arguments, words


def half_away(x: float) -> int:
    """Rounds to the nearest whole number, halves away from zero."""
    return floor(x + 0.5) if x >= 0 else -floor(-x + 0.5)


def window(
    data: Array,
    begin: Sequence[int],
    end: Sequence[int],
    policy: str = "error",
    fill: Sequence[float] = (0.0,),
    dtype: str | None = None,
    channel_axis: int = -1,
) -> Array:
    """data[begin:end], but the window may reach outside."""
    inside = [
        slice(min(max(b, 0), n), max(min(e, n), min(max(b, 0), n)))
        for b, e, n in zip(begin, end, data.shape, strict=True)
    ]
    core = to_dtype(data[tuple(inside)], dtype)
    if policy == "trim_to_shape":
        return core
    shape = [e - b for b, e in zip(begin, end, strict=True)]
    if core.shape == tuple(shape):
        return core
    assert policy == "pad"
    values = np.asarray(fill, np.float32)
    if values.size > 1:
        values = values.reshape([-1 if a == channel_axis else 1 for a in range(data.ndim)])
    out = np.broadcast_to(to_dtype(values, str(core.dtype)), shape).copy()
    place = tuple(
        slice(s.start - b, s.start - b + n)
        for s, b, n in zip(inside, begin, core.shape, strict=True)
    )
    out[place] = core
    return out


def crop_window(
    shape: Sequence[int],
    layout: str,
    crop: Sequence[float] | None = None,
    crop_d: float = 0,
    crop_h: float = 0,
    crop_w: float = 0,
    crop_pos_x: float = 0.5,
    crop_pos_y: float = 0.5,
    crop_pos_z: float = 0.5,
    rounding: str = "round",
) -> tuple[list[int], list[int]]:
    """The window's begin and end along every axis."""
    depth = "D" if "D" in layout else "F"
    sizes = {depth: crop_d, "H": crop_h, "W": crop_w}
    if crop is not None:
        letters = "HW" if len(crop) == 2 else depth + "HW"
        sizes = dict(zip(letters, crop, strict=True))
    positions = {depth: crop_pos_z, "H": crop_pos_y, "W": crop_pos_x}
    begin, end = [0] * len(shape), list(shape)
    for letter, size in sizes.items():
        if int(size) == 0 or letter not in layout:
            continue
        axis = layout.index(letter)
        start = shortest(positions[letter]) * (shape[axis] - int(size))
        begin[axis] = half_away(start) if rounding == "round" else int(start)
        end[axis] = begin[axis] + int(size)
    return begin, end


def numbers(rng: np.random.Generator, shape: Sequence[int], dtype: str) -> Array:
    """Random values over the type's range; floats lie within 1000."""
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if np.dtype(dtype).kind == "f":
        return rng.uniform(-1000, 1000, shape).astype(dtype)
    limits = np.iinfo(dtype)
    low, high = max(int(limits.min), -(2**31)), min(int(limits.max), 2**31 - 1)
    return rng.integers(low, high, shape, endpoint=True).astype(dtype)
