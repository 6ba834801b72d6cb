# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""preemphasis_filter, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, Tolerance, numbers, to_dtype

TOLERANCE = Tolerance(levels=1, share=1e-5)  # single precision


def expected(
    inputs: list[Array],
    layout: str,
    border: str = "clamp",
    dtype: str = "float32",
    preemph_coeff: float = 0.97,
) -> Array:
    signal = inputs[0].reshape(-1).astype(np.float64)
    first = {"zero": np.zeros(1), "clamp": signal[:1], "reflect": signal[1:2]}[border]
    if first.size == 0:
        first = signal[:1]
    before = np.concatenate([first, signal[:-1]])[: signal.size]
    return to_dtype((signal - preemph_coeff * before).reshape(inputs[0].shape), dtype)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for dtype in ("float32", "int16", "uint8", "float64"):
        for shape in ((500,), (1,), (7, 13), (0,), (2, 3, 4)):
            data = numbers(rng, shape, dtype)
            layout = "ft" if len(shape) == 2 else ""
            for border in ("clamp", "zero", "reflect"):
                yield [data], layout, {"border": border}
            yield [data], layout, {"preemph_coeff": 0.5, "dtype": "int16"}
    yield [numbers(rng, (), "float32")], "", {"border": "zero", "preemph_coeff": 0.0}
