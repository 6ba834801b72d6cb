# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""random.uniform: draw k of a sample, as a share of 2^32, chooses from the range or the list."""

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
    range: Any = (-1.0, 1.0),
    values: Any = None,
    shape: Any = None,
    dtype: str = "float32",
) -> Array:
    del layout
    extents = shape_asked(inputs, shape)
    words = chance.words(int(np.prod(extents, dtype=np.int64)))
    if values is not None:
        listed = np.asarray(values, np.float32).reshape(-1)
        drawn = listed[np.array([w * listed.size >> 32 for w in words], np.int64)]
    else:
        low, high = np.asarray(range, np.float32).astype(np.float64)
        shares = np.array(words, np.float64) / 2**32
        drawn = (low + (high - low) * shares).astype(np.float32)
        below = np.nextafter(np.float32(high), np.float32(-np.inf))
        drawn = drawn if low == high else np.minimum(drawn, below)
    return to_dtype(drawn.reshape(extents), dtype)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    yield [], "", {}
    yield [], "", {"shape": [3, 0]}
    yield [], "", {"shape": [4, 3, 5], "range": [0.0, 1.0], "dtype": "float64"}
    yield [], "", {"shape": [50], "range": [-300.0, 300.0], "dtype": "uint8"}
    yield [], "", {"shape": [50], "range": [-0.5, 3.5], "dtype": "int64"}
    yield [], "", {"shape": [9], "range": [-7e4, 7e4], "dtype": "float16"}
    yield [], "", {"shape": [9], "range": [-3.4e38, 3.4e38]}
    # The end is the float after the begin. Half of the draws would round to the end; none may.
    yield [], "", {"shape": [40], "range": [1.0, 1.0 + 2.0**-23]}
    yield [], "", {"shape": [40], "range": [-(2.0**-149), 0.0]}
    listed = [-2.5, 0.1, 7.0, 1e9, 0.5]
    yield [], "", {"values": listed, "shape": [80]}
    yield [], "", {"values": listed, "dtype": "int8"}
    yield [], "", {"values": [3.0]}
    yield [numbers(rng, (2, 3, 4), "int16")], "HWC", {"dtype": "int32", "range": [-9.0, 9.0]}
