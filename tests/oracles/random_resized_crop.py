# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""random_resized_crop: the predicted window, resized by Pillow or by matrices of weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import resize
from .chance import Chance
from .common import Array, numbers
from .random_window import ARGUMENTS, random_window, window_arguments

TOLERANCE = resize.TOLERANCE


def expected(
    inputs: list[Array], layout: str, *, chance: Chance, size: Any, **arguments: Any
) -> Array:
    (data,) = inputs
    of_window = {k: v for k, v in arguments.items() if k in ARGUMENTS}
    others = {k: v for k, v in arguments.items() if k not in ARGUMENTS}
    extents = [data.shape[layout.index(c)] for c in "HW"]
    y, x, h, w = random_window(chance, *extents, **of_window)
    region = {"roi_start": [y, x], "roi_end": [y + h, x + w]}
    return resize.expected(inputs, layout, size=size, **region, **others)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    # Pillow saturates between the axes; this filter does not overshoot that far.
    picture = numbers(rng, (43, 59, 3), "uint8") // 3 + 85
    for arguments in window_arguments():
        yield [picture], "HWC", {"size": [14, 19], **arguments}
    yield [picture], "HWC", {"size": 23}
    yield [picture], "HWC", {"size": [40, 9], "antialias": False}
    yield [picture], "HWC", {"size": [60, 80], "interp_type": "INTERP_CUBIC"}
    yield [picture], "HWC", {"size": [9, 11], "interp_type": "INTERP_LANCZOS3"}
    yield [picture], "HWC", {"size": [9, 80], "min_filter": "INTERP_NN"}
    yield [picture], "HWC", {"size": [9, 80], "mag_filter": "INTERP_CUBIC", "dtype": "float32"}
    for name in ("INTERP_LINEAR", "INTERP_CUBIC"):
        clamp = {"interp_type": name, "border": "clamp", "random_area": [0.9, 1.0]}
        yield [picture], "HWC", {"size": [9, 80], **clamp}
    yield [numbers(rng, (2, 31, 22), "int16")], "CHW", {"size": [8, 40]}
    yield [numbers(rng, (17, 12), "float32")], "HW", {"size": [22, 5]}
    yield [numbers(rng, (3, 21, 16, 2), "uint16")], "FHWC", {"size": [7, 30]}
    yield [numbers(rng, (2, 3, 21, 16), "uint8")], "CFHW", {"size": [7, 5]}
