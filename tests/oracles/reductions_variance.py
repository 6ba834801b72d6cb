# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""reductions.variance, by NumPy in long double."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .common import Array, Tolerance, to_dtype
from .reductions_mean import along, calls, mean_of, own_dtype

TOLERANCE = Tolerance()  # the rounding of the dtype


def expected(
    inputs: list[Array],
    layout: str,
    axes: Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
    ddof: int = 0,
) -> Array:
    data, mean = inputs
    reduced = along(data, layout, axes, axis_names)
    kept = [1 if a in {r % data.ndim for r in reduced} else n for a, n in enumerate(data.shape)]
    centre = mean.reshape(kept if mean.size > 1 or not kept else [1] * data.ndim)
    squares = (data.astype(np.longdouble) - centre) ** 2
    total = np.asarray(squares.sum(reduced, keepdims=keep_dims))
    count = max(int(np.prod([data.shape[a] for a in reduced], dtype=np.int64)) - ddof, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return to_dtype((total / count).astype(np.float64), own_dtype(data))


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for data, layout, arguments in calls(rng):
        names = arguments.get("axis_names")
        reduced = along(data, layout, arguments.get("axes"), names)
        if data.size == 0:
            continue
        mean = np.asarray(mean_of(data, reduced, False), np.float32)
        yield [data, mean], layout, arguments
        yield [data, np.float32(3.5)], layout, {**arguments, "ddof": 1}
        kept = np.asarray(mean_of(data, reduced, True), np.float32)
        yield [data, kept], layout, {**arguments, "ddof": 2}
    yield [np.zeros((0, 3), np.uint8), np.zeros(3, np.float32)], "", {"axes": [0]}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    data = np.zeros((2, 3), np.float32)
    for mean in (np.zeros(2, np.float32), np.zeros((3, 1), np.float32)):
        yield [data, mean], "", {"axes": [0]}, "expected one number or (3,)"
