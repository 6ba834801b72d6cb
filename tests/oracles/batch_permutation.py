# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""batch_permutation: Fisher and Yates, again until nothing is left at its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .chance import Chance
from .common import Array, numbers
from .mixing import ORDER, Cursor, permutation


def expected_batch(
    samples: list[list[Array]],
    layout: str,
    *,
    chances: Sequence[Chance],
    allow_repetitions: bool = False,
    no_fixed_points: bool = False,
) -> list[list[Array]]:
    del layout
    n, draws = len(samples), Cursor(chances[0], ORDER)
    moves = no_fixed_points and n > 1
    if allow_repetitions:
        order = []
        for i in range(n):
            k = draws.below(n - moves)
            order.append(k + (moves and k >= i))
    else:
        order = permutation(draws, n)
        while moves and any(i == k for i, k in enumerate(order)):
            order = permutation(draws, n)
    return [[np.array(k, np.int32)] for k in order]


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for repeats in (False, True):
        for moves in (False, True):
            yield [], "", {"allow_repetitions": repeats, "no_fixed_points": moves}
    yield [numbers(rng, (4, 3), "uint8")], "HW", {"no_fixed_points": True}


def generate_batches(rng: np.random.Generator) -> Iterator[tuple[list[list[Array]], str, Any]]:
    for n in (1, 2, 3, 16):
        for repeats in (False, True):
            for moves in (False, True):
                batch = [[numbers(rng, (2,), "float32")] for _ in range(n)]
                yield batch, "", {"allow_repetitions": repeats, "no_fixed_points": moves}
