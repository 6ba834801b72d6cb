# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""expand_dims, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .common import Array, numbers


def expected(
    inputs: list[Array], layout: str, axes: Sequence[int] = (), new_axis_names: str = ""
) -> Array:
    return np.expand_dims(inputs[0], tuple(axes))


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for dtype in ("uint8", "float32", "int64"):
        data = numbers(rng, (5, 3), dtype)
        for axes in ([], [0], [1], [2], [0, 2], [3, 0], [5, 3, 0, 1]):
            yield [data], "HW", {"axes": axes}
            yield [data], "", {"axes": axes}
            yield [data], "HW", {"axes": axes, "new_axis_names": "CDFN"[: len(axes)]}
    yield [numbers(rng, (), "int16")], "", {"axes": [0], "new_axis_names": "C"}
    yield [numbers(rng, (0, 2), "uint8")], "HW", {"axes": [1]}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    data = np.zeros((1, 3), np.uint8)
    yield [data], "HW", {"axes": [3]}, "and the output has 3 axes"
    yield [data], "HW", {"axes": [0, 0]}, "names axis 0 twice"
    yield [data], "HW", {"axes": [0], "new_axis_names": "CD"}, "has 1 value, expected 2"
    yield [data], "HW", {"axes": [0], "new_axis_names": "H"}, "with more than one H"
    yield [data], "", {"axes": [0], "new_axis_names": "C"}, "needs an input with a layout"
    yield [data], "HW", {"axes": [0, 1, 2, 3, 4]}, "expected at most 6"
