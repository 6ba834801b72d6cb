# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""transforms.crop, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, Tolerance
from .transforms_translation import Numbers, affine, joined, matrices, rank_of, single

TOLERANCE = Tolerance(share=1e-6)  # the order of the sums


def expected(
    inputs: list[Array],
    layout: str,
    from_start: Numbers = 0.0,
    from_end: Numbers = 1.0,
    to_start: Numbers = 0.0,
    to_end: Numbers = 1.0,
    absolute: bool = False,
    reverse_order: bool = False,
) -> Array:
    rank = rank_of(inputs, from_start, from_end, to_start, to_end)
    ends = [np.broadcast_to(single(e), rank) for e in (from_start, from_end, to_start, to_end)]
    if absolute:
        ends = [*np.sort(ends[:2], 0), *np.sort(ends[2:], 0)]
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = (ends[3] - ends[2]) / (ends[1] - ends[0])
        own = affine(np.diag(factor), ends[2] - factor * ends[0])
        return joined(own, inputs, reverse_order)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    box = {"from_start": [1.0, 2.0], "from_end": [3.0, 7.0]}
    other = {"to_start": [0.25, 8.0], "to_end": [0.5, 1.0]}
    for inputs, order in matrices(rng, 2):
        yield inputs, "", {**box, **order}
        yield inputs, "", {**other, **order}
        yield inputs, "", {**box, **other, **order}
        yield inputs, "", {**box, **other, "absolute": True, **order}
    yield [], "", {"to_end": [2.0, 3.0, 4.0], "from_start": 4.0, "absolute": True}
    for flat in ({"from_start": [1.0, 2.0], "from_end": [1.0, 3.0]}, {"from_end": 0.0}):
        yield [], "", {**flat, **other}
        yield [], "", {**flat, "to_end": 0.0}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    two = {"from_start": [3.0, 3.0], "to_end": [1.0] * 3}
    yield [], "", two, "argument 'to_end' has 3 values, expected 1 or 2"
