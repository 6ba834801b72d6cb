# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""squeeze, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .common import Array, numbers


def expected(
    inputs: list[Array],
    layout: str,
    axes: Sequence[int] | None = None,
    axis_names: str | None = None,
) -> Array:
    named = [layout.index(c) for c in axis_names or ""]
    gone = [a % inputs[0].ndim for a in (axes if axes is not None else named)]
    return inputs[0].reshape([n for a, n in enumerate(inputs[0].shape) if a not in gone])


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for dtype in ("uint8", "float32", "int64"):
        data = numbers(rng, (1, 4, 1, 3), dtype)
        for axes in ([0], [2], [0, 2], [2, 0], [-2], [-4, 2]):
            yield [data], "FHWC", {"axes": axes}
            yield [data], "", {"axes": axes}
        for names in ("F", "W", "WF"):
            yield [data], "FHWC", {"axis_names": names}
    yield [numbers(rng, (1,), "bool")], "", {"axes": [0]}
    yield [numbers(rng, (1, 0), "uint8")], "HW", {"axes": [0]}
    yield [numbers(rng, (3, 0), "uint8")], "HW", {"axes": [0]}
    yield [numbers(rng, (0, 2), "float32")], "HW", {"axis_names": "W"}
    yield [numbers(rng, (0, 5, 0), "int16")], "", {"axes": [-1, 1]}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    data = np.zeros((1, 3), np.uint8)
    yield [data], "HW", {}, "either of the arguments 'axes' and 'axis_names'"
    yield [data], "HW", {"axes": [0], "axis_names": "H"}, "either of the arguments"
    yield [data], "HW", {"axes": [1]}, "its extent is not 1"
    yield [np.zeros((2, 0, 3), np.uint8)], "", {"axes": [1]}, "its extent is not 1"
    yield [data], "HW", {"axes": [2]}, "names axis 2 of a tensor of 2 axes"
