# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""readers.tfrecord: two shards, plain and compressed."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import store_writers as writers

from stoker import tfrecord as tf

from .common import Store, array_of, some_bytes

FEATURES = {
    "image": tf.FixedLenFeature([], tf.string),
    "label": tf.FixedLenFeature([1], tf.int64, -1),
    "boxes": tf.VarLenFeature([2], tf.float32, None),
}


def _make(folder: Path, count: int, pack: Callable[[bytes], bytes] | None, indexed: bool) -> Store:
    samples, files, paths, indexes = [], [], [], []
    places: list[tuple[Path, int, int]] = []
    for shard, indices in enumerate(np.array_split(np.arange(count), 2)):
        path = folder / f"{shard}.tfrecord"
        payloads = []
        for i in map(int, indices):
            picture, boxes = some_bytes(i, 100 + 41 * i), [float(i), 0.5] * (i % 3)
            features: dict[str, Any] = {"image": [picture], "label": [i * 3], "boxes": boxes}
            payloads.append(writers.example({k: v for k, v in features.items() if v}))
            samples.append(
                (
                    array_of(picture),
                    np.array([i * 3], np.int64),
                    np.array(boxes, np.float32).reshape(-1, 2),
                )
            )
            files.append(path)
        data, records = writers.tfrecord(payloads)
        path.write_bytes(pack(data) if pack else data)
        index = folder / f"{shard}.idx"
        index.write_text("".join(f"{offset} {size}\n" for offset, size in records))
        paths.append(str(path))
        indexes.append(str(index))
        places += [(path, offset, size) for offset, size in records]

    def damage(i: int) -> None:
        path, offset, size = places[i]
        data = bytearray(path.read_bytes())
        data[offset + size // 2] ^= 1
        path.write_bytes(data)

    arguments = {"path": paths, "features": FEATURES, "verify": True}
    if indexed:
        arguments["index_path"] = indexes
    named = {} if pack else {i: f"at byte {places[i][1]}" for i in range(count)}
    return Store(arguments, samples, files, None if pack else damage, named=named)


VARIANTS = {
    "looked for": lambda folder, count: _make(folder, count, None, False),
    "indexed": lambda folder, count: _make(folder, count, None, True),
    "gzip": lambda folder, count: _make(folder, count, gzip.compress, False),
    "zlib": lambda folder, count: _make(folder, count, zlib.compress, False),
}
