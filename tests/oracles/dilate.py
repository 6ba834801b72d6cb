# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""dilate, by OpenCV, and by NumPy's padding where OpenCV lacks the type or the border."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cv2
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from .common import Array, numbers

ALSO = {"clamp": "replicate", "reflect_1001": "reflect", "101": "reflect_101"}
PADS = {
    "replicate": "edge",
    "reflect": "symmetric",
    "reflect_101": "reflect",
    "wrap": "wrap",
    "constant": "constant",
}
OF_OPENCV = ("uint8", "uint16", "int16", "float32", "float64")


def expected(inputs: list[Array], layout: str, **arguments: Any) -> Array:
    return morphed(inputs[0], layout, True, **arguments)


def morphed(
    data: Array,
    layout: str,
    largest: bool,
    mask_size: Any = (3, 3),
    anchor: Any = (-1, -1),
    iterations: int = 1,
    border_mode: str = "constant",
) -> Array:
    if data.size == 0:
        return data
    border_mode = ALSO.get(border_mode, border_mode)
    size = np.broadcast_to(mask_size, 2)
    place = np.where(np.broadcast_to(anchor, 2) < 0, size // 2, anchor)
    axes = [layout.index("H"), layout.index("W")]
    planes = np.moveaxis(data, axes, (-2, -1))
    made = np.empty_like(planes)
    for index in np.ndindex(planes.shape[:-2]):
        plane = np.ascontiguousarray(planes[index])
        if data.dtype.name in OF_OPENCV and border_mode != "wrap":
            mode = getattr(cv2, f"BORDER_{border_mode.upper()}")
            mask = np.ones(size[::-1].tolist(), np.uint8)
            function = cv2.dilate if largest else cv2.erode
            made[index] = function(
                plane, mask, anchor=place.tolist(), iterations=iterations, borderType=mode
            )
        else:
            made[index] = padded(plane, size, place, iterations, border_mode, largest)
    return np.moveaxis(made, (-2, -1), axes)


def padded(
    plane: Array, size: Array, place: Array, iterations: int, border: str, largest: bool
) -> Array:
    """All iterations at once, as OpenCV has it."""
    before, behind = place[::-1] * iterations, (size - 1 - place)[::-1] * iterations
    fill: dict[str, Any] = {}
    if border == "constant":
        if plane.dtype.kind == "f":
            fill = {"constant_values": -np.inf if largest else np.inf}
        elif plane.dtype.kind == "b":
            fill = {"constant_values": not largest}
        else:
            limits = np.iinfo(plane.dtype)
            fill = {"constant_values": limits.min if largest else limits.max}
    whole = np.pad(plane, list(zip(before, behind, strict=True)), PADS[border], **fill)
    windows = sliding_window_view(whole, (before + behind + 1).tolist())
    return np.asarray(windows.max((-2, -1)) if largest else windows.min((-2, -1)))


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    image = numbers(rng, (13, 47, 3), "uint8")
    for size in (1, 2, 3, 5, [7, 1], [1, 4], [9, 12], 16):
        yield [image], "HWC", {"mask_size": size}
        for border in ("replicate", "reflect", "reflect_101", "wrap", *ALSO):
            yield [image], "HWC", {"mask_size": size, "border_mode": border}
    for anchor in ([0, 0], [2, 1], [-1, 3]):
        for border in PADS:
            off = {"mask_size": [3, 4], "anchor": anchor, "border_mode": border}
            yield [image], "HWC", off
            yield [image], "HWC", {**off, "iterations": 3}
    yield [image], "HWC", {"iterations": 0}
    yield [image], "HWC", {"mask_size": 30, "iterations": 4}
    yield [image], "HWC", {"mask_size": 30, "border_mode": "wrap"}
    for dtype in (
        *("float32", "float16", "int8", "uint16", "int16", "int32", "uint32", "float64", "bool"),
        *("int64", "uint64"),
    ):
        yield [numbers(rng, (2, 9, 18), dtype)], "CHW", {}
        yield [numbers(rng, (9, 18), dtype)], "HW", {"mask_size": [3, 4], "border_mode": "reflect"}
    yield [numbers(rng, (3, 1500), "uint8")], "HW", {"mask_size": [5, 3]}
    yield [numbers(rng, (3, 9, 11, 2), "uint8")], "FHWC", {}
    yield [numbers(rng, (3, 9, 11), "float32")], "FHW", {"anchor": 0}
    yield [numbers(rng, (3, 9, 11), "float32")], "FHW", {"anchor": [1, 2], "mask_size": 3}
    yield [numbers(rng, (3, 9, 11), "float32")], "FHW", {"anchor": 2, "mask_size": [4, 3]}
    yield [numbers(rng, (0, 5, 3), "uint8")], "HWC", {}
    yield [numbers(rng, (1, 1, 1), "uint8")], "HWC", {"mask_size": 5, "border_mode": "reflect_101"}
