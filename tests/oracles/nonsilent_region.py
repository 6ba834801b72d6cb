# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""nonsilent_region, by sums over NumPy's sliding windows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array


def expected(
    inputs: list[Array],
    layout: str,
    cutoff_db: float = -60,
    reference_power: float = 0,
    window_length: int = 2048,
) -> list[Array]:
    sound = inputs[0].astype(np.float64)
    begin = length = 0
    if len(sound):
        window = min(window_length, len(sound))
        power = np.lib.stride_tricks.sliding_window_view(sound**2, window).mean(axis=1)
        full = np.float32(reference_power) or power.max()
        loud = np.flatnonzero(power >= full * 10 ** (np.float32(cutoff_db) / 10))
        if len(loud):
            begin, length = loud[0], loud[-1] + window - loud[0]
    return [np.array(begin, np.int32), np.array(length, np.int32)]


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for size, loud in ((0, (0, 0)), (1, (0, 1)), (100, (30, 45)), (5000, (1000, 4999))):
        sound = np.zeros(size)
        sound[slice(*loud)] = rng.uniform(-1, 1, loud[1] - loud[0])
        for dtype, factor in (("float32", 1), ("int16", 20000), ("uint8", 90), ("int64", 9999)):
            values = (np.abs(sound) if dtype == "uint8" else sound) * factor
            for window in (1, 7, 64, 2048):
                yield [values.astype(dtype)], "", {"window_length": window, "cutoff_db": -33.3}
        yield [sound.astype(np.float32)], "", {"reference_power": 0.5, "window_length": 5}
        noisy = (sound + rng.normal(0, 1e-4, size)).astype(np.float32)
        for cutoff in (-70.1, -50.1, -3.1):
            yield [noisy], "", {"cutoff_db": cutoff, "window_length": 11}
    burst = np.zeros(10000, np.float32)  # silence behind noise is silence
    burst[:5000] = rng.normal(0, 1e4, 5000)
    yield [burst], "", {"cutoff_db": -300.0, "window_length": 100}
    yield [np.float32([0, np.nan, 1])], "", {"window_length": 1}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    yield (
        [np.zeros((3, 1), np.float32)],
        "",
        {},
        "the input has the shape (3, 1), expected one axis",
    )
