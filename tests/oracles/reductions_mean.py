# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""reductions.mean, by NumPy in long double."""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import Array, Tolerance, numbers
from .reducing import Calls, along, mean_of, rounded, tensors

TOLERANCE = Tolerance()  # the rounding of the dtype


def expected(inputs: list[Array], layout: str, dtype: str | None = None, **where: Any) -> Array:
    data = inputs[0]
    return rounded(mean_of(data, **along(data, layout, **where)), data, dtype)


def generate(rng: np.random.Generator) -> Calls:
    yield from tensors(rng)
    yield [np.full(5, 2**62, np.uint64)], "", {}
    for dtype in ("uint8", "int32", "float64"):
        yield [numbers(rng, (7, 90), "float32")], "", {"axes": [0], "dtype": dtype}
