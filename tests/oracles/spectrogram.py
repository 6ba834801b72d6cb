# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""spectrogram, by NumPy's padding and real transform in float64."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, Tolerance

TOLERANCE = Tolerance(share=3e-6)


def expected(
    inputs: list[Array],
    _: str,
    /,
    nfft: int | None = None,
    window_length: int = 512,
    window_step: int = 256,
    power: int = 2,
    window_fn: Any = None,
    center_windows: bool = True,
    reflect_padding: bool = True,
    layout: str = "ft",
) -> Array:
    signal = inputs[0].astype(np.float64).reshape(-1)
    size = nfft or window_length
    if window_fn is None:
        turns = (np.arange(window_length) + 0.5) / window_length
        weights = (1 - np.cos(2 * np.pi * turns)) / 2
    else:
        weights = np.asarray(window_fn, np.float32).astype(np.float64)
    count = 0
    if signal.size:
        count = 1 + (signal.size if center_windows else signal.size - window_length) // window_step
    if center_windows and signal.size:
        half = window_length // 2
        mode = "reflect" if reflect_padding and signal.size > 1 else "constant"
        if reflect_padding and signal.size == 1:
            mode = "edge"
        signal = np.pad(signal, (half, window_length), mode=mode)  # type: ignore[call-overload]
    windows = [
        signal[t * window_step : t * window_step + window_length] * weights
        for t in range(max(count, 0))
    ]
    spectra = np.zeros((len(windows), size // 2 + 1))
    for row, values in zip(spectra, windows, strict=True):
        row[:] = np.abs(np.fft.rfft(values, size)) ** power
    return np.ascontiguousarray(spectra.T if layout == "ft" else spectra).astype(np.float32)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    signal = rng.uniform(-1, 1, 3000).astype(np.float32)
    yield [signal], "", {}
    for shape in ((-1, 1), (1, -1), (1, 1, -1, 1)):
        yield [signal[:700].reshape(shape)], "", {"window_length": 60, "window_step": 7}
    yield [signal[:1].reshape(1, 1)], "", {"window_length": 8}
    yield [signal], "", {"nfft": 1024, "window_length": 400, "window_step": 160, "power": 1}
    yield [signal], "", {"layout": "tf", "window_length": 60, "window_step": 7}
    yield [signal], "", {"nfft": 77, "window_length": 77, "reflect_padding": False}
    yield [signal[:200]], "", {"nfft": 211, "window_length": 100, "center_windows": False}
    for length in (1, 2, 3, 4, 5, 8, 12, 30, 32, 49):
        yield [signal[:50]], "", {"window_length": length, "window_step": 3, "power": 1}
    weights = [0.25, -1.0, 2.0]
    yield [signal[:9]], "", {"window_length": 3, "window_step": 1, "window_fn": weights}
    # Signals that are shorter than a window, or than half of one.
    for count in (1, 2, 5):
        yield [signal[:count]], "", {"window_length": 16, "window_step": 4}
        yield [signal[:count]], "", {"window_length": 16, "center_windows": False}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    signal = np.zeros(9, np.float32)
    yield [signal], "", {"nfft": 4, "window_length": 8}, "'window_length' is 8, more than nfft, 4"
    yield [signal], "", {"layout": "ftf"}, "'layout' is 'ftf', expected 'ft' or 'tf'"
    weights = {"window_length": 3, "window_fn": [1.0]}
    yield [signal], "", weights, "'window_fn' has 1 value, expected 3"
    yield [signal.reshape(3, 3)], "", {}, "a signal with one axis, got (3, 3)"
    yield [signal[:0]], "", {}, "the signal has no values"
    yield [signal[:0].reshape(1, 0)], "", {"center_windows": False}, "the signal has no values"
    yield [signal[:0]], "", {"reflect_padding": False, "power": 1}, "the signal has no values"
