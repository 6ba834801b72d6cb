# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""jpeg_compression_distortion, by Pillow."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
from PIL import Image

from .common import Array, numbers


def expected(inputs: list[Array], layout: str, quality: int = 50) -> Array:
    data = inputs[0]
    pictures = data if layout == "FHWC" else data[np.newaxis]
    out = np.empty_like(pictures)
    for picture, into in zip(pictures, out, strict=True):
        if picture.size:
            file = io.BytesIO()
            Image.fromarray(picture).save(file, "JPEG", quality=quality, subsampling=2)
            into[...] = np.asarray(Image.open(file))
    return out.reshape(data.shape)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for quality in (1, 2, 24, 49, 50, 51, 75, 99, 100):
        yield [numbers(rng, (23, 31, 3), "uint8")], "HWC", {"quality": quality}
    for shape in ((1, 1), (1, 4), (4, 1), (2, 5), (5, 3), (8, 8), (16, 16), (17, 33), (15, 300)):
        yield [numbers(rng, (*shape, 3), "uint8")], "HWC", {}
        yield [np.full((*shape, 3), (255, 0, 40), np.uint8)], "HWC", {"quality": 90}
    yield [numbers(rng, (3, 20, 9, 3), "uint8")], "FHWC", {"quality": 60}
    yield [rng.integers(0, 2, (40, 50, 3)).astype(np.uint8) * 255], "HWC", {"quality": 100}
    yield [numbers(rng, (0, 5, 3), "uint8")], "HWC", {}
    yield [numbers(rng, (5, 0, 3), "uint8")], "HWC", {}
