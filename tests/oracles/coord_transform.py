# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""coord_transform, by NumPy in double precision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .common import Array, Tolerance, numbers, to_dtype

TOLERANCE = Tolerance(levels=1, share=1e-7)  # the order of the sum

Numbers = float | Sequence[float]


def moved(points: Array, matrix: Array, offset: Array) -> Array:
    return points.astype(np.float64) @ matrix.T + offset


def expected(
    inputs: list[Array],
    layout: str,
    M: Numbers | None = None,  # noqa: N803
    MT: Numbers | None = None,  # noqa: N803
    T: Numbers | None = None,  # noqa: N803
    dtype: str = "float32",
) -> Array:
    count = inputs[0].shape[-1]
    matrix, offset = np.eye(count), np.zeros(1)
    if MT is not None:
        both = np.float32(MT).astype(np.float64).reshape(-1)
        if both.size == 1:
            matrix = np.eye(count) * both
        else:
            both = both.reshape(-1, count + 1)
            matrix, offset = both[:, :-1], both[:, -1]
    elif M is not None:
        flat = np.float32(M).astype(np.float64).reshape(-1)
        matrix = np.eye(count) * flat if flat.size == 1 else flat.reshape(-1, count)
    if T is not None:
        offset = np.float32(T).astype(np.float64)
    return to_dtype(moved(inputs[0], matrix, offset), dtype)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for dtype in ("float32", "int32", "uint8", "float64"):
        points = numbers(rng, (40, 2), dtype)
        yield [points], "", {}
        yield [points], "", {"M": [0.5, 1.5, -1.0, 2.0], "T": [3.0, 4.0]}
        yield [points], "", {"M": 0.5, "T": 7.0}
        yield [points], "", {"M": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "T": [1.0, 2.0, 3.0]}
        yield [points], "", {"MT": [1.0, 2.0, 3.0], "dtype": "int32"}
        yield [points], "", {"T": [0.5, -0.5], "dtype": "uint8"}
        yield [points], "", {"MT": 0.25}
    yield [numbers(rng, (3, 4, 5, 6), "float32")], "FHWC", {"MT": [0.25] * 42}
    yield [numbers(rng, (3,), "float32")], "", {"M": [1.0, 0.0, -1.0]}
    yield [numbers(rng, (0, 3), "float32")], "", {"M": 2.0}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    points = np.zeros((5, 2), np.float32)
    yield [points], "", {"M": [1.0, 2.0, 3.0]}, "argument 'M' has 3 values, expected 1 to 6 rows"
    yield [points], "", {"MT": [1.0] * 4}, "argument 'MT' has 4 values"
    yield [points], "", {"MT": [1.0] * 6, "T": [1.0]}, "argument 'MT' excludes 'M' and 'T'"
    yield [points], "", {"T": [1.0] * 3}, "argument 'T' has 3 values, expected 1 or 2"
    yield [np.float32(1)], "", {}, "the input is a scalar, expected points"
    yield [np.zeros((2, 7), np.float32)], "", {}, "expected points of at most 6 coordinates"
