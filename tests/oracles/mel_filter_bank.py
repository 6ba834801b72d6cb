# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""mel_filter_bank, by a dense matrix in float64."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, Tolerance

TOLERANCE = Tolerance(share=3e-6)


def filters(
    bins: int, count: int, rate: float, low: float, high: float, formula: str, normalize: bool
) -> Array:
    """A row for each filter, a column for each frequency."""
    if formula == "htk":
        ends = 2595 * np.log10(1 + np.array([low, high]) / 700)
        edges = 700 * (10 ** (np.linspace(*ends, count + 2) / 2595) - 1)
    else:

        def to_mel(f: float) -> float:
            return f / 1000 * 15 if f < 1000 else 15 + 27 * float(np.log(f / 1000) / np.log(6.4))

        steps = np.linspace(to_mel(low), to_mel(high), count + 2)
        edges = np.where(steps < 15, steps * 1000 / 15, 1000 * 6.4 ** ((steps - 15) / 27))
    f = np.linspace(0, rate / 2, bins) if bins > 1 else np.zeros(bins)
    begin, middle, end = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    rows = np.maximum(0, np.minimum((f - begin) / (middle - begin), (end - f) / (end - middle)))
    return np.asarray(rows * 2 / (end - begin) if normalize else rows)


def expected(
    inputs: list[Array],
    layout: str,
    nfilter: int = 128,
    sample_rate: float = 44100.0,
    freq_low: float = 0.0,
    freq_high: float = 0.0,
    mel_formula: str = "slaney",
    normalize: bool = True,
) -> Array:
    data = inputs[0].astype(np.float64)
    axis = layout.index("f") if layout else max(data.ndim - 2, 0)
    high = freq_high or sample_rate / 2
    bins = data.shape[axis]
    matrix = filters(bins, nfilter, sample_rate, freq_low, high, mel_formula, normalize)
    summed = np.tensordot(matrix, data, (1, axis))
    return np.ascontiguousarray(np.moveaxis(summed, 0, axis)).astype(np.float32)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    def spectra(*shape: int) -> list[Array]:
        return [rng.uniform(0, 50, shape).astype(np.float32)]

    yield spectra(257, 130), "ft", {}
    yield spectra(130, 257), "tf", {"sample_rate": 16000.0, "nfilter": 80}
    yield spectra(201, 65), "ft", {"sample_rate": 16000.0, "nfilter": 40, "mel_formula": "htk"}
    yield spectra(201, 64), "", {"normalize": False, "nfilter": 23, "sample_rate": 8000.0}
    yield spectra(513, 7), "ft", {"freq_low": 20.0, "freq_high": 7600.0, "sample_rate": 22050.0}
    yield spectra(100, 9), "ft", {"freq_low": 1200.0, "freq_high": 1300.0, "mel_formula": "htk"}
    yield spectra(300), "", {"nfilter": 5}
    yield spectra(300), "f", {"nfilter": 1, "sample_rate": 100.0}
    yield spectra(3, 65, 10), "Cft", {"nfilter": 12}
    yield spectra(65, 3, 10), "fCt", {"nfilter": 12, "freq_low": 999.5}
    yield spectra(2, 3, 65, 10), "", {"nfilter": 12, "normalize": False, "mel_formula": "htk"}
    # More filters than frequencies, few frequencies, and nothing.
    yield spectra(9, 4), "ft", {"nfilter": 30}
    for bins in (0, 1, 2, 3):
        yield spectra(bins, 4), "ft", {"nfilter": 3}
    yield spectra(20, 0), "ft", {"nfilter": 3}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    spectra = np.zeros((9, 4), np.float32)
    high = {"sample_rate": 100.0, "freq_high": 51.0}
    yield [spectra], "ft", high, "'freq_high' is 51.0, more than half of sample_rate, 50.0"
    low = {"freq_low": 400.0, "freq_high": 400.0}
    yield [spectra], "ft", low, "'freq_low' is 400.0, expected less than freq_high, 400.0"
    yield [spectra], "HW", {}, "the input needs an axis f, its layout is 'HW'"
    yield [spectra[0, 0]], "", {}, "the input is one number, expected spectra"
