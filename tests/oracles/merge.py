# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""merge, by Python's own conditional."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import DTYPES, Array, numbers


def expected(inputs: list[Array], layout: str) -> Array:
    del layout
    return inputs[0] if inputs[2] else inputs[1]


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for k, dtype in enumerate(DTYPES):
        sides = [numbers(rng, (3, 5), dtype), numbers(rng, (4, 2), dtype)]
        yield [*sides, np.array(k % 2 == 0)], "HW", {}
    for predicate in (np.uint8(0), np.int64(-7), np.float32(0.25)):
        sides = [numbers(rng, (2, 3, 1), "int16"), numbers(rng, (0, 3, 1), "int16")]
        yield [*sides, np.array(predicate)], "HWC", {}
