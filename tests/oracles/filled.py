# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What the oracles of ones and zeros share: shapes, dtypes, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import DTYPES, Array, numbers

Calls = Iterator[tuple[list[Array], str | list[str], dict[str, Any]]]


def shapes(rng: np.random.Generator) -> Calls:
    for dtype in DTYPES:
        for rank in range(1, 7):
            shape = [int(e) for e in rng.integers(0 if rank > 3 else 1, 5, rank)]
            yield [], "", {"shape": shape, "dtype": dtype}
    yield [], "", {}
    yield [], "", {"shape": 5}
    yield [], "", {"shape": [2, 3], "layout": "HW"}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    yield [], "", {"shape": [2], "layout": "HW"}, "argument 'layout' is 'HW', the shape is (2,)"


def tensors(rng: np.random.Generator) -> Calls:
    """Of which the shape counts."""
    for i, dtype in enumerate(DTYPES):
        yield [numbers(rng, (3, 2, 4)[: i % 4], dtype)], "", {}
        yield [numbers(rng, (5, 7, 3), "uint8")], "HWC", {"dtype": dtype}
    yield [numbers(rng, (0, 3), "uint8")], "HW", {}
