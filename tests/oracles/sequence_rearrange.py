# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""sequence_rearrange, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .common import DTYPES, Array, numbers


def expected(inputs: list[Array], layout: str, new_order: Sequence[int] = ()) -> Array:
    return inputs[0][list(new_order)]


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for i, dtype in enumerate(DTYPES):
        rank = 1 + i % 4
        data = numbers(rng, (5, *rng.integers(1, 6, rank)), dtype)
        for order in ([0], [4, 0], [3, 3, 1], [0, 1, 2, 3, 4], [4, 3, 2, 1, 0, 0, 0]):
            yield [data], "FDHWC"[: rank + 1], {"new_order": order}
    yield [numbers(rng, (3,), "float32")], "", {"new_order": [2, 1]}
    yield [numbers(rng, (3, 0), "uint8")], "FW", {"new_order": [1]}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    data = np.zeros((2, 3), np.uint8)
    yield [data], "HW", {"new_order": [0]}, "expected one that begins with F"
    yield [data], "FW", {"new_order": []}, "argument 'new_order' is empty"
    yield [data], "FW", {"new_order": [2]}, "has frame 2 of a sequence of 2 frames"
    yield [data[0, 0]], "", {"new_order": [0]}, "the input is a scalar"
