# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""SPDL: FFmpeg decodes, crops, resizes with antialiasing and flips."""

from __future__ import annotations

import importlib.metadata
import itertools
import random
from typing import Any

import numpy as np
import spdl.io
from _peer import BATCH, MEAN, SIZE, STD, Step, serve, window
from spdl.pipeline import PipelineBuilder

SCALE = 1 / np.float32(STD)
OFFSET = -np.float32(MEAN) * SCALE
ONE_THREAD = spdl.io.decode_config(decoder_options={"threads": "1"})  # for many decoders at once
rng = random.Random(1)


def load(path: str) -> Any:
    packets = spdl.io.demux_image(path)
    y, x, h, w = window(rng, packets.height, packets.width)
    flip = "hflip," if rng.random() < 0.5 else ""
    chain = f"crop={w}:{h}:{x}:{y},scale={SIZE}:{SIZE}:flags=bilinear,{flip}format=rgb24"
    return spdl.io.decode_packets(packets, decode_config=ONE_THREAD, filter_desc=chain)


def batch(frames: list[Any]) -> np.ndarray:
    pixels = spdl.io.to_numpy(spdl.io.convert_frames(frames))
    out = np.empty((len(pixels), 3, SIZE, SIZE), np.float32)
    for channel in range(3):
        np.multiply(pixels[..., channel], SCALE[channel], out=out[:, channel])
        out[:, channel] += OFFSET[channel]
    return out


def make(files: list[str], threads: int, _: str) -> Step:
    builder = PipelineBuilder().add_source(itertools.cycle(files)).pipe(load, concurrency=threads)
    pipeline = builder.aggregate(BATCH).pipe(batch).add_sink(2).build(num_threads=threads)
    pipeline.start()
    batches = pipeline.get_iterator()
    return lambda: next(batches)


serve(make, f"SPDL {importlib.metadata.version('spdl-core')} with FFmpeg", ahead=5)
