# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""full, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .common import Array, numbers

DTYPES = [
    *["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"],
    *["float16", "float32", "float64", "bool"],
]


def expected(
    inputs: list[Array], _: str, shape: Sequence[int] | None = None, layout: str = ""
) -> Array:
    return inputs[0] if shape is None else np.broadcast_to(inputs[0], shape)


def generate(
    rng: np.random.Generator,
) -> Iterator[tuple[list[Array], str | list[str], dict[str, Any]]]:
    for i, dtype in enumerate(DTYPES):
        yield [numbers(rng, (), dtype)], "", {"shape": [2, 3, 4][: 1 + i % 3]}
        yield [numbers(rng, (3,), dtype)], "", {"shape": [2, 3]}
        yield [numbers(rng, (2, 1, 3), dtype)], "", {"shape": [5, 2, 4, 3]}
    yield [numbers(rng, (3, 2), "uint8")], "", {}
    yield [numbers(rng, (3, 2), "uint8")], "", {"layout": "HW"}
    yield [numbers(rng, (2500,), "int16")], "", {"shape": [2, 2500]}
    yield [numbers(rng, (1, 3), "int16")], "", {"shape": [0, 3]}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    a = np.zeros((2, 3), "uint8")
    yield [a], "", {"shape": [2, 4]}, "the value has the shape (2, 3), which does not fill (2, 4)"
    yield [a], "", {"layout": "HWC"}, "argument 'layout' is 'HWC', the shape is (2, 3)"
    yield [a], "", {"shape": [3]}, "the value has the shape (2, 3), which does not fill (3,)"
    yield [a], "", {"shape": [1] * 7}, "argument 'shape' has 7 values, expected 6 at most"
    yield [a[:1, :1]], "", {"shape": [2**21, 2**21]}, "more than 2^40 elements"
