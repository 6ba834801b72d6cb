# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The established library on the CPU with its best settings: decodes the window, resizes,
normalises.
"""

from __future__ import annotations

import nvidia.dali
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from _peer import BATCH, MEAN, SIZE, STD, Step, serve
from nvidia.dali import pipeline_def


@pipeline_def(batch_size=BATCH, device_id=None, prefetch_queue_depth=2)
def training(files: list[str]):
    jpegs, _ = fn.readers.file(files=files)
    pictures = fn.decoders.image_random_crop(jpegs, output_type=types.RGB)
    pictures = fn.resize(pictures, size=(SIZE, SIZE))
    return fn.crop_mirror_normalize(
        pictures,
        mirror=fn.random.coin_flip(),
        mean=MEAN,
        std=STD,
        dtype=types.FLOAT,
        output_layout="CHW",
    )


def make(files: list[str], threads: int, _: str) -> Step:
    pipe = training(files, num_threads=threads)
    pipe.build()
    return lambda: pipe.run()[0]


serve(make, f"NVIDIA DALI {nvidia.dali.__version__}, CPU", ahead=4)
