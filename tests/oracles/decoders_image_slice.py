# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""decoders.image_slice: Pillow's pixels, sliced by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import slice as slices
from .common import Array
from .decoders_image import TOLERANCE, decode, encoded, of_pages

__all__ = ["TOLERANCE", "expected", "generate", "refused"]
PICTURE = ("output_type", "dtype", "adjust_orientation", "page")


def expected(inputs: list[Array], layout: str, **arguments: Any) -> Array:
    del layout
    pixels = decode(inputs[0], **{k: v for k, v in arguments.items() if k in PICTURE})
    window = {k: v for k, v in arguments.items() if k not in PICTURE}
    return slices.expected([pixels, *inputs[1:]], "HWC", **window)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for file in encoded(rng):
        x, y = (float(v) for v in rng.uniform(0, 0.6, 2).round(3))
        yield [file], "", {"rel_start": [x, y], "rel_shape": [0.4, 0.35]}
        yield [file], "", {"start": [1, 2], "end": [5, 4], "dtype": "float32"}
        yield [file], "", {"rel_start": [0.2, 0.1], "rel_end": [0.9, 1.0]}
        yield [file], "", {"axis_names": "H", "rel_start": [y], "output_type": "GRAY"}
        anchor, size = np.array([x, y], np.float32), np.array([0.3, 0.4], np.float32)
        yield [file, anchor, size], "", {}
        yield [file, np.array([3, 1]), np.array([2, 3])], "", {"adjust_orientation": False}
    for file in of_pages(rng):
        yield [file], "", {"start": [3, 2], "shape": [5, 4], "page": 1}
    channel = {"axes": [2, 0], "start": [1, 0], "shape": [1, 3]}
    yield [next(encoded(rng))], "", channel


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    file = next(encoded(np.random.default_rng(0)))
    yield [file], "", {}, "the window is missing"
    yield [file], "", {"start": [0, 0], "shape": [99, 2]}, "reaches outside"
    yield [file], "", {"start": [1, 2, 3]}, "'start' has 3 values, expected 1 or 2"
