# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""equalize, by OpenCV."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cv2
import numpy as np

from .common import Array, numbers


def expected(inputs: list[Array], layout: str) -> Array:
    data = inputs[0]
    planes = np.moveaxis(data, [layout.index("H"), layout.index("W")], [-2, -1])
    out = np.empty_like(planes)
    for at in np.ndindex(planes.shape[:-2]):
        if data.size:
            out[at] = cv2.equalizeHist(np.ascontiguousarray(planes[at]))
    return np.moveaxis(out, [-2, -1], [layout.index("H"), layout.index("W")])


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    def dark(shape: tuple[int, ...], spread: float = 12) -> Array:
        return np.clip(rng.normal(40, spread, shape), 0, 255).astype(np.uint8)

    yield [dark((23, 31, 3))], "HWC", {}
    yield [dark((23, 31, 3), 1)], "HWC", {}
    yield [dark((23, 31, 3), 80)], "HWC", {}
    for channels in (1, 2, 4, 5):
        yield [dark((9, 8, channels))], "HWC", {}
        yield [dark((channels, 9, 7))], "CHW", {}
    yield [dark((17, 13))], "HW", {}
    yield [dark((3, 8, 9, 3))], "FHWC", {}
    yield [dark((3, 2, 8, 9))], "FCHW", {}
    yield [dark((2, 8, 9))], "FHW", {}
    yield [numbers(rng, (1, 1, 3), "uint8")], "HWC", {}
    yield [numbers(rng, (1, 300, 1), "uint8")], "HWC", {}
    yield [numbers(rng, (0, 5, 3), "uint8")], "HWC", {}
    yield [numbers(rng, (5, 4, 0), "uint8")], "HWC", {}
    for two in ([0, 255], [255, 254], [3, 3]):  # also with equal counts, which give halves
        yield [np.array([two, two[::-1]], np.uint8)], "HW", {}
    yield [np.repeat(np.arange(256, dtype=np.uint8), 2).reshape(2, 256)], "HW", {}
    yield [np.arange(511, dtype=np.uint32).astype(np.uint8).reshape(7, 73)], "HW", {}
