# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""mfcc, by SciPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.fft import dct

from .common import Array, Tolerance

TOLERANCE = Tolerance(share=1e-5)  # single precision


def expected(
    inputs: list[Array],
    layout: str,
    axis: int = 0,
    dct_type: int = 2,
    lifter: float = 0.0,
    n_mfcc: int = 20,
    normalize: bool = False,
) -> Array:
    data = np.moveaxis(inputs[0].astype(np.float64), axis, -1)
    made = dct(data, dct_type, norm="ortho" if normalize else None)[..., :n_mfcc]
    made = made if normalize else made / 2
    if lifter:
        made = made * (1 + lifter / 2 * np.sin(np.pi * np.arange(1, made.shape[-1] + 1) / lifter))
    return np.ascontiguousarray(np.moveaxis(made, -1, axis)).astype(np.float32)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for shape, layout in (((80, 40), "ft"), ((5, 3), ""), ((24,), ""), ((3, 7, 4), "")):
        data = rng.uniform(-80, 0, shape).astype(np.float32)
        for kind in (1, 2, 3, 4):
            yield [data], layout, {"dct_type": kind}
            if kind > 1:
                yield [data], layout, {"dct_type": kind, "normalize": True, "n_mfcc": 13}
        yield [data], layout, {"lifter": 22.0}
        if len(shape) > 1:
            yield [data], layout, {"axis": 1, "n_mfcc": 2}
    yield [np.ones((1, 4), np.float32)], "", {"normalize": True}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    data = np.zeros((1, 3), np.float32)
    words = "argument 'normalize' does not go with 'dct_type' 1"
    yield [data], "", {"dct_type": 1, "normalize": True}, words
    yield [data], "", {"dct_type": 1}, "the axis 0 has 1 values, expected more"
    yield [data], "", {"axis": 2}, "argument 'axis' names axis 2 of a tensor of 2 axes"
