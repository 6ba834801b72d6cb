# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""copy, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import DTYPES, Array, numbers


def expected(inputs: list[Array], layout: str) -> Array:
    del layout
    return np.array(inputs[0])


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for dtype in DTYPES:
        yield [numbers(rng, (3, 5), dtype)], "HW", {}
    for shape, layout in (((), ""), ((1,), ""), ((0, 4), ""), ((2, 3, 1, 5, 2), "FDHWC")):
        yield [numbers(rng, shape, "int16")], layout, {}
    yield [np.array([0.0, -0.0, np.inf, -np.inf], np.float32)], "", {}
