# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""rotate, by SciPy's rotations and its map_coordinates, in double precision."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.ndimage import map_coordinates
from scipy.spatial.transform import Rotation

from .common import Array, Tolerance, half_away, numbers, to_dtype

# uint8 is in fixed point; places are multiples of 2^-32.
TOLERANCE = Tolerance(levels=1, share=1e-6)


def forward(rank: int, angle: float, axis: Sequence[float]) -> Array:
    """The matrix that takes a point of the input to one of the output; x comes last."""
    if rank == 2:
        axis = (0, 0, -1)
    unit = np.asarray(axis, np.float32).astype(float)
    turn = Rotation.from_rotvec(math.radians(np.float32(angle)) * unit / np.linalg.norm(unit))
    return turn.as_matrix()[::-1, ::-1][-rank:, -rank:]


def canvas(matrix: Array, shape: Sequence[int]) -> list[int]:
    """The size of the rotated input, with the parity of what contributes most to it."""
    shares = np.round(np.abs(matrix), 12)
    sizes = [math.ceil(s - 0.01) for s in shares @ np.asarray(shape)]
    for i, size in enumerate(sizes):
        most = max(range(len(shape)), key=lambda j: (shares[i, j], i == j))
        sizes[i] += (size - shape[most]) % 2
    return sizes


def sampled(plane: Array, places: Array, linear: bool, fill: float | None) -> Array:
    """The values of a plane at places, which count from the centre of the first value."""
    limits = [n - 1 for n in plane.shape]
    places = np.round(places, 7)
    if fill is None:
        clipped = [np.clip(p, 0, n) for p, n in zip(places, limits, strict=True)]
        if not linear:
            clipped = [np.floor(p + 0.5) for p in clipped]
        return map_coordinates(plane, clipped, order=1, mode="nearest")
    if not linear:
        whole = np.floor(places + 0.5)
        return map_coordinates(plane, whole, order=0, mode="constant", cval=fill)
    framed = np.pad(plane, 1, constant_values=fill)
    return map_coordinates(framed, places + 1, order=1, mode="constant", cval=fill)


def expected(
    inputs: list[Array],
    layout: str,
    angle: Any = 0.0,
    axis: Any = (),
    keep_size: bool = False,
    size: Sequence[float] = (),
    fill_value: float | None = None,
    interp_type: str = "INTERP_LINEAR",
    dtype: str | None = None,
) -> Array:
    data = inputs[0]
    axes = [a for a, c in enumerate(layout) if c in "DHW"]
    shape = [data.shape[a] for a in axes]
    matrix = forward(len(axes), angle, axis)
    out = [half_away(s) for s in size] or (shape if keep_size else canvas(matrix, shape))
    result = np.dtype(dtype or str(data.dtype))
    fill = None
    if fill_value is not None:
        fill = float(to_dtype(np.float32([fill_value]), str(result))[0])
    points = np.indices(out) + 0.5 - np.reshape(out, [-1] + [1] * len(out)) / 2
    places = np.tensordot(matrix.T, points, 1) + np.reshape(shape, [-1] + [1] * len(out)) / 2 - 0.5
    planes = np.moveaxis(data, axes, range(-len(axes), 0)).astype(np.float64)
    made = np.empty([*planes.shape[: -len(axes)], *out])
    for index in np.ndindex(planes.shape[: -len(axes)]):
        made[index] = sampled(planes[index], places, interp_type == "INTERP_LINEAR", fill)
    return to_dtype(np.moveaxis(made, range(-len(axes), 0), axes), str(result))


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    picture, frames = numbers(rng, (41, 57, 3), "uint8"), numbers(rng, (3, 12, 17, 2), "uint8")
    # The first calls on sequences: their frames have one size for every angle and axis.
    for angle in (20.0, 131.0, -7.5):
        yield [frames], "FHWC", {"angle": angle, "keep_size": True}
    clip = numbers(rng, (2, 4, 6, 7, 1), "int16")
    for axis in ([0.0, 0.0, 1.0], [1.0, 2.0, -0.5], [-3.0, 0.0, 1.0]):
        yield [clip], "FDHWC", {"angle": 33.0, "axis": axis, "keep_size": True}
    for angle in (0.0, 30.0, -45.0, 77.7, 90.0, 180.0, 270.0, 1000.0):
        yield [picture], "HWC", {"angle": angle}
        yield [picture], "HWC", {"angle": angle, "fill_value": 42.0}
    for angle in (10.0, 95.0):
        nearest = {"angle": angle, "interp_type": "INTERP_NN"}
        yield [picture], "HWC", nearest
        yield [picture], "HWC", {**nearest, "fill_value": 7.0, "keep_size": True}
        yield [picture], "HWC", {**nearest, "dtype": "int32", "fill_value": -1.0}
    yield [picture], "HWC", {"angle": 25.0, "size": [30.4, 80.5], "fill_value": 0.0}
    yield [picture], "HWC", {"angle": 25.0, "size": [30.4, 80.5], "dtype": "float32"}
    yield [picture], "HWC", {"angle": 25.0, "dtype": "float32", "fill_value": -0.5}
    for layout, shape in (("HW", (33, 20)), ("CHW", (3, 24, 31)), ("HWC", (19, 300, 1))):
        for dtype in ("uint8", "int16", "float32", "float16", "int32", "float64"):
            data = numbers(rng, shape, dtype)
            yield [data], layout, {"angle": 15.0, "keep_size": True}
            yield [data], layout, {"angle": -100.0, "fill_value": 3.0}
    yield [numbers(rng, (15, 16, 4), "uint8")], "HWC", {"angle": 62.0}
    yield [numbers(rng, (15, 16, 2), "uint8")], "HWC", {"angle": 62.0, "fill_value": 200.0}
    yield [numbers(rng, (15, 16, 7), "uint8")], "HWC", {"angle": 62.0, "fill_value": 200.0}
    yield [numbers(rng, (2, 1, 3), "uint8")], "HWC", {"angle": 50.0, "fill_value": 255.0}
    for axis in ([0.0, 0.0, 2.0], [1.0, 0.0, 0.0], [1.0, -2.0, 0.5]):
        turned = {"angle": 28.0, "axis": axis}
        yield [numbers(rng, (7, 9, 8, 2), "uint8")], "DHWC", turned
        yield [numbers(rng, (7, 9, 8, 2), "uint8")], "DHWC", {**turned, "fill_value": 9.0}
        yield [numbers(rng, (2, 6, 5, 9), "float32")], "CDHW", {**turned, "keep_size": True}
        yield [numbers(rng, (6, 5, 9), "uint16")], "DHW", {**turned, "size": [8.0, 7.0, 6.0]}
        nearest = {**turned, "interp_type": "INTERP_NN"}
        yield [numbers(rng, (6, 5, 9), "int8")], "DHW", {**nearest, "fill_value": 1.0}
