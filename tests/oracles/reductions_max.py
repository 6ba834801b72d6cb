# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""reductions.max, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .common import Array
from .reductions_mean import along, calls


def end(dtype: np.dtype[Any]) -> Any:
    """The max of no values."""
    if dtype.kind == "f":
        return -np.inf
    return False if dtype.kind == "b" else np.iinfo(dtype).min


def expected(
    inputs: list[Array],
    layout: str,
    axes: Sequence[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
) -> Array:
    data = inputs[0]
    reduced = along(data, layout, axes, axis_names)
    return np.asarray(data.max(reduced, keepdims=keep_dims, initial=end(data.dtype)))


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for data, layout, arguments in calls(rng):
        yield [data], layout, arguments
