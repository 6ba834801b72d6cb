# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""zeros_like, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, numbers

DTYPES = [
    *["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"],
    *["float16", "float32", "float64", "bool"],
]


def expected(inputs: list[Array], layout: str, dtype: str | None = None) -> Array:
    return np.zeros_like(inputs[0], dtype)


def generate(
    rng: np.random.Generator,
) -> Iterator[tuple[list[Array], str | list[str], dict[str, Any]]]:
    for i, dtype in enumerate(DTYPES):
        yield [numbers(rng, (3, 2, 4)[: i % 4], dtype)], "", {}
        yield [numbers(rng, (5, 7, 3), "uint8")], "HWC", {"dtype": dtype}
    yield [numbers(rng, (0, 3), "uint8")], "HW", {}
