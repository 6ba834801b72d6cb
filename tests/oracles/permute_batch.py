# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""permute_batch, by indexing a list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import DTYPES, Array, numbers


def expected_batch(samples: list[list[Array]], layout: str, *, indices: Any) -> list[list[Array]]:
    del layout
    order = np.broadcast_to(np.reshape(indices, -1), len(samples))
    return [[samples[i][0]] for i in order]


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for dtype in DTYPES:
        yield [numbers(rng, (3, 5), dtype)], "HW", {"indices": 0}
    yield [numbers(rng, (2, 7, 5, 3), "uint8")], "FHWC", {"indices": [0]}
    yield [numbers(rng, (), "int64")], "", {"indices": 0}
    yield [numbers(rng, (4, 0), "float32")], "", {"indices": 0}


def generate_batches(rng: np.random.Generator) -> Iterator[tuple[list[list[Array]], str, Any]]:
    """Samples of different sizes, odd ones among them."""
    for n, indices in ((4, [3, 0, 2, 1]), (3, [2, 2, 2]), (5, 4), (5, [1, 0, 1, 0, 4])):
        for dtype in ("uint8", "float64"):
            batch = [[numbers(rng, (1 + 2 * i, 3 + i, 3), dtype)] for i in range(n)]
            yield batch, "HWC", {"indices": indices}
    yield [[numbers(rng, (n,), "int16")] for n in (0, 5, 1)], "", {"indices": [1, 0, 0]}


def refused_batches() -> Iterator[tuple[list[list[Array]], str, dict[str, Any], str]]:
    batch = [[np.array(i)] for i in range(3)]
    yield batch, "", {"indices": [0, 1, 3]}, "has 3 for sample 2 of the batch, expected 0 to 2"
    yield batch, "", {"indices": 3}, "has 3 for sample 0 of the batch, expected 0 to 2"
    yield batch, "", {"indices": [0, 1]}, "'indices' has 2 values, expected 1 or 3"


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    yield [np.array(1)], "", {"indices": []}, "'indices' is empty"
