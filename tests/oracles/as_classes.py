# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""as_classes: the same numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, numbers

WHOLE = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64")


def expected(inputs: list[Array], layout: str) -> Array:
    del layout
    return np.array(inputs[0])


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for dtype in WHOLE:
        yield [numbers(rng, (3, 5), dtype)], "HW", {}
    for shape, layout in (((), ""), ((1,), ""), ((0, 4), ""), ((2, 3, 4, 1), "FHWC")):
        yield [numbers(rng, shape, "int16")], layout, {}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    for dtype in ("float32", "bool"):
        yield [np.zeros((2, 2), dtype)], "HW", {}, f"uint64, int64, got {dtype} HW (2, 2)"
