# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Stoker: decode the window, resize, flip, normalise, float32 CHW."""

from __future__ import annotations

from collections.abc import Callable

from _peer import BATCH, MEAN, SIZE, STD, serve

from stoker import fn, pipeline_def, types


@pipeline_def(batch_size=BATCH, prefetch_queue_depth=2)
def training(folder: str):
    jpegs, labels = fn.readers.file(
        file_root=folder, random_shuffle=True, epoch_end="pad", name="reader"
    )
    images = fn.decoders.image(jpegs)
    images = fn.random_resized_crop(images, size=(SIZE, SIZE))
    images = fn.crop_mirror_normalize(
        images,
        mirror=fn.random.coin_flip(),
        mean=MEAN,
        std=STD,
        dtype=types.FLOAT,
        output_layout="CHW",
    )
    return images, labels


def make(folder: str, threads: int) -> Callable[[], int]:
    pipe = training(folder, num_threads=threads)
    pipe.build()

    def epoch() -> int:
        return sum(len(images) for images, _ in pipe)

    return epoch


serve(make)
