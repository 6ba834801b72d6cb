# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""cast_like, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import DTYPES, Array, numbers, to_dtype


def expected(inputs: list[Array], layout: str) -> Array:
    return to_dtype(inputs[0], str(inputs[1].dtype))


def generate(
    rng: np.random.Generator,
) -> Iterator[tuple[list[Array], str | list[str], dict[str, Any]]]:
    for i, dtype in enumerate(DTYPES):
        for other in DTYPES:
            shape = (3, 2, 4)[: 1 + i % 3]
            yield [numbers(rng, shape, dtype), numbers(rng, (2,), other)], "", {}
    yield [numbers(rng, (5, 7, 3), "float32"), numbers(rng, (), "uint8")], "HWC", {}
