# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Pipelines as users write them, on the folder of pictures, and an epoch's samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from stoker import Batch, DataNode, Pipeline, fn, pipeline_def

SIZE = 24


@pipeline_def(batch_size=4, num_threads=2, seed=1)
def training(
    root: Path, size: int = 16, shard_id: int = 0, num_shards: int = 1, **reader: Any
) -> tuple[DataNode, DataNode]:
    reader = {"random_shuffle": True, "name": "Reader", **reader}
    encoded, label = fn.readers.file(
        file_root=root, shard_id=shard_id, num_shards=num_shards, **reader
    )
    image = fn.random_resized_crop(fn.decoders.image(encoded), size=[size, size])
    return fn.flip(image, horizontal=fn.random.coin_flip()), label


@pipeline_def(batch_size=4, num_threads=2)
def in_order(root: Path) -> tuple[DataNode, DataNode]:
    encoded, label = fn.readers.file(file_root=root)
    return fn.decoders.image(encoded), label


def sources(batch: Batch) -> list[str]:
    return [batch.source_info(i) for i in range(len(batch))]


def epoch_of(pipe: Pipeline) -> tuple[list[str], np.ndarray]:
    names: list[str] = []
    pixels = []
    for images, _ in pipe:
        names += sources(images)
        pixels.append(images.as_array())
    return names, np.concatenate(pixels)
