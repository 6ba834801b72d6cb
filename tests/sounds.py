# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Encoded sounds for tests, and what the decoder makes of them."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import soundfile

from helpers import Array, make, samples_of
from pictures import source
from stoker import fn
from stoker.errors import SampleError

RATE = 16000


def sound(frames: int, channels: int) -> Array:
    t = np.arange(frames)[:, None] / RATE
    pitches = 220 * (np.arange(channels) + 1)
    return (0.6 * np.sin(2 * np.pi * pitches * t) * np.exp(-3 * t)).astype(np.float32)


def file_of(values: Array, format_: str, subtype: str | None = None) -> bytes:
    file = io.BytesIO()
    soundfile.write(file, values, RATE, format=format_, subtype=subtype)
    return file.getvalue()


def decode(
    files: Sequence[bytes], then: Callable[[Any], Any] = lambda samples: samples, **arguments: Any
) -> list[tuple[Array, float]]:
    """The samples of each file, after `then`, and its rate."""

    def define() -> Any:
        encoded = fn.external_source(source(files), batch=False)
        samples, rate = fn.decoders.audio(encoded, **arguments)
        return then(samples), rate

    pipe = make(define)
    made = []
    for _ in files:
        ((samples, rate),) = samples_of(pipe.run())
        made.append((samples, float(rate)))
    return made


def error_of(file: bytes, graph: Callable[[Any], Any] = fn.decoders.audio) -> str:
    def define() -> Any:
        made = graph(fn.external_source(source([file]), batch=False))
        return tuple(made) if isinstance(made, list | tuple) else made

    with pytest.raises(SampleError) as caught:
        make(define).run()
    return str(caught.value)
