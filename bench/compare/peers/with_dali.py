# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The established library on the CPU at its best setting: window decoded, resized, normalised."""

from __future__ import annotations

from collections.abc import Callable

import nvidia.dali.fn as fn
import nvidia.dali.types as types
from _peer import BATCH, MEAN, SIZE, STD, images, serve
from nvidia.dali import pipeline_def


@pipeline_def(batch_size=BATCH, device_id=None, prefetch_queue_depth=2)
def training(folder: str):
    jpegs, labels = fn.readers.file(
        file_root=folder, random_shuffle=True, pad_last_batch=True, name="reader"
    )
    pictures = fn.decoders.image_random_crop(jpegs, output_type=types.RGB)
    pictures = fn.resize(pictures, size=(SIZE, SIZE))
    pictures = fn.crop_mirror_normalize(
        pictures,
        mirror=fn.random.coin_flip(),
        mean=MEAN,
        std=STD,
        dtype=types.FLOAT,
        output_layout="CHW",
    )
    return pictures, labels


def make(folder: str, threads: int) -> Callable[[], int]:
    pipe = training(folder, num_threads=threads)
    pipe.build()
    steps = -(-len(images(folder)) // BATCH)

    def epoch() -> int:
        made = 0
        for _ in range(steps):
            made += len(pipe.run()[0])
        return made

    return epoch


serve(make)
