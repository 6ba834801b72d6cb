# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""crop, by NumPy's slices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, crop_window, numbers, window


def expected(
    inputs: list[Array],
    layout: str,
    out_of_bounds_policy: str = "error",
    fill_values: Any = (0.0,),
    dtype: str | None = None,
    **crop: Any,
) -> Array:
    (data,) = inputs
    begin, end = crop_window(data.shape, layout, **crop)
    channel = layout.find("C")
    return window(data, begin, end, out_of_bounds_policy, fill_values, dtype, channel)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for layout, shape, dtype in (
        ("HWC", (17, 23, 3), "uint8"),
        ("CHW", (2, 9, 31), "float32"),
        ("HW", (11, 6), "int16"),
        ("FHWC", (4, 7, 9, 1), "uint16"),
        ("CFHW", (3, 3, 8, 5), "float16"),
        ("DHWC", (5, 6, 7, 2), "int32"),
    ):
        data = numbers(rng, shape, dtype)
        x, y, z = (float(v) for v in rng.uniform(0, 1, 3).round(3))
        place = {"crop_pos_x": x, "crop_pos_y": y}
        yield [data], layout, {"crop": [5, 4], **place}
        yield [data], layout, {"crop_h": 3.7, "crop_w": 5.0, "rounding": "truncate", **place}
        yield [data], layout, {"crop": [0, 3], "dtype": "float32", **place}
        outside = {"crop": [20, 40], **place}
        yield [data], layout, {**outside, "out_of_bounds_policy": "pad", "fill_values": [7.0]}
        yield [data], layout, {**outside, "out_of_bounds_policy": "trim_to_shape"}
        if len(shape) == 4:
            yield [data], layout, {"crop": [2, 3, 4], "crop_pos_z": z, **place}
            deep = {"crop_d": 1.0, "crop_h": 2.0, "crop_w": 2.0, "crop_pos_z": z}
            yield [data], layout, deep
        else:
            yield [data], layout, {"crop_d": 2.0, "crop_h": 3.0, "crop_w": 4.0, **place}
    data = numbers(rng, (3, 4, 3), "uint8")
    pad = {"out_of_bounds_policy": "pad", "fill_values": [1.0, 2.0, 300.0]}
    yield [data], "HWC", {"crop": [5, 7], **pad}
    yield [data], "HWC", {"crop": [5, 7], "dtype": "float32", **pad}
