# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""reinterpret, by NumPy's views of other dtypes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .common import DTYPES, Array, numbers
from .reshape import new_shape, shapes


def expected(
    inputs: list[Array],
    layout_of_input: str,
    shape: Sequence[int] | None = None,
    rel_shape: Sequence[float] | None = None,
    src_dims: Sequence[int] | None = None,
    layout: str | None = None,
    dtype: str | None = None,
) -> Array:
    if len(inputs) == 2:
        shape = [int(e) for e in inputs[1]]
    own = new_shape(inputs[0].shape, shape, rel_shape, src_dims)
    kind = np.dtype(dtype or inputs[0].dtype)
    if shape is None and rel_shape is None and own:
        own[-1] = own[-1] * inputs[0].itemsize // kind.itemsize
    return np.frombuffer(inputs[0].tobytes(), kind).reshape(own)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for arguments in shapes():
        yield [numbers(rng, (2, 3, 4), "int32")], "HWC", arguments
        if "shape" not in arguments and "rel_shape" not in arguments:
            yield [numbers(rng, (2, 3, 4), "uint8")], "HWC", {**arguments, "dtype": "uint16"}
    for dtype in DTYPES:
        if dtype == "bool" or np.dtype(dtype).kind == "f":
            continue  # not all bytes are a bool, and floats are compared as numbers
        yield [numbers(rng, (5, 8), "uint8")], "HW", {"dtype": dtype}
        yield [numbers(rng, (5, 8), dtype)], "", {"dtype": "uint8", "shape": [-1]}
        yield [numbers(rng, (5, 8), "uint8"), np.array([-1])], "", {"dtype": dtype}
    yield [numbers(rng, (5, 8), "uint8")], "HW", {"dtype": "uint16", "rel_shape": [1, 0.5]}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    data = np.zeros((2, 3), np.uint8)
    yield [data], "", {}, "expects a new dtype, shape or layout"
    yield [data], "", {"dtype": "uint16"}, "the last axis has 3 bytes"
    yield [data[0, 0]], "", {"dtype": "uint16"}, "a scalar of dtype uint8 cannot become uint16"
    yield [data], "", {"dtype": "uint16", "shape": [2, 3]}, "6 bytes, and 12 in the new shape"
