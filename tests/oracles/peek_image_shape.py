# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""peek_image_shape: the shape of Pillow's pixels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array
from .decoders_image import decode, encoded


def expected(
    inputs: list[Array],
    layout: str,
    dtype: str = "int64",
    image_type: str = "RGB",
    adjust_orientation: bool = True,
) -> Array:
    del layout
    pixels = decode(inputs[0], image_type, adjust_orientation=adjust_orientation)
    return np.array(pixels.shape, dtype)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for i, file in enumerate(encoded(rng)):
        yield [file], "", {}
        yield [file], "", {"image_type": ("GRAY", "ANY_DATA", "YCbCr")[i % 3]}
        yield [file], "", {"adjust_orientation": False, "dtype": ("int32", "float32")[i % 2]}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    file = next(encoded(np.random.default_rng(0)))
    yield [file], "", {"dtype": "bool"}, "'dtype' is BOOL"
    yield [file.reshape(1, -1)], "", {}, "input 'encoded' has one axis"
