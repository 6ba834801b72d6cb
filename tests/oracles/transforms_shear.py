# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""transforms.shear, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, Tolerance
from .transforms_translation import Numbers, about, joined, matrices, single

TOLERANCE = Tolerance(share=1e-6)  # the order of the sums


def expected(
    inputs: list[Array],
    layout: str,
    shear: Numbers | None = None,
    angles: Numbers | None = None,
    center: Numbers | None = None,
    reverse_order: bool = False,
) -> Array:
    factors = single(shear) if shear is not None else np.tan(np.radians(single(angles or 0.0)))
    rank = 2 if factors.size == 2 else 3
    linear = np.eye(rank)
    linear[~np.eye(rank, dtype=bool)] = factors
    return joined(about(linear, center), inputs, reverse_order)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for factors in ([0.5, -2.0], [1.0, 2.0, 3.0, 0.25, 0.5, -1.0]):
        rank = 2 if len(factors) == 2 else 3
        for inputs, order in matrices(rng, rank):
            yield inputs, "", {"shear": factors, **order}
            yield inputs, "", {"shear": factors, "center": [5.0, 0.5, 7.0][:rank], **order}
            yield inputs, "", {"angles": [20 * f for f in factors], **order}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    yield [], "", {}, "either of the arguments 'shear' and 'angles'"
    yield [], "", {"shear": [1.0] * 3}, "argument 'shear' has 3 values, expected 2 or 6"
    two = {"shear": [1.0] * 2, "angles": [1.0] * 2}
    yield [], "", two, "either of the arguments"
