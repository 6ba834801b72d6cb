# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""random.normal: each two draws of a sample give two values, by Box and Muller."""

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
    mean: float = 0.0,
    stddev: float = 1.0,
    shape: Any = None,
    dtype: str = "float32",
) -> Array:
    del layout
    extents = shape_asked(inputs, shape)
    count = int(np.prod(extents, dtype=np.int64))
    words = np.array(chance.words(count + count % 2), np.float64).reshape(-1, 2)
    radius = np.sqrt(-2 * np.log((words[:, 0] + 0.5) / 2**32))
    angle = 2 * np.pi * words[:, 1] / 2**32
    normal = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(-1)[:count]
    with np.errstate(over="ignore"):
        drawn = (float(np.float32(mean)) + float(np.float32(stddev)) * normal).astype(np.float32)
    return to_dtype(drawn.reshape(extents), dtype)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    yield [], "", {}
    yield [], "", {"shape": [3, 0]}
    yield [], "", {"shape": [7, 3, 5], "mean": 1e3, "stddev": 0.1, "dtype": "float64"}
    yield [], "", {"shape": [5000], "mean": -3.0}
    yield [], "", {"shape": [51], "mean": 100.0, "stddev": 80.0, "dtype": "uint8"}
    yield [], "", {"shape": [9], "stddev": 7e4, "dtype": "float16"}
    yield [], "", {"shape": [9], "stddev": 3.4e38}
    yield [numbers(rng, (2, 3, 4), "int16")], "HWC", {"dtype": "int32", "stddev": 20.0}
