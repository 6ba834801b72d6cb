# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""transforms.scale, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, Tolerance
from .transforms_translation import Numbers, about, joined, matrices, rank_of, single

TOLERANCE = Tolerance(share=1e-6)  # the order of the sums


def expected(
    inputs: list[Array],
    layout: str,
    scale: Numbers = 1.0,
    center: Numbers | None = None,
    ndim: int | None = None,
    reverse_order: bool = False,
) -> Array:
    rank = rank_of(inputs, scale, center)
    rank = ndim if ndim and rank == 1 else rank
    linear = np.eye(rank) * single(scale)
    return joined(about(linear, center), inputs, reverse_order)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for scale in ([1.5, -2.0], [1.0, 2.0, 3.0]):
        rank = len(scale)
        for inputs, order in matrices(rng, rank):
            yield inputs, "", {"scale": scale, **order}
            yield inputs, "", {"scale": scale, "center": [5.0, 0.5, 7.0][:rank], **order}
            yield inputs, "", {"scale": 0.5, "center": [5.0, 0.5, 7.0][:rank], **order}
            yield inputs, "", {"scale": 0.5, "ndim": rank, "center": 2.0, **order}
    yield [], "", {"scale": 3.0}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    words = "argument 'center' has 3 values, expected 1 or 2"
    yield [], "", {"scale": [1.0, 2.0], "center": [1.0] * 3}, words
