# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""noise.shot, by a second sampler of the Poisson distribution."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .chance import Chance
from .common import Array, Tolerance, numbers, to_dtype

TOLERANCE = Tolerance(share=1e-6)  # the product with the factor


def _poisson(words: list[int], mean: float) -> float:
    """From the 64 draws of an element."""
    shares = [(w + 0.5) / 2**32 for w in words]
    if mean < 10:
        k, part = 0, math.exp(-mean)
        total = part
        while shares[0] > total and k < 100:
            k += 1
            part *= mean / k
            total += part
        return float(k)
    b = 0.931 + 2.53 * math.sqrt(mean)
    a = -0.059 + 0.02483 * b
    scale = 1.1239 + 1.1328 / (b - 3.4)
    for u, v in zip(shares[::2], shares[1::2], strict=True):
        rest = 0.5 - abs(u - 0.5)
        k = math.floor((2 * a / rest + b) * (u - 0.5) + mean + 0.43)
        if rest >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2):
            return float(k)
        if k < 0 or (rest < 0.013 and v > rest):
            continue
        bound = k * math.log(mean) - mean - math.lgamma(k + 1)
        if math.log(v * scale / (a / rest**2 + b)) <= bound:
            return float(k)
    return float(math.floor(mean))


def expected(inputs: list[Array], layout: str, *, chance: Chance, factor: float = 20.0) -> Array:
    data = inputs[0]
    by = float(np.float32(factor))
    flat = data.reshape(-1).astype(np.float64)
    noisy = np.zeros(flat.size)
    words = chance.words(64 * flat.size)
    for i, value in enumerate(flat):
        if value > 0 and by:
            noisy[i] = by * _poisson(words[64 * i : 64 * (i + 1)], value / by)
    return to_dtype(noisy.reshape(data.shape), str(data.dtype))


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for dtype in ("uint8", "int16", "float32"):
        data = numbers(rng, (4, 5, 3), dtype)
        yield [data], "HWC", {}
        yield [data], "HWC", {"factor": 0.5}
    yield [numbers(rng, (30,), "float64")], "", {"factor": 100.0}
    yield [rng.uniform(0, 400, 80).astype(np.float32)], "", {"factor": 10.0}
    yield [numbers(rng, (0, 3), "uint8")], "", {"factor": 0.0}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    yield [np.zeros(3, np.uint64)], "", {}, "bool, got uint64 (3,)"  # not all are doubles
