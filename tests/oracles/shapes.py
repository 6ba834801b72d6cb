# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""shapes, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, numbers, to_dtype

DTYPES = [
    *["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"],
    *["float16", "float32", "float64", "bool"],
]


def expected(inputs: list[Array], layout: str, dtype: str = "int64") -> Array:
    return to_dtype(np.array(inputs[0].shape, "int64"), dtype)


def generate(
    rng: np.random.Generator,
) -> Iterator[tuple[list[Array], str | list[str], dict[str, Any]]]:
    for i, dtype in enumerate(DTYPES):
        shape = tuple(int(e) for e in rng.integers(0 if i > 3 else 1, 7, i % 7))
        yield [numbers(rng, shape, dtype)], "", {"dtype": dtype}
        yield [numbers(rng, (5, 7, 3), dtype)], "HWC", {}
