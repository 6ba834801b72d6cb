# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""one_hot, by NumPy's comparisons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import DTYPES, Array, numbers, to_dtype


def expected(
    inputs: list[Array],
    layout: str,
    axis: int | None = None,
    axis_name: str = "",
    dtype: str = "float32",
    num_classes: int = 0,
    off_value: float = 0.0,
    on_value: float = 1.0,
) -> Array:
    data = inputs[0].reshape(()) if inputs[0].size == 1 and axis is None else inputs[0]
    hits = np.moveaxis(data[..., None] == np.arange(num_classes), -1, -1 if axis is None else axis)
    return to_dtype(np.where(hits, np.float32(on_value), np.float32(off_value)), dtype)


def expected_batch(
    samples: list[list[Array]], layout: str, axis: int | None = None, **arguments: Any
) -> list[list[Array]]:
    if axis is None and any(inputs[0].size != 1 for inputs in samples):
        axis = -1
    return [[expected(inputs, layout, axis, **arguments)] for inputs in samples]


def generate_batches(rng: np.random.Generator) -> Iterator[tuple[list[list[Array]], str, Any]]:
    for counts in ((1, 1, 1), (1, 3, 2), (0, 1)):
        batch = [[rng.integers(0, 5, n).astype(np.int32)] for n in counts]
        for arguments in ({}, {"axis": -1}, {"axis": 0, "dtype": "uint8"}):
            yield batch, "", {"num_classes": 5, **arguments}
    yield [[np.full((1, 1), k, np.uint8)] for k in range(3)], "", {"num_classes": 2}


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for dtype in DTYPES:
        if np.dtype(dtype).kind != "f":
            some = (numbers(rng, (4, 7), dtype).astype(np.int64) % 6).astype(dtype)
            yield [some], "HW", {"num_classes": 5}
            yield [some], "HW", {"num_classes": 5, "axis": 0, "axis_name": "C"}
        some = rng.integers(-1, 4, (5, 3)).astype(np.int32)
        values = {"on_value": 3.5, "off_value": -2.0}
        yield [some], "HW", {"num_classes": 3, "axis": 1, "dtype": dtype, **values}
    for shape in ((), (1,), (2,), (1, 1), (0,), (0, 2), (2, 3, 4)):
        some = rng.integers(0, 10, shape).astype(np.int32)
        yield [some], "", {"num_classes": 10}
        yield [some], "", {"num_classes": 1, "axis": 0}
        yield [some], "", {"num_classes": 2, "axis": -1}
        yield [some], "", {}
    yield [rng.integers(0, 300, (3, 4, 5)).astype(np.int16)], "HWC", {"num_classes": 300, "axis": 2}
    yield [np.array(1, np.uint8)], "", {"num_classes": 3, "axis_name": "C"}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    data = np.zeros((2, 3), np.uint8)
    yield [data], "HW", {"num_classes": 3, "axis": 3}, "the input has 2 axes, and 'axis' is 3"
    yield [data], "", {"num_classes": 3, "axis_name": "C"}, "needs a layout"
    yield [data], "HW", {"num_classes": 3, "axis_name": "H"}, "has already"
    yield [data], "HW", {"num_classes": 3, "axis_name": "CD"}, "expected one letter"
