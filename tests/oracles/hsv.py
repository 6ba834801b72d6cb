# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""hsv: a part of color_twist."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import color_twist
from .color_twist import TOLERANCE as TOLERANCE
from .common import Array


def expected(
    inputs: list[Array], layout: str, value: float = 1.0, dtype: str = "uint8", **colors: float
) -> Array:
    return color_twist.expected(inputs, layout, brightness=value, dtype=dtype, **colors)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    yield from color_twist.calls(
        rng,
        {},
        {"hue": 130.0, "saturation": 0.7, "value": 1.1},
        {"value": 0.25, "dtype": "float32"},
        {"saturation": 3.0, "dtype": "int16"},
    )
