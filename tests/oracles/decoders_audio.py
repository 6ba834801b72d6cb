# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""decoders.audio, by soundfile; resampled by the oracle of audio_resample."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from io import BytesIO
from math import ceil
from typing import Any

import numpy as np
import soundfile

from .audio_resample import resample
from .common import Array, Tolerance, to_dtype

TOLERANCE = Tolerance(levels=1, share=2e-6)


def expected(
    inputs: list[Array],
    layout: str,
    sample_rate: float = 0.0,
    quality: float = 50.0,
    downmix: bool = False,
    dtype: str = "float32",
) -> list[Array]:
    del layout
    file = BytesIO(inputs[0].tobytes())
    exact, rate = soundfile.read(file, dtype="float64", always_2d=True)
    if downmix:
        exact = exact.mean(axis=1, keepdims=True)
    if sample_rate and sample_rate != rate:
        length = ceil(len(exact) * Fraction(sample_rate) / rate)
        exact = resample(exact, length, sample_rate / rate, quality)
    if np.dtype(dtype).kind == "i":
        exact = exact * 2.0 ** (8 * np.dtype(dtype).itemsize - 1)
    samples = to_dtype(exact, dtype) if dtype != "float32" else exact.astype(np.float32)
    return [samples[:, 0] if downmix else samples, np.float32(sample_rate or rate)]


def encoded(rng: np.random.Generator) -> Iterator[Array]:
    for format_, subtype, channels, frames in (
        ("WAV", "PCM_16", 2, 400),
        ("WAV", "PCM_24", 1, 300),
        ("WAV", "FLOAT", 3, 90),
        ("FLAC", "PCM_16", 1, 5000),
        ("AIFF", "PCM_16", 2, 77),
    ):
        file = BytesIO()
        values = rng.uniform(-0.9, 0.9, (frames, channels))
        soundfile.write(file, values, 16000, format=format_, subtype=subtype)
        yield np.frombuffer(file.getvalue(), np.uint8)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for i, file in enumerate(encoded(rng)):
        yield [file], "", {}
        yield [file], "", {"downmix": True}
        yield [file], "", {"dtype": ("int16", "int32")[i % 2]}
        yield [file], "", {"sample_rate": (8000.0, 22050.0)[i % 2], "quality": 20.0}
        yield [file], "", {"sample_rate": 11025.0, "downmix": True, "dtype": "int16"}
        yield [file], "", {"sample_rate": 16000.0}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    file = next(encoded(np.random.default_rng(0)))
    yield [file], "", {"dtype": "uint8"}, "'dtype' is uint8, expected FLOAT, INT16 or INT32"
    yield [file.reshape(1, -1)], "", {}, "input 'encoded' has one axis"
    yield [file[:20]], "", {}, "cannot read the header of the sound"
    yield [np.arange(9, dtype=np.uint8)], "", {}, "not a sound that can be decoded"
