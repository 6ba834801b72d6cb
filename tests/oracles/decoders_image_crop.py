# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""decoders.image_crop: Pillow's pixels, cropped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array
from .decoders_image import TOLERANCE, encoded, of_pages, window

__all__ = ["TOLERANCE", "expected", "generate"]
CROP = ("crop", "crop_h", "crop_w", "crop_pos_x", "crop_pos_y", "rounding")


def expected(inputs: list[Array], layout: str, **arguments: Any) -> Array:
    del layout
    crop = {k: v for k, v in arguments.items() if k in CROP}
    return window(inputs, crop, {k: v for k, v in arguments.items() if k not in CROP})


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for file in encoded(rng):
        x, y = (float(v) for v in rng.uniform(0, 1, 2).round(3))
        place = {"crop_pos_x": x, "crop_pos_y": y}
        yield [file], "", {"crop": [1, 5], **place}
        yield [file], "", {"crop": [0, 4], "rounding": "truncate", **place}
        yield [file], "", {"crop_h": 1.0, "crop_w": 3.0, "output_type": "GRAY", **place}
        yield [file], "", {"crop": [1, 2], "dtype": "float32", "adjust_orientation": False}
    for file in of_pages(rng):
        yield [file], "", {"crop": [4, 5], "page": 2}
