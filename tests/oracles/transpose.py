# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""transpose, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any

import numpy as np

from .common import DTYPES, Array, numbers


def expected(
    inputs: list[Array],
    layout: str,
    perm: Sequence[int] | None = None,
    transpose_layout: bool = True,
    output_layout: str = "",
) -> Array:
    return np.array(np.transpose(inputs[0], perm), order="C")


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for rank in range(5):
        for i, perm in enumerate(permutations(range(rank))):
            shape = tuple(rng.integers(1, 9, rank))
            yield [numbers(rng, shape, DTYPES[i % len(DTYPES)])], "", {"perm": list(perm)}
    image = numbers(rng, (37, 70, 3), "uint8")
    yield [image], "HWC", {}
    yield [image], "HWC", {"perm": [2, 0, 1], "transpose_layout": False}
    yield [image], "HWC", {"perm": [1, 0, 2], "output_layout": "ABC"}
    yield [numbers(rng, (0, 3), "float32")], "HW", {}
    yield [numbers(rng, (2, 1, 3, 2, 2, 2), "int16")], "", {"perm": [3, 0, 5, 1, 4, 2]}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    matrix = np.zeros((2, 3), np.uint8)
    yield [matrix], "", {"perm": [0]}, "argument 'perm' has 1 value, expected 2"
    yield [matrix], "", {"perm": [1, 1]}, "expected each number from 0 to 1 once"
    yield [matrix], "", {"output_layout": "HWC"}, "the input has 2 axes"
