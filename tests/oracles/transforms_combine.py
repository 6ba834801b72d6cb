# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""transforms.combine, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, Tolerance
from .transforms_translation import affine

TOLERANCE = Tolerance(share=1e-6)  # the order of the sums


def expected(inputs: list[Array], layout: str, reverse_order: bool = False) -> Array:
    maps = [affine(m[:, :-1], m[:, -1]) for m in inputs]
    made = np.eye(len(maps[0]))
    for m in maps:
        made = made @ m if reverse_order else m @ made
    return made[:-1].astype(np.float32)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for rank in (1, 2, 3, 6):
        for count in (1, 2, 3, 5):
            maps = [rng.uniform(-2, 2, (rank, rank + 1)).astype(np.float32) for _ in range(count)]
            yield maps, "", {}
            yield maps, "", {"reverse_order": True}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    flat, solid = np.zeros((2, 3), np.float32), np.zeros((3, 4), np.float32)
    yield [flat, solid], "", {}, "a map has 3 dimensions, another one 2"
    yield [flat[:, :2]], "", {}, "expected (n, n + 1)"
