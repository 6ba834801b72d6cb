# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""reductions.mean_square, by NumPy in long double."""

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
    dtype: str | None = None,
) -> Array:
    reduced = along(inputs[0], layout, axes, axis_names)
    exact = (mean_of(inputs[0].astype(np.longdouble) ** 2, reduced, keep_dims)).astype(np.float64)
    return to_dtype(exact, dtype or own_dtype(inputs[0]))


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for data, layout, arguments in calls(rng):
        yield [data], layout, arguments
        if data.dtype == "int16":
            yield [data], layout, {**arguments, "dtype": "int32"}
