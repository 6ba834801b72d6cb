# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""crop_mirror_normalize, by NumPy in float32, one operation after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, crop_window, numbers, to_dtype, window


def expected(
    inputs: list[Array],
    layout: str,
    mean: Any = (0.0,),
    std: Any = (1.0,),
    scale: float = 1.0,
    shift: float = 0.0,
    mirror: int = 0,
    dtype: str = "float32",
    output_layout: str = "CHW",
    pad_output: bool = False,
    out_of_bounds_policy: str = "error",
    fill_values: Any = (0.0,),
    **crop: Any,
) -> Array:
    (data,) = inputs
    channel = layout.index("C")
    shape = [-1 if a == channel else 1 for a in range(data.ndim)]
    means = np.asarray(mean, np.float32).reshape(-1)
    factors = np.float32(scale) / np.asarray(std, np.float32).reshape(-1)
    values = data.astype(np.float32)
    values = values - (means.reshape(shape) if means.size > 1 else means[0])
    values = values * (factors.reshape(shape) if factors.size > 1 else factors[0])
    values = to_dtype(values + np.float32(shift), dtype)

    fills = np.asarray(fill_values, np.float32).reshape(-1)
    channels = data.shape[channel]
    begin, end = crop_window(data.shape, layout, **crop)
    own = fills if fills.size == 1 else fills[:channels]
    values = window(values, begin, end, out_of_bounds_policy, own, None, channel)
    if mirror:
        values = np.flip(values, layout.index("W"))

    if pad_output:
        extra = (1 << (channels - 1).bit_length()) - channels
        added = np.zeros(extra, np.float32)
        added[:] = fills if fills.size == 1 else np.resize([*fills[channels:], *added], extra)
        tail = np.moveaxis(np.zeros_like(np.take(values, [0] * extra, channel)), channel, -1)
        tail = tail + to_dtype(added, dtype)
        values = np.concatenate([values, np.moveaxis(tail, -1, channel)], channel)

    order = output_layout
    if "D" in layout and "D" not in order:
        order = order.replace("H", "DH")
    if "F" in layout and "F" not in order:
        order = "F" + order
    values = values.transpose([layout.index(c) for c in order])
    return np.ascontiguousarray(values.astype(dtype))


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    imagenet = {"mean": [123.675, 116.28, 103.53], "std": [58.395, 57.12, 57.375]}
    image = numbers(rng, (19, 25, 3), "uint8")
    for dtype in ("float32", "float16", "int8", "uint8"):
        for order in ("CHW", "HWC"):
            common = {**imagenet, "dtype": dtype, "output_layout": order, "crop": [11, 13]}
            yield [image], "HWC", {**common, "mirror": 1}
            yield [image], "HWC", {**common, "pad_output": True, "scale": 50.0, "shift": 3.0}
    yield [image], "HWC", {}
    yield [image], "HWC", {"crop_h": 7.0, "crop_w": 9.0, "crop_pos_x": 0.3, "crop_pos_y": 1.0}
    yield [image], "HWC", {"crop": [4, 6], "rounding": "truncate", "mean": [10.0], "std": [3.0]}
    pad = {"crop": [31, 20], "out_of_bounds_policy": "pad"}
    yield [image], "HWC", {**pad, **imagenet, "fill_values": [0.5], "mirror": 1}
    yield [image], "HWC", {**pad, "fill_values": [1.0, 2.0, 3.0, 4.0], "pad_output": True}
    yield [image], "HWC", {**pad, "fill_values": [1.0, 2.0, 3.0], "pad_output": True}
    yield [image], "HWC", {**pad, "out_of_bounds_policy": "trim_to_shape"}
    planes = numbers(rng, (2, 9, 8), "float32")
    yield [planes], "CHW", {"mean": [1.0, -2.0], "std": [300.0, 7.0], "mirror": 1}
    yield [planes], "CHW", {"output_layout": "HWC", "dtype": "int8", "scale": 0.1}
    frames = numbers(rng, (3, 9, 8, 3), "uint8")
    yield [frames], "FHWC", {**imagenet, "crop": [5, 5], "mirror": 1}
    yield [frames], "FHWC", {**imagenet, "output_layout": "FCHW"}
    volume = numbers(rng, (4, 6, 5, 1), "int16")
    deep = {"crop_d": 2.0, "crop_h": 3.0, "crop_w": 3.0, "crop_pos_z": 1.0}
    yield [volume], "DHWC", {**deep, "std": [1000.0]}
    yield [volume], "DHWC", {"output_layout": "DHWC", "crop": [1, 2, 3]}
    volumes = numbers(rng, (2, 4, 6, 5, 3), "uint8")
    yield [volumes], "FDHWC", {**deep, **imagenet, "output_layout": "FCDHW"}
    yield [image], "HWC", {"crop_d": 2.0, "crop_h": 3.0, "crop_w": 4.0}
