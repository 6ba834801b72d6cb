# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""color_twist, hue, saturation and hsv, by NumPy in float64."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, Tolerance, numbers, to_dtype

# Integers of 8 bits are mixed in fixed point; others may round to the other side of a half.
TOLERANCE = Tolerance(levels=1.0, share=1e-6)

YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])


def expected(
    inputs: list[Array],
    layout: str,
    hue: float = 0.0,
    saturation: float = 1.0,
    contrast: float = 1.0,
    brightness: float = 1.0,
    image_type: str = "RGB",
    dtype: str | None = None,
) -> Array:
    axis = layout.index("C")
    rgb = np.moveaxis(inputs[0].astype(np.float64), axis, -1)
    if image_type == "BGR":
        rgb = rgb[..., ::-1]
    y, i, q = np.moveaxis(rgb @ YIQ.T, -1, 0)
    turned = saturation * (i + 1j * q) * np.exp(-1j * np.deg2rad(hue))
    colors = np.stack([y, turned.real, turned.imag], -1) @ np.linalg.inv(YIQ).T
    gray = 0.5 if inputs[0].dtype.kind == "f" else 128.0
    made = (gray + (colors - gray) * contrast) * brightness
    if image_type == "BGR":
        made = made[..., ::-1]
    return to_dtype(np.moveaxis(made, -1, axis), dtype or str(inputs[0].dtype))


SHAPES = (
    ("HWC", (5, 7, 3)),
    ("HWC", (33, 70, 3)),
    ("CHW", (3, 9, 41)),
    ("DHWC", (2, 3, 4, 3)),
    ("CDHW", (3, 2, 1, 5)),
    ("FHWC", (2, 3, 18, 3)),
    ("HWC", (0, 4, 3)),
    ("HWC", (1, 1, 3)),
)


def calls(
    rng: np.random.Generator, *changes: dict[str, Any]
) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    """Each of the changes for several types and shapes."""
    types = ("uint8", "uint8", "int8", "uint16", "int16", "int32", "float16", "float32", "float64")
    for k, source in enumerate(types):
        for n, change in enumerate(changes):
            layout, shape = SHAPES[(k + 3 * n) % len(SHAPES)]
            yield [numbers(rng, shape, source)], layout, change


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    yield [numbers(rng, (4, 5, 6, 3), "uint8")], "FHWC", {"hue": 10.0}
    yield from calls(
        rng,
        {},
        {"hue": 20.0, "saturation": 1.2, "contrast": 0.9, "brightness": 1.1},
        {"hue": -170.0, "dtype": "float32"},
        {"saturation": 0.0, "contrast": 2.5, "dtype": "uint8"},
        {"brightness": 40.0, "contrast": 1.5, "dtype": "int16"},
        {"hue": 75.0, "brightness": 0.3, "image_type": "BGR"},
    )
