# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""cat, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, numbers


def expected(inputs: list[Array], layout: str, axis: int = 0, axis_name: str = "") -> Array:
    return np.concatenate(inputs, layout.index(axis_name) if axis_name else axis)


def generate(
    rng: np.random.Generator,
) -> Iterator[tuple[list[Array], str | list[str], dict[str, Any]]]:
    dtypes = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]
    for i, dtype in enumerate([*dtypes, "float16", "float32", "float64", "bool"]):
        for rank in range(1, 7):
            shape = rng.integers(1, 5, rank)
            axis = int(rng.integers(-rank, rank))
            yield (
                [piece(rng, shape, axis, e, dtype) for e in (2, 0, 1)[: 1 + i % 3]],
                "",
                {"axis": axis},
            )
    for layout, shape in (("HWC", [5, 7, 3]), ("CHW", [2, 1, 9]), ("FHWC", [2, 5, 4, 3])):
        for axis, letter in enumerate(layout):
            inputs = [piece(rng, shape, axis, e, "uint8") for e in (3, 1, 4)]
            yield inputs, [layout, "", layout], {"axis_name": letter}
            yield inputs, ["", layout], {"axis": axis}
    yield [numbers(rng, (2, 3), "int16")] * 99, "", {"axis": 1}
    yield [numbers(rng, (0, 3), "uint8"), numbers(rng, (0, 2), "uint8")], "HW", {"axis": -1}


def piece(rng: np.random.Generator, shape: Any, axis: int, extent: int, dtype: str) -> Array:
    own = list(shape)
    own[axis] = extent
    return numbers(rng, tuple(own), dtype)


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    one, other = np.zeros((2, 3), np.uint8), np.zeros((3, 3), np.uint8)
    yield [one, other], "", {"axis": 1}, "input 1 is uint8 (3, 3), expected uint8 (2, ?)"
    yield [one], "", {"axis": 2}, "'axis' names axis 2 of a tensor of 2 axes"
    yield [one], "HW", {"axis_name": "C"}, "'axis_name' is 'C', expected an axis of the layout 'HW'"
    yield [one], "HW", {"axis_name": "W", "axis": 1}, "'axis' and 'axis_name' exclude each other"
