# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""brightness_contrast, brightness and contrast, by NumPy in float64."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, Tolerance, full, numbers, to_dtype

# The sum is in float32, so integers may round to the other side of a half.
TOLERANCE = Tolerance(levels=1.0, share=1e-6)


def expected(
    inputs: list[Array],
    layout: str,
    brightness: float = 1.0,
    brightness_shift: float = 0.0,
    contrast: float = 1.0,
    contrast_center: float | None = None,
    dtype: str | None = None,
) -> Array:
    values = inputs[0].astype(np.float64)
    if contrast_center is None:
        whole = inputs[0].dtype.kind != "f"
        contrast_center = (full(str(inputs[0].dtype)) + 1) / 2 if whole else 0.5
    scaled = brightness * (contrast_center + contrast * (values - contrast_center))
    target = dtype or str(inputs[0].dtype)
    return to_dtype(scaled + brightness_shift * full(target), target)


SHAPES = (
    ("HWC", (5, 7, 3)),
    ("CHW", (2, 9, 41)),
    ("HW", (33, 70)),
    ("DHWC", (2, 3, 4, 5)),
    ("FHWC", (2, 3, 18, 1)),
    ("DHW", (3, 1, 5)),
    ("HWC", (0, 4, 3)),
    ("CDHW", (1, 2, 3, 4)),
)
DTYPES = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float16", "float32", "float64")


def calls(
    rng: np.random.Generator, *changes: dict[str, Any]
) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    """Each of the changes for several types and shapes."""
    for k, source in enumerate(DTYPES):
        for n, change in enumerate(changes):
            layout, shape = SHAPES[(k + 3 * n) % len(SHAPES)]
            yield [numbers(rng, shape, source)], layout, change


BRIGHTER: list[dict[str, Any]] = [
    {},
    {"brightness": 1.25},
    {"brightness": -0.5, "brightness_shift": 1.0},
    {"brightness": 0.01, "brightness_shift": -0.3, "dtype": "float32"},
    {"brightness_shift": 0.5, "dtype": "uint8"},
]
HARDER: list[dict[str, Any]] = [
    {"contrast": 1.75},
    {"contrast": -1.0, "contrast_center": 20.0},
    {"contrast": 0.0, "dtype": "uint8"},
    {"contrast": 0.3, "contrast_center": -3.5, "dtype": "float32"},
]


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    pairs = zip([*BRIGHTER, *BRIGHTER], HARDER, strict=False)
    yield from calls(rng, *({**b, **h} for b, h in pairs))
