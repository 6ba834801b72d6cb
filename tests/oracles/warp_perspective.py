# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""warp_perspective, by NumPy's matrices and SciPy's map_coordinates, in double precision.

OpenCV must agree as far as its places, which are multiples of 1/32, allow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import cv2
import numpy as np

from .common import Array, Tolerance, half_away, numbers, to_dtype
from .rotate import sampled

# uint8 is in fixed point; places are multiples of 2^-32.
TOLERANCE = Tolerance(levels=1, share=1e-6)

HALF = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])


def compare_with_opencv(
    plane: Array, made: Array, matrix: Array, linear: bool, fill: float | None
) -> None:
    """`matrix` counts from the centres of pixels."""
    flags = cv2.WARP_INVERSE_MAP | (cv2.INTER_LINEAR if linear else cv2.INTER_NEAREST)
    border = cv2.BORDER_REPLICATE if fill is None else cv2.BORDER_CONSTANT
    theirs = cv2.warpPerspective(
        plane, matrix, made.shape[::-1], flags=flags, borderMode=border, borderValue=fill or 0.0
    )
    apart = np.abs(made - theirs)
    assert np.mean(apart) <= 0.02 * max(np.ptp(plane), 1), np.mean(apart)


def expected(
    inputs: list[Array],
    layout: str,
    matrix: Any = (),
    inverse_map: bool = True,
    pixel_origin: str = "corner",
    border_mode: str = "constant",
    fill_value: Sequence[float] = (),
    interp_type: str = "INTERP_LINEAR",
    size: Sequence[float] = (),
) -> Array:
    data, linear = inputs[0], interp_type == "INTERP_LINEAR"
    axes = [layout.index(c) for c in "HW"]
    given = np.asarray(inputs[1] if len(inputs) > 1 else matrix, np.float32)
    square = given.reshape(3, 3).astype(float)
    if not inverse_map:
        square = np.linalg.inv(square)
    centred = square if pixel_origin == "center" else np.linalg.inv(HALF) @ square @ HALF
    out = [half_away(s) for s in size] or [data.shape[a] for a in axes]
    y, x = np.indices(out)
    points = np.tensordot(centred, np.stack([x, y, np.ones_like(x)]), 1)
    places = points[1::-1] / points[2]
    fill = None
    if border_mode == "constant":
        fill = float(to_dtype(np.float32([*fill_value, 0.0][:1]), str(data.dtype))[0])
    planes = np.moveaxis(data, axes, (-2, -1)).astype(np.float64)
    made = np.empty([*planes.shape[:-2], *out])
    for index in np.ndindex(planes.shape[:-2]):
        made[index] = sampled(planes[index], places, linear, fill)
        if data.dtype == np.uint8 and linear:
            compare_with_opencv(planes[index], made[index], centred, linear, fill)
    return to_dtype(np.moveaxis(made, (-2, -1), axes), str(data.dtype))


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], Any, dict[str, Any]]]:
    picture, frames = numbers(rng, (41, 57, 3), "uint8"), numbers(rng, (3, 12, 17, 2), "uint8")
    tilted = [1.1, 0.2, -4.0, -0.1, 0.9, 3.0, 0.003, 0.002, 0.9]
    steep = [0.8, -0.6, 12.0, 0.6, 0.8, -9.5, -0.004, 0.011, 1.0]
    behind = [1.0, 0.3, 2.0, 0.1, 1.2, -3.0, 0.031, 0.007, -0.93]  # the horizon is in the picture
    scaled = [2.0, 0.1, 1.0, 0.0, 3.0, 4.0, 0.0, 0.0, 2.0]  # no perspective
    for matrix in (tilted, steep, scaled):
        yield [frames], "FHWC", {"matrix": matrix}
        for more in ({}, {"fill_value": [42.0]}, {"inverse_map": False}, {"border_mode": "clamp"}):
            yield [picture], "HWC", {"matrix": matrix, **more}
            yield [picture], "HWC", {"matrix": matrix, **more, "pixel_origin": "center"}
        nearest = {"matrix": matrix, "interp_type": "INTERP_NN"}
        yield [picture], "HWC", nearest
        yield [picture], "HWC", {**nearest, "fill_value": [7.0], "size": [30.4, 80.5]}
        yield [picture], "HWC", {**nearest, "border_mode": "replicate", "size": [300.0, 20.0]}
    yield [numbers(rng, (41, 57), "float32")], "HW", {"matrix": behind, "fill_value": [1.0]}
    yield [numbers(rng, (41, 57), "int16")], "HW", {"matrix": behind, "interp_type": "INTERP_NN"}
    for dtype in ("uint8", "int16", "float32", "float16", "int32", "float64", "bool"):
        yield [numbers(rng, (24, 31), dtype)], "HW", {"matrix": tilted, "fill_value": [3.0]}
        yield [numbers(rng, (3, 24, 31), dtype)], "CHW", {"matrix": steep, "border_mode": "clamp"}
    given = np.array([tilted], np.float32)
    yield [picture, given.reshape(3, 3)], ["HWC", ""], {"fill_value": [0.0]}
    yield [frames, given.astype(np.float64)], ["FHWC", ""], {"inverse_map": False}
