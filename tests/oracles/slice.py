# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""slice, by NumPy's slices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .common import Array, half_away, numbers, shortest, window


def _wide(values: Any) -> list[float]:
    return [shortest(v) for v in np.asarray(values).reshape(-1)]


def _positional(
    anchor: Array, shape: Array, extents: Sequence[int], anchor_share: bool, shape_share: bool
) -> list[tuple[float, float]]:
    anchor_share = anchor_share and anchor.dtype.kind == "f"
    shape_share = shape_share and shape.dtype.kind == "f"
    starts, sizes = (_wide(v) if v.dtype == np.float32 else v.tolist() for v in (anchor, shape))
    spans = []
    for a, s, n in zip(starts, sizes, extents, strict=True):
        begin = a * n if anchor_share else a
        size = s * n if shape_share else s
        both = anchor_share and shape_share
        spans.append((begin, (a + s) * n if both else begin + size))
    return spans


def expected(
    inputs: list[Array],
    layout: str,
    axes: Sequence[int] | None = None,
    axis_names: str | None = None,
    start: Any = None,
    rel_start: Any = None,
    end: Any = None,
    rel_end: Any = None,
    shape: Any = None,
    rel_shape: Any = None,
    normalized_anchor: bool = True,
    normalized_shape: bool = True,
    out_of_bounds_policy: str = "error",
    fill_values: Any = (0.0,),
    dtype: str | None = None,
) -> Array:
    data = inputs[0]
    if axis_names is None and axes is None and "W" in layout and "H" in layout:
        axis_names = "WH"
    if axis_names == "" or (axis_names is None and axes is not None and len(axes) == 0):
        axes = range(data.ndim)
    sliced = [layout.index(c) for c in axis_names] if axis_names else list(axes or (1, 0))
    sliced = [a % data.ndim for a in sliced]
    start, rel_start, end, rel_end, shape, rel_shape = (
        None if v is None or np.size(v) == 0 else np.broadcast_to(v, len(sliced)).tolist()
        for v in (start, rel_start, end, rel_end, shape, rel_shape)
    )
    extents = [data.shape[a] for a in sliced]
    if len(inputs) == 3:
        spans = _positional(inputs[1], inputs[2], extents, normalized_anchor, normalized_shape)
    else:
        spans = []
        for i, n in enumerate(extents):
            begin = 0.0
            if start is not None:
                begin = float(start[i])
            elif rel_start is not None:
                begin = _wide(rel_start)[i] * n
            stop = float(n)
            if end is not None:
                stop = float(end[i])
            elif rel_end is not None:
                stop = _wide(rel_end)[i] * n
            elif shape is not None:
                stop = begin + shape[i]
            elif rel_shape is not None and rel_start is not None:
                stop = (_wide(rel_start)[i] + _wide(rel_shape)[i]) * n
            elif rel_shape is not None:
                stop = begin + _wide(rel_shape)[i] * n
            spans.append((begin, stop))
    begins, ends = [0] * data.ndim, list(data.shape)
    for axis, (b, e) in zip(sliced, spans, strict=True):
        begins[axis], ends[axis] = half_away(b), half_away(e)
    channel = layout.find("C")
    return window(data, begins, ends, out_of_bounds_policy, fill_values, dtype, channel)


def generate(
    rng: np.random.Generator,
) -> Iterator[tuple[list[Array], str | list[str], dict[str, Any]]]:
    image = numbers(rng, (13, 17, 3), "uint8")
    yield [image], "HWC", {"start": [2, 3], "shape": [5, 6]}
    yield [image], "HWC", {"rel_start": [0.1, 0.25], "rel_end": [0.77, 1.0]}
    yield [image], "HWC", {"start": [4, 1], "rel_shape": [0.31, 0.5], "dtype": "float32"}
    yield [image], "HWC", {"rel_start": [0.15, 0.5], "rel_shape": [0.35, 0.5]}
    row = numbers(rng, (10,), "int16")  # 0.35 of it is a half, which the float 0.35 is just below
    yield [row], "", {"axes": [0], "rel_start": [0.35]}
    yield [row, np.array([0.35], np.float32), np.array([0.3], np.float32)], "", {"axes": [0]}
    yield [image], "HWC", {"end": [9, 4], "axis_names": "HW"}
    yield [image], "HWC", {"axes": [-1], "start": [1]}
    yield [image], "HWC", {"start": [3], "rel_shape": [0.4]}
    yield [image], "HWC", {"start": [1], "shape": [2, 5]}
    yield [image], "HWC", {"axes": [], "start": [0, 1, 1], "end": [2]}
    yield [image], "HWC", {"axis_names": "", "rel_end": [0.5]}
    yield [image], "HWC", {"start": [], "shape": []}
    yield [image], "HWC", {"start": [2, 1], "rel_end": []}
    yield [image], "HWC", {"rel_start": [], "rel_shape": [0.5]}
    outside = {"start": [-3, 8], "end": [5, 20]}
    pad = {"out_of_bounds_policy": "pad", "fill_values": [1.0, 2.0, 3.0]}
    yield [image], "HWC", {**outside, **pad}
    yield [image], "HWC", {**outside, "out_of_bounds_policy": "trim_to_shape"}
    anchor, size = np.array([0.1, 0.2], np.float32), np.array([0.9, 0.55], np.float32)
    yield [image, anchor, size], "HWC", {}
    yield [image, np.array([2.5, 1.0], np.float32), size / 2], "HWC", {"normalized_anchor": False}
    whole = np.array([3, 4], np.int32)
    yield [image, whole, whole], "HWC", {}
    yield [image, anchor, np.array([3.0, 4.4], np.float32)], "HWC", {"normalized_shape": False}
    frames = numbers(rng, (6, 4, 5, 1), "float32")
    yield [frames], "FHWC", {"axis_names": "F", "start": [1], "end": [4]}
    yield [frames], "FHWC", {"start": [1, 1], "shape": [2, 2]}
    yield [numbers(rng, (20,), "int64")], "", {"axes": [0], "start": [7], "shape": [6]}
    yield [numbers(rng, (4, 9), "float16")], "", {"rel_start": [0.5, 0.5]}
