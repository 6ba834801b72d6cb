# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""warp_affine, by NumPy's matrices and SciPy's map_coordinates, in double precision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .common import Array, Tolerance, half_away, numbers, to_dtype
from .rotate import sampled

# uint8 is in fixed point; places are multiples of 2^-32.
TOLERANCE = Tolerance(levels=1, share=1e-6)


def expected(
    inputs: list[Array],
    layout: str,
    matrix: Any = (),
    inverse_map: bool = True,
    size: Sequence[float] = (),
    fill_value: float | None = None,
    interp_type: str = "INTERP_LINEAR",
    dtype: str | None = None,
) -> Array:
    data = inputs[0]
    axes = [a for a, c in enumerate(layout) if c in "DHW"]
    rank = len(axes)
    given = np.asarray(inputs[1] if len(inputs) > 1 else matrix, np.float32)
    square = np.vstack([given.reshape(rank, rank + 1), np.eye(rank + 1)[-1:]]).astype(float)
    if not inverse_map:
        square = np.linalg.inv(square)
    linear, offset = square[:rank, :rank][::-1, ::-1], square[:rank, rank][::-1]
    out = [half_away(s) for s in size] or [data.shape[a] for a in axes]
    places = np.tensordot(linear, np.indices(out) + 0.5, 1)
    places += offset.reshape([-1] + [1] * rank) - 0.5
    result = np.dtype(dtype or str(data.dtype))
    fill = None
    if fill_value is not None:
        fill = float(to_dtype(np.float32([fill_value]), str(result))[0])
    planes = np.moveaxis(data, axes, range(-rank, 0)).astype(np.float64)
    made = np.empty([*planes.shape[:-rank], *out])
    for index in np.ndindex(planes.shape[:-rank]):
        made[index] = sampled(planes[index], places, interp_type == "INTERP_LINEAR", fill)
    return to_dtype(np.moveaxis(made, range(-rank, 0), axes), str(result))


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], Any, dict[str, Any]]]:
    picture, frames = numbers(rng, (41, 57, 3), "uint8"), numbers(rng, (3, 12, 17, 2), "uint8")
    clip = numbers(rng, (2, 4, 6, 7, 1), "int16")
    turned = [0.8, -0.6, 12.0, 0.6, 0.8, -9.5]
    sheared = [1.0, 0.37, -3.3, -0.11, 0.9, 2.0]
    moved = [1.0, 0.0, -5.0, 0.0, 1.0, 7.0]
    for matrix in (turned, sheared, moved):
        yield [frames], "FHWC", {"matrix": matrix}
        for more in ({}, {"fill_value": 42.0}, {"inverse_map": False}):
            yield [picture], "HWC", {"matrix": matrix, **more}
        nearest = {"matrix": matrix, "interp_type": "INTERP_NN"}
        yield [picture], "HWC", nearest
        yield [picture], "HWC", {**nearest, "fill_value": 7.0, "size": [30.4, 80.5]}
    grown = [3.0, 0.0, 0.0, 0.0, 2.0, 0.0]
    yield [picture], "HWC", {"matrix": grown, "inverse_map": False, "size": [82.0, 171.0]}
    flat = [0.0, 0.0, 5.25, 0.0, 0.0, 8.5]  # has no inverse
    yield [picture], "HWC", {"matrix": flat, "dtype": "float32"}
    for dtype in ("uint8", "int16", "float32", "float16", "int32", "float64", "bool"):
        yield [numbers(rng, (24, 31), dtype)], "HW", {"matrix": sheared, "fill_value": 3.0}
        yield [numbers(rng, (3, 24, 31), dtype)], "CHW", {"matrix": turned, "dtype": "float32"}
    given = np.array([turned], np.float32)
    yield [picture, given.reshape(2, 3)], ["HWC", ""], {"fill_value": 0.0}
    yield [frames, given.astype(np.float64)], ["FHWC", ""], {"inverse_map": False}
    deep = [0.9, 0.2, 0.0, -0.5, -0.2, 0.9, 0.3, 1.0, 0.1, 0.0, 1.2, 0.25]
    shifted = [1.0, 0.0, 0.0, 2.0, 0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 1.0, 1.0]
    for matrix in (deep, shifted):
        yield [clip], "FDHWC", {"matrix": matrix}
        yield [numbers(rng, (7, 9, 8, 2), "uint8")], "DHWC", {"matrix": matrix}
        yield [numbers(rng, (2, 6, 5, 9), "float32")], "CDHW", {"matrix": matrix, "fill_value": 9.0}
        volume = {"matrix": matrix, "inverse_map": False, "size": [8.0, 7.0, 6.0]}
        yield [numbers(rng, (6, 5, 9), "uint16")], "DHW", volume
        yield [numbers(rng, (6, 5, 9), "int8")], "DHW", {**volume, "interp_type": "INTERP_NN"}
