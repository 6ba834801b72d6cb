# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""decoders.image_random_crop: the predicted window of Pillow's pixels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .chance import Chance
from .common import Array
from .decoders_image import TOLERANCE, decode, encoded, of_pages
from .random_window import ARGUMENTS, random_window, window_arguments

__all__ = ["TOLERANCE", "expected", "generate"]


def expected(inputs: list[Array], layout: str, *, chance: Chance, **arguments: Any) -> Array:
    del layout
    of_window = {k: v for k, v in arguments.items() if k in ARGUMENTS}
    pixels = decode(inputs[0], **{k: v for k, v in arguments.items() if k not in ARGUMENTS})
    y, x, h, w = random_window(chance, *pixels.shape[:2], **of_window)
    return np.ascontiguousarray(pixels[y : y + h, x : x + w])


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    files = list(encoded(rng))
    windows = list(window_arguments())
    others: tuple[dict[str, Any], ...] = (
        {},
        {"output_type": "GRAY"},
        {"dtype": "float32", "adjust_orientation": False},
        {"output_type": "BGR"},
        {"output_type": "ANY_DATA", "dtype": "int16"},
    )
    for i in range(max(len(files), len(windows))):
        arguments = {**windows[i % len(windows)], **others[i % len(others)]}
        yield [files[i % len(files)]], "", arguments
    for file in of_pages(rng):
        yield [file], "", {"page": 2}
