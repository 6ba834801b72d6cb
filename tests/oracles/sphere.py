# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""sphere, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array
from .displaced import TOLERANCE as TOLERANCE
from .displaced import displaced, images


def expected(
    inputs: list[Array],
    layout: str,
    fill_value: float = 0.0,
    interp_type: str = "INTERP_NN",
    mask: int = 1,
) -> Array:
    def where(y: Array, x: Array, shape: tuple[int, ...]) -> tuple[Array, Array]:
        height, width = shape[:2]
        down, right = y + 0.5 - height / 2, x + 0.5 - width / 2
        factor = np.sqrt(down * down + right * right) / max(height // 2, width // 2, 1)
        return height / 2 + down * factor, width / 2 + right * factor

    return displaced(inputs[0], where, interp_type, fill_value, mask)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for image in images(rng):
        layout = "FHWC"[4 - image.ndim :]
        for interp in ("INTERP_NN", "INTERP_LINEAR"):
            yield [image], layout, {"interp_type": interp}
            yield [image], layout, {"interp_type": interp, "fill_value": 300.0}
    yield [image], "HWC", {"mask": 0}
    yield [image[:0]], "HWC", {}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    image = np.zeros((2, 2, 1), np.uint8)
    yield [image], "HWC", {"interp_type": "INTERP_CUBIC"}, "is INTERP_NN or INTERP_LINEAR here"
