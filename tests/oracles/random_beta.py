# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""random.beta: the share that one of two draws from gamma distributions has of their sum."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .chance import Chance, shape_asked
from .common import Array, Tolerance

TOLERANCE = Tolerance(share=1e-6)


def _log_of_gamma(words: Iterator[int], shape: float) -> float:
    """By the method of Marsaglia and Tsang (2000)."""
    d = (shape + 1 if shape < 1 else shape) - 1 / 3
    while True:
        first, second, third = next(words), next(words), next(words)
        radius = math.sqrt(-2 * math.log((first + 0.5) / 2**32))
        x = radius * math.cos(2 * math.pi * second / 2**32)
        v = (1 + x / math.sqrt(9 * d)) ** 3
        if v > 0 and (
            d > 1e10 or math.log((third + 0.5) / 2**32) < x * x / 2 + d * (1 - v + math.log(v))
        ):
            break
    log = math.log(d * v)
    return log + math.log((next(words) + 0.5) / 2**32) / shape if shape < 1 else log


def expected(
    inputs: list[Array],
    layout: str,
    *,
    chance: Chance,
    alpha: float = 1.0,
    beta: float = 1.0,
    shape: Any = None,
    dtype: str = "float32",
) -> Array:
    extents = shape_asked(inputs, shape)
    drawn = []
    for k in range(int(np.prod(extents, dtype=np.int64))):
        words = iter(chance.words(64, 64 * k))
        a, b = (_log_of_gamma(words, float(np.float32(p))) for p in (alpha, beta))
        drawn.append(0.0 if b - a > 700 else 1 / (1 + math.exp(b - a)))
    return np.array(drawn).reshape(extents).astype(dtype)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    yield [], "", {}
    for alpha, beta in ((0.2, 0.2), (1.0, 1.0), (0.5, 3.0), (50.0, 7.0), (0.01, 0.02)):
        yield [], "", {"alpha": alpha, "beta": beta, "shape": [9, 3]}
    for alpha, beta in ((1e7, 1e7), (3e38, 1.0), (1e30, 3e30)):
        yield [], "", {"alpha": alpha, "beta": beta, "shape": [5], "dtype": "float64"}
    yield [], "", {"shape": [5], "dtype": "float64", "alpha": 2.0}
    yield [np.zeros((2, 3), np.uint8)], "HW", {"beta": 0.4}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    yield [], "", {"beta": float("inf")}, "are 1.0 and inf, expected finite numbers"
    yield [], "", {"alpha": 0.0}, "are 0.0 and 1.0, expected finite numbers"
    yield [], "", {"dtype": "uint8"}, "argument 'dtype' is uint8, expected float32 or float64"
