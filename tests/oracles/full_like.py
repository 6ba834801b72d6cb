# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""full_like, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, numbers, to_dtype

DTYPES = [
    *["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"],
    *["float16", "float32", "float64", "bool"],
]


def expected(inputs: list[Array], layout: str) -> Array:
    data, value = inputs
    return np.broadcast_to(to_dtype(value, str(data.dtype)), data.shape)


def generate(
    rng: np.random.Generator,
) -> Iterator[tuple[list[Array], str | list[str], dict[str, Any]]]:
    for i, dtype in enumerate(DTYPES):
        value = numbers(rng, (), DTYPES[(5 * i + 3) % 12])
        yield [numbers(rng, (3, 2, 4)[: i % 4], dtype), value], "", {}
        yield [numbers(rng, (5, 7, 3), dtype), numbers(rng, (3,), "float32")], "HWC", {}
    yield [numbers(rng, (0, 3), "uint8"), numbers(rng, (3,), "int16")], "HW", {}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    data = np.zeros((2, 3), "uint8")
    words = "the value has the shape (3, 2, 3), which does not fill (2, 3)"
    yield [data, np.zeros((3, 2, 3))], "", {}, words
    yield [data, np.zeros(2)], "", {}, "shapes expect equal extents or 1"
