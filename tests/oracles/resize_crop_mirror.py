# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""resize_crop_mirror: the oracles of resize and crop, one after the other, and NumPy's flip."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import crop, resize
from .common import Array, numbers

TOLERANCE = resize.TOLERANCE
CROPPING = {"crop", "crop_d", "crop_h", "crop_w", "crop_pos_x", "crop_pos_y", "crop_pos_z"}
CROPPING |= {"rounding"}


def expected(inputs: list[Array], layout: str, mirror: int = 0, **arguments: Any) -> Array:
    cropping = {k: v for k, v in arguments.items() if k in CROPPING}
    resizing = {k: v for k, v in arguments.items() if k not in CROPPING}
    resized = resize.expected(inputs, layout, **resizing)
    cut = crop.expected([np.asarray(resized)], layout, **cropping)
    turned = [
        layout.index(letter)
        for bit, letter in enumerate("WHD")
        if mirror >> bit & 1 and letter in layout
    ]
    return np.ascontiguousarray(np.flip(cut, turned))


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    sizes: list[dict[str, Any]] = [
        {"size": [20, 30]},
        {"resize_shorter": 25.0, "interp_type": "INTERP_CUBIC"},
        {"resize_x": 40.0, "resize_y": 12.0, "dtype": "float32"},
        {"resize_longer": 31.0, "antialias": False},
        {"size": [11, 40], "interp_type": "INTERP_CUBIC", "border": "clamp"},
        {"size": [16, 16], "mode": "not_smaller", "interp_type": "INTERP_NN"},
    ]
    for layout, shape, dtype in (
        ("HWC", (15, 27, 3), "uint8"),
        ("CHW", (2, 31, 19), "float32"),
        ("FHWC", (2, 25, 14, 1), "int16"),
    ):
        data = numbers(rng, shape, dtype)
        if dtype == "uint8":  # cubic filters overshoot less, and Pillow rounds between the axes
            data = data // 4 + 96
        for size in sizes:
            yield [data], layout, size
            yield [data], layout, {**size, "crop": [10, 8], "mirror": 1}
        yield [data], layout, {"size": [20, 30], "crop_h": 7.0, "crop_w": 30.0, "crop_pos_y": 0.9}
        for mirror in (1, 2, 3):
            window = {"crop": [8, 9], "crop_pos_x": 0.1}
            yield [data], layout, {"size": [20, 30], **window, "mirror": mirror}
    region = {"roi_start": [2.0, 3.0], "roi_end": [12.0, 20.5], "size": [10, 12]}
    yield [numbers(rng, (15, 27), "float32")], "HW", {**region, "crop": [6, 5], "mirror": 1}
    volume = numbers(rng, (6, 9, 8, 2), "float32")
    yield [volume], "DHWC", {"resize_z": 9.0, "crop": [3, 5, 5], "crop_pos_z": 0.1}
    deep = {"crop_d": 3.0, "crop_h": 5.0, "crop_w": 4.0}
    for mirror in (1, 5, 6):
        yield [volume], "DHWC", {**deep, "crop_pos_z": 0.9, "mirror": mirror}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    data = np.zeros((5, 5), np.uint8)
    yield [data], "HW", {"size": [4, 4], "crop": [5, 5]}, "outside its extent of 4"
    yield [data], "HW", {"size": [4, 4], "crop_h": 2}, "'crop_h' and 'crop_w' go together"
