# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""noise.gaussian: the draws of random.normal, added to the input."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import random_normal
from .chance import Chance
from .common import Array, Tolerance, numbers, to_dtype

TOLERANCE = Tolerance(levels=1, share=1e-6)  # the draws are rounded to single precision


def expected(
    inputs: list[Array], layout: str, *, chance: Chance, mean: float = 0.0, stddev: float = 1.0
) -> Array:
    data = inputs[0]
    drawn = random_normal.expected([], "", chance=chance, shape=data.shape).astype(np.float64)
    noise = float(np.float32(mean)) + float(np.float32(stddev)) * drawn
    return to_dtype(np.asarray(data.astype(np.float64) + noise), str(data.dtype))


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for dtype in ("uint8", "int16", "int32", "float32", "float64"):
        data = numbers(rng, (7, 9, 3), dtype)
        yield [data], "HWC", {}
        yield [data], "HWC", {"mean": 5.0, "stddev": 30.0}
    yield [numbers(rng, (11,), "float16")], "", {"stddev": 0.5}
    yield [numbers(rng, (0, 3), "uint8")], "", {}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    yield [np.zeros(3, np.int64)], "", {}, "bool, got int64 (3,)"  # not all are doubles
