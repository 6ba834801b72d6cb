# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""random.choice, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .chance import Chance, shape_asked
from .common import Array, numbers


def expected(
    inputs: list[Array],
    layout: str,
    *,
    chance: Chance,
    p: Sequence[float] | None = None,
    shape: Any = None,
) -> Array:
    extents = shape_asked(inputs[1:], shape)
    count = int(np.prod(extents, dtype=np.int64))
    if not inputs[0].ndim and inputs[0] > 2**32:  # more than a word has values
        words = chance.words(2 * count)
        draws = [low + (high << 32) for low, high in zip(words[::2], words[1::2], strict=True)]
        chosen = [draw * int(inputs[0]) >> 64 for draw in draws]
        return np.array(chosen, inputs[0].dtype).reshape(extents)
    items = inputs[0] if inputs[0].ndim else np.arange(inputs[0], dtype=inputs[0].dtype)
    words = np.array(chance.words(count), np.uint64)
    if p is None or len(p) == 1:
        index = (words * np.uint64(len(items))) >> np.uint64(32)
    else:
        ends = np.cumsum(np.float32(p).astype(np.float64))
        index = np.searchsorted((ends / ends[-1])[:-1], words / 2.0**32, side="right")
    return np.asarray(items[index.astype(np.int64)].reshape(extents + items.shape[1:]))


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for dtype in ("int32", "uint8", "int64"):
        yield [np.array(7, dtype)], "", {"shape": [40, 3]}
        yield [np.array(4, dtype)], "", {"shape": [40, 3], "p": [0.25]}
    for most in (2**32 + 1, 2**33, 3 * 10**12, 2**63 - 1):
        yield [np.array(most, np.int64)], "", {}
        yield [np.array(most, np.int64)], "", {"shape": [50, 3]}
    for dtype in ("float32", "int16", "bool"):
        for shape in ((1,), (9,), (4, 2), (3, 2, 5)):
            items = numbers(rng, shape, dtype)
            yield [items], "", {}
            yield [items], "", {"shape": [13]}
            shares = rng.uniform(0, 1, shape[0])
            yield [items], "", {"shape": [3, 7], "p": (shares / shares.sum()).tolist()}
    yield [numbers(rng, (5, 2), "uint8"), np.zeros(6, np.float32)], "HW", {"p": [0, 0.5, 0, 0.5, 0]}
    yield [np.array(3, np.int32)], "", {"shape": [0]}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    items = np.zeros(3, np.float32)
    yield [items], "", {"p": [0.5, 0.5]}, "argument 'p' has 2 values, expected 1 or 3"
    yield [items], "", {"p": [0.5, 0.5, 0.5]}, "the sum of argument 'p' is 1.5, expected 1"
    yield [np.array(0, np.int32)], "", {}, "there are 0 elements to choose from"
    yield [np.array(2.5, np.float32)], "", {}, "expected a whole number or a list"
    yield [items, items], "", {"shape": [2]}, "argument 'shape' and an input exclude each other"
