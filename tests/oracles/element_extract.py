# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""element_extract, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .common import DTYPES, Array, numbers


def expected(inputs: list[Array], layout: str, element_map: Sequence[int] = ()) -> list[Array]:
    return [np.array(inputs[0][k]) for k in element_map]


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for i, dtype in enumerate(DTYPES):
        rank = 1 + i % 4
        data = numbers(rng, (5, *rng.integers(1, 6, rank)), dtype)
        for frames in ([0], [4, 0], [3, 3, 1]):
            yield [data], "FDHWC"[: rank + 1], {"element_map": frames}
    yield [numbers(rng, (3,), "float32")], "", {"element_map": [2, 1]}
    yield [numbers(rng, (3, 0), "uint8")], "FW", {"element_map": [1]}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    data = np.zeros((2, 3), np.uint8)
    yield [data], "HW", {"element_map": [0]}, "expected one that begins with F"
    yield [data], "FW", {"element_map": []}, "asks for no outputs"
    yield [data], "FW", {"element_map": [2]}, "has frame 2 of a sequence of 2 frames"
