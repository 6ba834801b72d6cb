# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""cast, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import DTYPES, Array, numbers, to_dtype


def expected(inputs: list[Array], layout: str, dtype: str) -> Array:
    del layout
    return to_dtype(inputs[0], dtype)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for source in DTYPES:
        for target in DTYPES:
            yield [numbers(rng, (3, 5), source)], "HW", {"dtype": target}
    halves = np.array([-1.5, -0.5, 0.5, 1.5, 2.5, 254.5, 255.5, 1e9, -1e9], np.float32)
    for target in ("uint8", "int8", "int32", "float16", "bool"):
        yield [halves], "", {"dtype": target}
