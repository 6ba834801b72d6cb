# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Two databases of LMDB, for the readers of Caffe's and Caffe2's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import store_writers as writers

from .common import Store, array_of, some_bytes


def make(folder: Path, count: int, pack: Callable[[bytes, int], bytes]) -> Store:
    samples, files, paths = [], [], []
    places: list[tuple[Path, int]] = []
    for number, indices in enumerate(np.array_split(np.arange(count), 2)):
        path = folder / f"{number}.mdb"
        values = {}
        for i in map(int, indices):
            # Some values stand in their leaf, others on pages of their own.
            picture = some_bytes(i, 20 + i if i % 2 else 2000 + 300 * i)
            values[f"{i:08}".encode()] = pack(picture, i * 3)
            samples.append((array_of(picture), np.array([i * 3], np.int32)))
            files.append(path)
        data, offsets = writers.lmdb(values)
        path.write_bytes(data)
        paths.append(str(path))
        places += [(path, offsets[key]) for key in sorted(values)]

    def damage(i: int) -> None:
        path, offset = places[i]
        data = bytearray(path.read_bytes())
        data[offset] = 0xFF  # no field has such a number and kind
        path.write_bytes(data)

    return Store({"path": paths}, samples, files, damage, named=dict.fromkeys(range(count), "byte"))
