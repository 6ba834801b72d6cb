# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""power_spectrum, by NumPy in double precision."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, Tolerance

TOLERANCE = Tolerance(share=1e-5)  # single precision


def expected(
    inputs: list[Array], layout: str, axis: int = -1, nfft: int | None = None, power: int = 2
) -> Array:
    spectra = np.fft.rfft(inputs[0].astype(np.float64), nfft, axis)
    return (np.abs(spectra) ** power).astype(np.float32)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for shape in ((8,), (7,), (1,), (300,), (16, 5), (3, 4, 6), (0, 5)):
        data = rng.uniform(-1, 1, shape).astype(np.float32)
        layout = "ft" if len(shape) == 2 else ""
        for nfft in (None, 4, 6, 31, 512):
            yield [data], layout, {"nfft": nfft}
        yield [data], layout, {"power": 1}
        if len(shape) > 1 and data.size:
            yield [data], layout, {"axis": 0}
            yield [data], layout, {"axis": 0, "nfft": 10, "power": 1}
            yield [data], layout, {"axis": -len(shape)}
    yield [rng.uniform(-1, 1, (3, 4, 6)).astype(np.float32)], "", {"axis": 1}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    yield [np.zeros((2, 3), np.float32)], "", {"axis": 2}, "argument 'axis' names axis 2 of"
    yield [np.zeros((2, 0), np.float32)], "", {}, "the axis has no values"
