# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""stack, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, numbers


def expected(inputs: list[Array], layout: str, axis: int = 0, axis_name: str = "") -> Array:
    return np.stack(inputs, axis)


def generate(
    rng: np.random.Generator,
) -> Iterator[tuple[list[Array], str | list[str], dict[str, Any]]]:
    dtypes = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]
    for i, dtype in enumerate([*dtypes, "float16", "float32", "float64", "bool"]):
        for rank in range(6):
            shape = tuple(rng.integers(0 if rank > 3 else 1, 5, rank))
            inputs = [numbers(rng, shape, dtype) for _ in range(1 + i % 3)]
            yield inputs, "", {"axis": int(rng.integers(-rank - 1, rank + 1))}
    for layout, shape in (("HW", (5, 7)), ("CHW", (2, 1, 9)), ("HWC", (5, 4, 3))):
        for axis in range(-1, len(layout) + 1):
            inputs = [numbers(rng, shape, "uint8") for _ in range(3)]
            yield inputs, [layout, "", layout], {"axis": axis, "axis_name": "F"}
            yield inputs, ["", layout], {"axis": axis}
