# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""color_space_conversion, by the matrices of BT.601 in double precision."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, Tolerance, full, to_dtype

TOLERANCE = Tolerance(levels=1, share=1e-3)

GRAY = np.array([0.299, 0.587, 0.114])


def to_rgb(pixels: Array, space: str) -> Array:
    """Pixels from 0 to 1, channels last."""
    if space == "BGR":
        return pixels[..., ::-1]
    if space == "GRAY":
        return np.repeat(pixels, 3, -1)
    if space == "RGB":
        return pixels
    y, cb, cr = np.moveaxis(pixels * 255, -1, 0)
    y, cb, cr = (y - 16) / 219, (cb - 128) / 224, (cr - 128) / 224
    red, blue = y + 2 * (1 - GRAY[0]) * cr, y + 2 * (1 - GRAY[2]) * cb
    green = (y - GRAY[0] * red - GRAY[2] * blue) / GRAY[1]
    return np.stack([red, green, blue], -1)


def from_rgb(pixels: Array, space: str) -> Array:
    if space == "BGR":
        return pixels[..., ::-1]
    if space == "RGB":
        return pixels
    gray = pixels @ GRAY
    if space == "GRAY":
        return gray[..., None]
    cb = (pixels[..., 2] - gray) / (2 * (1 - GRAY[2]))
    cr = (pixels[..., 0] - gray) / (2 * (1 - GRAY[0]))
    return np.stack([16 + 219 * gray, 128 + 224 * cb, 128 + 224 * cr], -1) / 255


def expected(
    inputs: list[Array], layout: str, image_type: str = "RGB", output_type: str = "RGB"
) -> Array:
    most = full(str(inputs[0].dtype))
    channels = layout.index("C")
    pixels = np.moveaxis(inputs[0].astype(np.float64), channels, -1) / most
    if output_type == "GRAY" and image_type == "YCbCr":
        made = (pixels[..., :1] * 255 - 16) / 219
    elif image_type == output_type:
        made = pixels
    else:
        made = from_rgb(to_rgb(pixels, image_type), output_type)
    values = np.ascontiguousarray(np.moveaxis(made, -1, channels)) * most
    return to_dtype(values, str(inputs[0].dtype))


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for layout, shape, dtype in (
        ("HWC", (9, 70), "uint8"),
        ("CHW", (6, 5), "float32"),
        ("FHWC", (2, 3, 5), "uint16"),
        ("HWC", (4, 5), "float16"),
    ):
        for image in ("RGB", "BGR", "GRAY", "YCbCr"):
            channels = 1 if image == "GRAY" else 3
            sizes = list(shape)
            sizes.insert(layout.index("C"), channels)
            data = (rng.uniform(0, full(dtype), sizes)).astype(dtype)
            for output in ("RGB", "BGR", "GRAY", "YCbCr"):
                yield [data], layout, {"image_type": image, "output_type": output}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    gray = np.zeros((2, 2, 1), np.uint8)
    types = {"image_type": "RGB", "output_type": "BGR"}
    yield [gray], "HWC", types, "the input has 1 channels, and 'RGB' has 3"
    yield [gray], "HWC", {"image_type": "GRAY", "output_type": "ANY_DATA"}, "got 'ANY_DATA'"
