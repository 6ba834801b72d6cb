# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""jitter, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .chance import Chance
from .common import Array
from .displaced import displaced, images


def expected(
    inputs: list[Array],
    layout: str,
    *,
    chance: Chance,
    fill_value: float = 0.0,
    mask: int = 1,
    nDegree: int = 2,  # noqa: N803
) -> Array:
    most = nDegree // 2

    def frame(data: Array, draws: Chance) -> Array:
        def where(y: Array, x: Array, shape: tuple[int, ...]) -> tuple[Array, Array]:
            words = np.array(draws.words(2 * y.size), np.uint64).reshape(*y.shape, 2)
            shifts = (words * np.uint64(2 * most + 1) >> np.uint64(32)).astype(np.int64) - most
            return y + shifts[..., 0] + 0.5, x + shifts[..., 1] + 0.5

        return displaced(data, where, "INTERP_NN", fill_value, mask)

    data = inputs[0]
    if data.ndim == 3:
        return frame(data, chance)
    return np.stack([frame(f, chance) for f in data])  # alike for all frames


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for image in images(rng):
        layout = "FHWC"[4 - image.ndim :]
        for degree in (0, 2, 7):
            yield [image], layout, {"nDegree": degree, "fill_value": 3.0}
    yield [image], "HWC", {"mask": 0}
    yield [image[:0]], "HWC", {}
