# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""readers.mxnet: two files, whose records have one label or several, and one part or several."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import store_writers as writers

from .common import Store, array_of, some_bytes


def _make(folder: Path, count: int, indexed: bool) -> Store:
    samples, files, paths, indexes = [], [], [], []
    places: list[tuple[Path, int]] = []
    for number, indices in enumerate(np.array_split(np.arange(count), 2)):
        path = folder / f"{number}.rec"
        payloads = []
        for i in map(int, indices):
            picture = some_bytes(i, 80 + 4 * i)
            if i % 3 == 0:
                picture = picture[:40] + writers.MAGIC * (1 + i % 2) + picture[40:]
            labels = [float(i)] if i % 2 else [float(i), 0.5, 7.0]
            payloads.append(writers.picture_record(i, labels, picture))
            samples.append((array_of(picture), np.array(labels, np.float32)))
            files.append(path)
        data, records = writers.recordio(payloads)
        path.write_bytes(data)
        index = folder / f"{number}.idx"
        index.write_text("".join(f"{k}\t{offset}\n" for k, (offset, _) in enumerate(records)))
        paths.append(str(path))
        indexes.append(str(index))
        places += [(path, offset) for offset, _ in records]

    def damage(i: int) -> None:
        path, offset = places[i]
        data = bytearray(path.read_bytes())
        data[offset] ^= 1
        path.write_bytes(data)

    arguments = {"path": paths} | ({"index_path": indexes} if indexed else {})
    named = {i: f"at byte {places[i][1]}" for i in range(count)}
    return Store(arguments, samples, files, damage, named=named)


VARIANTS = {
    "looked for": lambda folder, count: _make(folder, count, False),
    "indexed": lambda folder, count: _make(folder, count, True),
}
