# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""random.coin_flip: whether draw k of a sample, as a share of 2^32, is below the probability."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .chance import Chance, shape_asked
from .common import Array, numbers, to_dtype


def expected(
    inputs: list[Array],
    layout: str,
    *,
    chance: Chance,
    probability: float = 0.5,
    shape: Any = None,
    dtype: str = "int32",
) -> Array:
    del layout
    extents = shape_asked(inputs, shape)
    limit = float(np.float32(probability)) * 2**32  # exact in a float64
    drawn = [word < limit for word in chance.words(int(np.prod(extents, dtype=np.int64)))]
    return to_dtype(np.array(drawn, np.int32).reshape(extents), dtype)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    yield [], "", {}
    yield [], "", {"probability": 0.75, "dtype": "bool"}
    for probability in (0.0, 1.0, 2.0**-20, 0.1):
        yield [], "", {"probability": probability, "shape": [6, 35], "dtype": "uint8"}
    yield [], "", {"shape": [0, 3], "dtype": "float32"}
    yield [], "", {"shape": [], "dtype": "int64"}
    yield [numbers(rng, (3, 5, 2), "uint8")], "HWC", {"dtype": "float16"}
    yield [numbers(rng, (7,), "float32")], "", {"probability": 0.9}
