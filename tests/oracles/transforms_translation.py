# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""transforms.translation, by NumPy; and what the other transforms share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .common import Array, Tolerance

TOLERANCE = Tolerance(share=1e-6)  # the order of the sums

Numbers = float | Sequence[float]


def single(values: Numbers) -> Array:
    """As the operator gets them: rounded to float32."""
    return np.float32(values).astype(np.float64).reshape(-1)


def affine(linear: Array, offset: Array) -> Array:
    """The map in homogeneous coordinates."""
    made = np.eye(len(linear) + 1)
    made[:-1, :-1], made[:-1, -1] = linear, offset
    return made


def about(linear: Array, center: Numbers | None) -> Array:
    """The linear map with another point that stays."""
    rank = len(linear)
    point = np.broadcast_to(single(0.0 if center is None else center), rank)
    return affine(linear, point - linear @ point)


def joined(own: Array, inputs: list[Array], reverse_order: bool) -> Array:
    if inputs:
        given = affine(inputs[0][:, :-1], inputs[0][:, -1])
        own = given @ own if reverse_order else own @ given
    return own[:-1].astype(np.float32)


def rank_of(inputs: list[Array], *lists: Numbers | None) -> int:
    sizes = [np.size(values) for values in lists if values is not None]
    return len(inputs[0]) if inputs else max(sizes, default=1)


def matrices(rng: np.random.Generator, rank: int) -> Iterator[tuple[list[Array], dict[str, Any]]]:
    """No input, and one before and behind the operator's own map."""
    matrix = rng.uniform(-2, 2, (rank, rank + 1)).astype(np.float32)
    yield [], {}
    yield [matrix], {}
    yield [matrix], {"reverse_order": True}


def expected(
    inputs: list[Array], layout: str, offset: Numbers = 0.0, reverse_order: bool = False
) -> Array:
    rank = rank_of(inputs, offset)
    return joined(affine(np.eye(rank), single(offset)), inputs, reverse_order)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for offset in ([1.5, -2.0], [1.0, 2.0, 3.0], [0.25] * 6):
        for inputs, order in matrices(rng, len(offset)):
            yield inputs, "", {"offset": offset, **order}
            if inputs:
                yield inputs, "", {"offset": 7.5, **order}
    yield [], "", {"offset": 3.0}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    matrix = np.zeros((2, 3), np.float32)
    yield [matrix], "", {"offset": [1.0] * 3}, "argument 'offset' has 3 values, expected 1 or 2"
    yield [matrix[:, :2]], "", {"offset": 1.0}, "expected (n, n + 1)"
    yield [], "", {"offset": [1.0] * 7}, "expected 1 to 6"
