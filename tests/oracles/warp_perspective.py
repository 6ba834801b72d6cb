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
from scipy.ndimage import map_coordinates

from .common import Array, Tolerance, half_away, numbers, to_dtype
from .rotate import sampled

# uint8 is in fixed point; places are multiples of 2^-32.
TOLERANCE = Tolerance(levels=1, share=1e-6)

HALF = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])


# The borders by other names, what SciPy calls them, and OpenCV.
ALSO = {"replicate": "clamp", "reflect": "reflect_1001", "101": "reflect_101"}
OF_SCIPY = {"reflect_101": "mirror", "reflect_1001": "reflect", "wrap": "grid-wrap"}
OF_OPENCV = {
    "constant": cv2.BORDER_CONSTANT,
    "clamp": cv2.BORDER_REPLICATE,
    "reflect_101": cv2.BORDER_REFLECT_101,
    "reflect_1001": cv2.BORDER_REFLECT,
    "wrap": cv2.BORDER_WRAP,
}
FLAGS = {"INTERP_LINEAR": cv2.INTER_LINEAR, "INTERP_CUBIC": cv2.INTER_CUBIC}


def compare_with_opencv(
    plane: Array, made: Array, matrix: Array, places: Array, name: str, border: str, fill: float
) -> None:
    """`matrix` counts from the centres of pixels. More than a picture away OpenCV shows others."""
    flags = cv2.WARP_INVERSE_MAP | FLAGS[name]
    more = {"borderMode": OF_OPENCV[border], "borderValue": fill}
    theirs = cv2.warpPerspective(plane, matrix, made.shape[::-1], flags=flags, **more)
    apart = np.abs(np.clip(made, 0, 255) - np.clip(theirs, 0, 255))
    extents = np.reshape(plane.shape, (2, 1, 1))
    near = ((places > 2 - extents) & (places < 2 * extents - 3)).all(0)
    apart = apart[near] if border not in ("constant", "clamp") else apart
    if apart.size:
        assert np.mean(apart) <= 0.02 * max(np.ptp(plane), 1), np.mean(apart)


def shown(positions: Array, extent: int, border: str) -> Array:
    """The positions whose values positions outside show; -1 for the constant."""
    if border == "constant":
        return np.where((positions >= 0) & (positions < extent), positions, -1)
    if border == "clamp":
        return np.clip(positions, 0, extent - 1)
    if border == "wrap":
        return positions % extent
    once = 1 if border == "reflect_101" else 0  # the outermost value is there once
    period = max(2 * extent - 2 * once, 1)
    rest = positions % period
    return np.minimum(rest, period - 1 + once - rest)


def cubic(plane: Array, places: Array, border: str, fill: float) -> Array:
    """By OpenCV's cubic filter, whose a is -0.75."""
    a = -0.75
    places = np.round(places, 9)
    whole = np.floor(places).astype(np.int64)
    weights, at = [], []
    for axis in range(2):
        distance = np.abs(places[axis] - (whole[axis] + np.arange(-1, 3)[:, None, None]))
        near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
        far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
        weights.append(np.where(distance < 1, near, np.where(distance < 2, far, 0)))
        at.append([shown(whole[axis] + k, plane.shape[axis], border) for k in range(-1, 3)])
    made = np.zeros(places.shape[1:])
    for i in range(4):
        for j in range(4):
            is_there = (at[0][i] >= 0) & (at[1][j] >= 0)
            made += (
                weights[0][i] * weights[1][j] * np.where(is_there, plane[at[0][i], at[1][j]], fill)
            )
    return made


def interpolated(plane: Array, places: Array, name: str, border: str, fill: float) -> Array:
    """The values of a plane at places, which count from the centre of the first value."""
    places = np.clip(places, -(2.0**28), 2.0**28)
    if name == "INTERP_CUBIC":
        return cubic(plane, places, border, fill)
    is_linear = name == "INTERP_LINEAR"
    if border not in OF_SCIPY:
        return sampled(plane, places, is_linear, fill if border == "constant" else None)
    places = np.round(places, 7)
    if not is_linear:
        rows, columns = (
            shown(np.floor(p + 0.5).astype(np.int64), n, border)
            for p, n in zip(places, plane.shape, strict=True)
        )
        return plane[rows, columns]
    return map_coordinates(plane, places, order=1, mode=OF_SCIPY[border])


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
    data, border = inputs[0], ALSO.get(border_mode, border_mode)
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
    channels = data.shape[layout.index("C")] if "C" in layout else 1
    fills = np.broadcast_to(np.float32(fill_value if len(fill_value) else 0), channels)
    fills = to_dtype(fills, str(data.dtype)).astype(np.float64)
    planes = np.moveaxis(data, axes, (-2, -1)).astype(np.float64)
    made = np.empty([*planes.shape[:-2], *out])
    where = [c for c in layout if c not in "HW"].index("C") if "C" in layout else 0
    for index in np.ndindex(planes.shape[:-2]):
        how = (interp_type, border, float(fills[index[where] if channels > 1 else 0]))
        made[index] = interpolated(planes[index], places, *how)
        if data.dtype == np.uint8 and interp_type in FLAGS:
            compare_with_opencv(planes[index], made[index], centred, places, *how)
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
        many = {"matrix": matrix, "fill_value": [3.0, 250.0, 90.0]}
        for name in ("INTERP_NN", *FLAGS):
            yield [picture], "HWC", {**many, "interp_type": name}
            yield [numbers(rng, (3, 21, 18), "float32")], "CHW", {**many, "interp_type": name}
            for border in ("clamp", *OF_SCIPY):
                shown = {"matrix": matrix, "border_mode": border, "interp_type": name}
                yield [picture], "HWC", shown
                yield [numbers(rng, (21, 18), "float32")], "HW", {**shown, "size": [60, 50]}
        for border in ALSO:
            yield [picture], "HWC", {"matrix": matrix, "border_mode": border}
    far = [0.7, 0.3, -300.0, -0.2, 1.1, 500.0, 0.001, -0.002, 1.0]
    for border in OF_SCIPY:
        for name in FLAGS:
            yield [frames], "FHWC", {"matrix": far, "border_mode": border, "interp_type": name}
        yield [numbers(rng, (1, 9), "int16")], "HW", {"matrix": far, "border_mode": border}
    for dtype in ("float32", "int16", "float16", "int32", "float64"):
        sharp = {"matrix": tilted, "interp_type": "INTERP_CUBIC", "fill_value": [-3.5]}
        yield [numbers(rng, (24, 31), dtype)], "HW", sharp
    yield [numbers(rng, (41, 57), "float32")], "HW", {"matrix": behind, "fill_value": [1.0]}
    yield [numbers(rng, (41, 57), "int16")], "HW", {"matrix": behind, "interp_type": "INTERP_NN"}
    for dtype in ("uint8", "int16", "float32", "float16", "int32", "float64", "bool"):
        yield [numbers(rng, (24, 31), dtype)], "HW", {"matrix": tilted, "fill_value": [3.0]}
        yield [numbers(rng, (3, 24, 31), dtype)], "CHW", {"matrix": steep, "border_mode": "clamp"}
    given = np.array([tilted], np.float32)
    yield [picture, given.reshape(3, 3)], ["HWC", ""], {"fill_value": [0.0]}
    yield [frames, given.astype(np.float64)], ["FHWC", ""], {"inverse_map": False}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    picture, same = np.zeros((5, 4, 3), np.uint8), {"matrix": [1, 0, 0, 0, 1, 0, 0, 0, 1]}
    words = "argument 'fill_value' has 2 values, expected 1 or 3, one per channel or one for all"
    yield [picture], "HWC", {**same, "fill_value": [1.0, 2.0]}, words
    words = "expected 1, one per channel or one for all"
    yield [picture[..., 0]], "HW", {**same, "fill_value": [1.0, 2.0, 3.0]}, words
    for name in ("INTERP_LANCZOS3", "INTERP_GAUSSIAN"):
        words = "'interp_type' is INTERP_NN, INTERP_LINEAR or INTERP_CUBIC here"
        yield [picture], "HWC", {**same, "interp_type": name}, words
    words = "expects one of constant, clamp, reflect_101, reflect_1001, wrap, got 'mirror'"
    yield [picture], "HWC", {**same, "border_mode": "mirror"}, words
