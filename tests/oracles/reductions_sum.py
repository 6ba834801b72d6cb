# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""reductions.sum, by NumPy in long double, and in Python's integers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, Tolerance, numbers, to_dtype
from .reducing import along

TOLERANCE = Tolerance()  # the rounding of floats; whole numbers are exact


def expected(inputs: list[Array], layout: str, dtype: str | None = None, **where: Any) -> Array:
    data = inputs[0]
    reduced = along(data, layout, **where)
    kind = data.dtype.kind
    if kind == "f":
        own = "float64" if data.dtype == np.float64 else "float32"
        exact = data.astype(np.longdouble).sum(**reduced).astype(np.float64)
        return to_dtype(np.asarray(exact), dtype or own)
    own = "int64" if kind == "i" else "uint64"
    wrapped = data.astype(own).sum(**reduced, dtype=own)
    return to_dtype(np.asarray(wrapped), dtype or own)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    some = ([], [0], [1], [2], [0, 1], [0, 2], [1, 2], [2, 0, 1])
    for dtype in ("uint8", "float32"):
        image = numbers(rng, (9, 70, 3), dtype)
        yield [image], "HWC", {}
        yield [image], "HWC", {"keep_dims": True}
        for axes in some:
            yield [image], "HWC", {"axes": axes}
        yield [image], "HWC", {"axes": [-1], "keep_dims": True}
        yield [image], "HWC", {"axis_names": "WH"}
        yield [image], "HWC", {"axis_names": "C", "keep_dims": True, "dtype": "float32"}
        for shape in ((5000, 3), (3, 5000), (4096,), (8193,), (31,), (33, 2)):
            yield [numbers(rng, shape, dtype)], "", {"axes": [0]}
            yield [numbers(rng, shape, dtype)], "", {"axes": [-1]}
        yield [numbers(rng, (0, 3), dtype)], "", {"axes": [0]}
        yield [numbers(rng, (0, 3), dtype)], "", {"axes": [1]}
        yield [numbers(rng, (0, 3), dtype)], "", {}
        yield [numbers(rng, (1, 1, 1), dtype)], "HWC", {"axes": [1]}
    for dtype in ("int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"):
        yield [numbers(rng, (7, 90), dtype)], "", {}
        yield [numbers(rng, (7, 90), dtype)], "", {"axes": [0], "dtype": "float32"}
        yield [numbers(rng, (7, 90), dtype)], "", {"axes": [1], "dtype": "int16"}
    for dtype in ("bool", "float16", "float64"):
        yield [numbers(rng, (7, 90), dtype)], "", {"axes": [1]}
        yield [numbers(rng, (7, 90), dtype)], "", {"dtype": "int32"}
    frames = numbers(rng, (3, 4, 5, 2), "uint8")
    yield [frames], "FHWC", {"axis_names": "FC"}
    yield [frames], "FHWC", {"axes": [1, 2], "dtype": "uint8"}
