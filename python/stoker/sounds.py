# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Writing sounds to files, to listen to what a pipeline makes."""

from __future__ import annotations

import os
import struct
from typing import Any

from stoker import _core

__all__ = ["save"]

_PCM, _FLOAT = 1, 3


def save(path: str | os.PathLike[str], samples: Any, rate: float) -> None:
    """Writes one sound as WAV.

    ``samples`` is a sample of a batch, on any device, or anything that NumPy takes as an array: of
    the shape (frames,) or (frames, channels), and int16, int32, float32 or float64. ``rate`` is the
    number of frames a second. Raises ValueError for all else.
    """
    import numpy

    if isinstance(samples, _core.Tensor):
        samples = samples.as_cpu()
    array = numpy.asarray(samples)
    if array.dtype not in ("int16", "int32", "float32", "float64"):
        raise ValueError(f"WAV does not hold {array.dtype}, expected int16, int32 or floats")
    if array.ndim not in (1, 2):
        raise ValueError(f"the shape is {array.shape}, expected (frames,) or (frames, channels)")
    channels = array.shape[1] if array.ndim == 2 else 1
    if not 1 <= channels < 2**16 or not 1 <= round(rate) < 2**32:
        raise ValueError(f"a WAV cannot have {channels} channels and {rate} frames a second")
    data = array.astype(array.dtype.newbyteorder("<")).tobytes()
    if len(data) > 2**32 - 64:
        raise ValueError(f"the sound has {len(data)} bytes, more than fit into a WAV")
    frame = channels * array.itemsize
    header = struct.pack(
        "<HHIIHH",
        _FLOAT if array.dtype.kind == "f" else _PCM,
        channels,
        round(rate),
        (round(rate) * frame) % 2**32,
        frame,
        8 * array.itemsize,
    )
    body = b"WAVE" + _chunk(b"fmt ", header) + _chunk(b"data", data)
    with open(path, "wb") as file:
        file.write(_chunk(b"RIFF", body))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)
