# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""water, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, shortest
from .displaced import TOLERANCE as TOLERANCE
from .displaced import displaced, images


def expected(
    inputs: list[Array],
    layout: str,
    ampl_x: float = 10.0,
    ampl_y: float = 10.0,
    fill_value: float = 0.0,
    freq_x: float = 0.049087,
    freq_y: float = 0.049087,
    interp_type: str = "INTERP_NN",
    mask: int = 1,
    phase_x: float = 0.0,
    phase_y: float = 0.0,
) -> Array:
    def where(y: Array, x: Array, shape: tuple[int, ...]) -> tuple[Array, Array]:
        right = shortest(ampl_x) * np.sin(shortest(freq_x) * y + shortest(phase_x))
        down = shortest(ampl_y) * np.cos(shortest(freq_y) * x + shortest(phase_y))
        return (y + down).astype(np.float32), (x + right).astype(np.float32)

    return displaced(inputs[0], where, interp_type, fill_value, mask)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    small = {"ampl_x": 2.3, "ampl_y": 1.7, "freq_x": 0.31, "freq_y": 0.53, "phase_x": 0.7}
    for image in images(rng):
        layout = "FHWC"[4 - image.ndim :]
        for interp in ("INTERP_NN", "INTERP_LINEAR"):
            yield [image], layout, {"interp_type": interp}
            yield [image], layout, {**small, "interp_type": interp, "fill_value": 7.0}
    yield [image], "HWC", {"mask": 0}
    yield [image[:0]], "HWC", {}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    image = np.zeros((2, 2, 1), np.uint8)
    yield [image], "HWC", {"interp_type": "INTERP_CUBIC"}, "is INTERP_NN or INTERP_LINEAR here"
