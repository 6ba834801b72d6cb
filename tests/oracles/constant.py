# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""constant, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import DTYPES, Array, to_dtype


def expected(
    inputs: list[Array],
    _: str,
    /,
    fdata: Any = None,
    idata: Any = None,
    shape: Any = None,
    dtype: str | None = None,
    layout: str = "",
) -> Array:
    del inputs, layout
    given = np.array(fdata, np.float32) if idata is None else np.array(idata, np.int64)
    values = to_dtype(given.reshape(-1), dtype or ("float32" if idata is None else "int32"))
    return values if shape is None else np.resize(values, shape)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    wild = [-1e9, -129.0, -0.5, 0.5, 1.5, 254.5, 70000.0]
    whole = [-(2**40), -129, -1, 0, 1, 255, 2**40]
    for dtype in DTYPES:
        yield [], "", {"fdata": wild, "dtype": dtype}
        yield [], "", {"idata": whole, "dtype": dtype}
    yield [], "", {"idata": whole}
    yield [], "", {"fdata": rng.uniform(-9, 9, 24).round(3).tolist(), "shape": [2, 3, 4]}
    yield [], "", {"idata": list(range(6)), "shape": [1, 3, 2], "layout": "HWC"}
    yield [], "", {"fdata": [0.25], "shape": [3, 4], "layout": "HW"}
    yield [], "", {"idata": [5], "shape": []}
    yield [], "", {"fdata": [5.0], "shape": [2, 0]}
