# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""reshape, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .common import Array, half_away, numbers, shortest


def new_shape(
    old: Sequence[int],
    shape: Sequence[int] | None,
    rel_shape: Sequence[float] | None,
    src_dims: Sequence[int] | None,
) -> list[int]:
    """The extents that are asked for; -1 becomes what fits."""
    if shape is not None:
        return list(shape)
    if rel_shape is None and src_dims is None:
        return list(old)
    sources = list(src_dims if src_dims is not None else range(len(rel_shape or ())))
    factors = list(rel_shape if rel_shape is not None else [1.0] * len(sources))
    extents = [old[i] if 0 <= i < len(old) else 1 for i in sources]
    return [
        -1 if f < 0 else half_away(shortest(f) * e) for f, e in zip(factors, extents, strict=True)
    ]


def expected(
    inputs: list[Array],
    layout_of_input: str,
    shape: Sequence[int] | None = None,
    rel_shape: Sequence[float] | None = None,
    src_dims: Sequence[int] | None = None,
    layout: str | None = None,
) -> Array:
    if len(inputs) == 2:
        shape = [int(e) for e in inputs[1]]
    return inputs[0].reshape(new_shape(inputs[0].shape, shape, rel_shape, src_dims))


def shapes() -> Iterator[dict[str, Any]]:
    """Arguments for a tensor of the shape (2, 3, 4)."""
    for shape in ([24], [-1], [4, -1], [2, 3, 4], [3, 2, 4], [2, 2, 3, 1, 2], [1, -1, 1, 1, 1, 1]):
        yield {"shape": shape}
    yield {"rel_shape": [0.5, 2, 1]}
    yield {"rel_shape": [1, -1]}
    yield {"rel_shape": [0.3, 1, -1]}
    yield {"rel_shape": [0.5, 1, 1, -1]}
    yield {"rel_shape": [0.5, 1, 1, 2]}
    yield {"rel_shape": [1, 1, 1, 1, 1, 1]}
    yield {"src_dims": [1, 0, 2]}
    yield {"src_dims": [1, 0, -1, 2]}
    yield {"src_dims": [2, 0], "rel_shape": [2, -1]}
    yield {"src_dims": [0, 1, 2], "layout": "ABC"}
    yield {"layout": "XYZ"}
    yield {"layout": ""}
    yield {"shape": [24], "layout": "X"}


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for dtype in ("uint8", "float32", "float64"):
        data = numbers(rng, (2, 3, 4), dtype)
        for arguments in shapes():
            yield [data], "HWC", arguments
    data = numbers(rng, (2, 3, 4), "int16")
    for dtype in ("int32", "uint8", "float32"):
        yield [data, np.array([6, 4], dtype)], "HWC", {}
    yield [data, np.array([-1, 12], np.int64)], "", {"layout": "HW"}
    yield [numbers(rng, (1, 1), "bool")], "", {"shape": []}
    yield [numbers(rng, (), "float16")], "", {"shape": [1, 1]}
    yield [numbers(rng, (0, 3), "uint8")], "HW", {"shape": [3, 0, 2]}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    data = np.zeros((2, 3, 4), np.uint8)
    several = np.array([4, 6], np.int32)
    yield [data], "", {}, "expects a new shape or layout"
    yield [data], "", {"shape": [5, 5]}, "24 bytes, and 25 in the new shape"
    yield [data], "", {"shape": [-1, -1]}, "only one extent of the new shape may be negative"
    yield [data], "", {"shape": [5, -1]}, "no multiple of the 5"
    yield [data, several], "", {"shape": [24]}, "exclude each other"
    yield [data], "", {"shape": [24], "src_dims": [0]}, "does not go with a shape"
    yield [data], "", {"rel_shape": [1, 1, 1, 2]}, "24 bytes, and 48 in the new shape"
    yield [data], "", {"src_dims": [0, 3]}, "argument 'src_dims' names axis 3 of the input"
    yield [data], "", {"rel_shape": [1, 24], "src_dims": [0]}, "expected as many"
    yield [data], "", {"shape": [24], "layout": "HW"}, "the new shape has 1 axes"
    yield [data], "", {"shape": [1, 1, 1, 1, 1, 1, 24]}, "expected at most 6"
