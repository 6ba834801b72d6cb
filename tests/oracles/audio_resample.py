# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""audio_resample: every weight computed in float64, and multiplied as a matrix."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np

from .common import Array, Tolerance, full, numbers, to_dtype

TOLERANCE = Tolerance(levels=1, share=2e-6)


def resample(signal: Array, length: int, scale: float, quality: float = 50.0) -> Array:
    """The signal (frames, channels) in float64."""
    lobes = floor(0.007 * quality * quality - 0.09 * quality + 3 + 0.5)
    at = np.arange(length)[:, None] / scale
    out = np.zeros((length, signal.shape[1]))
    first = np.floor(at).astype(int)
    for k in range(-lobes, lobes + 2):
        t = first + k - at
        weights = np.sinc(t) * (1 + np.cos(np.pi * t / lobes)) / 2 * (np.abs(t) <= lobes)
        place = (first + k)[:, 0]
        inside = (place >= 0) & (place < len(signal))
        out[inside] += weights[inside] * signal[place[inside]]
    return out


def is_unsigned(dtype: str) -> bool:
    return dtype.startswith("uint")


def expected(
    inputs: list[Array],
    layout: str,
    scale: float | None = None,
    in_rate: float | None = None,
    out_rate: float | None = None,
    out_length: int | None = None,
    quality: float = 50.0,
    dtype: str | None = None,
) -> Array:
    del layout
    signal = inputs[0]
    count = len(signal)
    if out_length is not None:
        length, ratio = out_length, out_length / count if count else 1.0
    else:
        given = (scale, 1) if in_rate is None else (out_rate, in_rate)
        to, of = (Fraction(float(np.float32(rate))) for rate in given)
        length, ratio = ceil(count * to / of), float(to / of)
    to = dtype or str(signal.dtype)
    wide = (signal if signal.ndim == 2 else signal[:, None]).astype(np.float64)
    most = full(str(signal.dtype))
    if is_unsigned(str(signal.dtype)) and not is_unsigned(to):
        wide = 2 * wide - most
    elif is_unsigned(to) and not is_unsigned(str(signal.dtype)):
        wide = (wide + most) / 2
    made = resample(wide, length, ratio, quality) * (full(to) / most)
    made = made.reshape((length, *signal.shape[1:]))
    return to_dtype(made.astype(np.float32), to)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    signal = rng.uniform(-1, 1, 700).astype(np.float32)
    yield [signal], "", {"scale": 0.5}
    yield [signal], "", {"scale": 1.0}
    yield [signal], "t", {"in_rate": 44100.0, "out_rate": 16000.0}
    yield [signal[:441]], "", {"in_rate": 44100.0, "out_rate": 16000.0}
    yield [signal], "", {"in_rate": 16000.0, "out_rate": 44100.0, "quality": 100.0}
    yield [signal], "", {"scale": 3.7, "quality": 0.0}
    yield [signal], "", {"scale": 0.03, "quality": 10.0}
    yield [signal], "", {"out_length": 333}
    yield [signal.reshape(350, 2)], "", {"scale": 1.3, "quality": 70.0}
    yield [signal.reshape(100, 7)], "tC", {"out_length": 41}
    yield [numbers(rng, (90, 3), "int16")], "", {"scale": 1.9}
    yield [numbers(rng, (90,), "uint8")], "", {"scale": 0.7, "dtype": "int16"}
    yield [numbers(rng, (90,), "int16")], "", {"scale": 1.1, "dtype": "float32"}
    yield [signal / 2], "", {"scale": 0.9, "dtype": "int16"}
    yield [signal], "", {"scale": 1.9, "dtype": "uint8"}
    yield [numbers(rng, (90, 2), "int8")], "", {"scale": 0.7, "dtype": "uint16"}
    yield [numbers(rng, (90,), "uint16")], "", {"scale": 1.2, "dtype": "float32"}
    yield [numbers(rng, (90,), "uint8")], "", {"scale": 1.2, "dtype": "uint16"}
    for count in (0, 1, 2, 5):
        yield [signal[:count]], "", {"scale": 2.5}
        yield [signal[:count]], "", {"out_length": 7}
    yield [signal[:9]], "", {"out_length": 0}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    signal = np.zeros(9, np.float32)
    yield [signal], "", {}, "give one of scale, of in_rate with out_rate, and of out_length"
    yield [signal], "", {"scale": 2.0, "out_length": 3}, "give one of scale"
    yield [signal], "", {"in_rate": 2.0}, "'in_rate' and 'out_rate' go together"
    yield [signal], "", {"scale": 0.0}, "the new rate is 0.0 of the old one"
    yield [signal.reshape(1, 3, 3)], "", {"scale": 2.0}, "a signal with one axis, or two"
    yield [signal > 0], "", {"scale": 2.0}, "not of BOOL"
