# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""zeros, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .common import Array

DTYPES = [
    *["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"],
    *["float16", "float32", "float64", "bool"],
]


def expected(
    inputs: list[Array], _: str, shape: Sequence[int] = (), dtype: str = "int32", layout: str = ""
) -> Array:
    return np.zeros(shape, dtype)


def generate(
    rng: np.random.Generator,
) -> Iterator[tuple[list[Array], str | list[str], dict[str, Any]]]:
    for dtype in DTYPES:
        for rank in range(1, 7):
            shape = [int(e) for e in rng.integers(0 if rank > 3 else 1, 5, rank)]
            yield [], "", {"shape": shape, "dtype": dtype}
    yield [], "", {}
    yield [], "", {"shape": 5}
    yield [], "", {"shape": [2, 3], "layout": "HW"}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    yield [], "", {"shape": [2], "layout": "HW"}, "argument 'layout' is 'HW', the shape is (2,)"
