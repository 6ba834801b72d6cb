# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Stoker: decodes the window, resizes, flips, normalises, float32 CHW. Variants give other types,
or keep no indexes of JPEG files.

limit/windows.cc depends on the seed and the names of the random nodes.
"""

from __future__ import annotations

from typing import Any

from _peer import BATCH, MEAN, SIZE, STD, Step, serve

from stoker import Pipeline, fn, pipeline_def, types

# What follows the resize. A second float32 is there to race Stoker against itself.
AS_FLOAT32 = {"mean": MEAN, "std": STD, "dtype": types.FLOAT, "output_layout": "CHW"}
ENDINGS: dict[str, dict[str, Any]] = {
    "float32": AS_FLOAT32,
    "again": AS_FLOAT32,
    "unindexed": AS_FLOAT32,
    "float16": {**AS_FLOAT32, "dtype": types.FLOAT16},
    "uint8": {"dtype": types.UINT8, "output_layout": "HWC"},
}
pipes: list[Pipeline] = []


@pipeline_def(batch_size=BATCH, prefetch_queue_depth=2, seed=1)
def training(files: list[str], variant: str):
    jpegs, _ = fn.readers.file(files=files)
    images = fn.decoders.image(jpegs)
    images = fn.random_resized_crop(images, size=(SIZE, SIZE), name="window")
    if variant == "resized":
        return images
    mirror = fn.random.coin_flip(name="mirror")
    return fn.crop_mirror_normalize(images, mirror=mirror, **ENDINGS[variant])


def make(files: list[str], threads: int, variant: str) -> Step:
    limit = {"jpeg_index_limit": 0} if variant == "unindexed" else {}
    pipe = training(files, variant or "float32", num_threads=threads, **limit)
    pipes.append(pipe)
    return lambda: pipe.run()[0]


def seconds_by_operator() -> dict[str, float]:
    return {o["name"]: o["seconds"] for o in pipes[0].stats()["operators"]}


serve(make, "Stoker", 4, seconds_by_operator)
