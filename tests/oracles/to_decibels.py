# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""to_decibels, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, Tolerance

TOLERANCE = Tolerance(share=1e-6)  # the logarithm


def expected(
    inputs: list[Array],
    layout: str,
    cutoff_db: float = -200.0,
    multiplier: float = 10.0,
    reference: float | None = None,
) -> Array:
    data = inputs[0].astype(np.float64)
    full = float(np.float32(reference or 0)) or float(np.fmax.reduce(data, None, initial=0)) or 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        decibels = multiplier * np.log10(np.maximum(data, 0) / (full if full > 0 else 1.0))
    if np.isinf(full):  # infinity over infinity counts as little
        decibels[np.isinf(data)] = cutoff_db
    return np.maximum(decibels, cutoff_db).astype(np.float32)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for shape in ((), (1,), (300,), (65, 40), (0, 3), (2, 3, 4)):
        data = (10 ** rng.uniform(-30, 30, shape)).astype(np.float32)
        layout = "ft" if len(shape) == 2 else ""
        yield [data], layout, {}
        yield [data], layout, {"reference": 0.001}
        yield [data], layout, {"multiplier": 20.0, "cutoff_db": -80.0}
    yield [np.zeros((3, 4), np.float32)], "", {"cutoff_db": -60.0}
    yield [rng.uniform(-1, 1, (3, 40)).astype(np.float32)], "", {}
    yield [np.full(5, -1, np.float32)], "", {}
    for some in ([np.inf, 1e30, 1], [np.inf, np.nan, -np.inf], [1e30, 1e-30]):
        yield [np.array(some, np.float32)], "", {}
        yield [np.array(some, np.float32)], "", {"reference": np.inf, "cutoff_db": -90.0}
        yield [np.array(some, np.float32)], "", {"reference": 2.0}
    for places in (0, [2, 70, 5000], slice(None)):
        data = (10 ** rng.uniform(-3, 3, 9000)).astype(np.float32)
        data[places] = np.nan
        yield [data], "", {}
        yield [data.reshape(90, 100)], "ft", {"reference": 0.5}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    data = np.ones(3, np.float32)
    yield [data], "", {"reference": 0.0}, "argument 'reference' is 0, expected more than 0"
    yield [data], "", {"reference": -1.0}, "argument 'reference' is -1.0, expected at least 0"
    yield [data], "", {"reference": -0.0}, "argument 'reference' is 0, expected more than 0"
