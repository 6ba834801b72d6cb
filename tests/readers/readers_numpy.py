# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""readers.numpy: arrays of several shapes, orders of axes and of bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .common import Array, Store, cut


def _array(index: int) -> Array:
    shape = (1 + index % 5, 2 + index % 3, 3)
    return np.random.default_rng(index).integers(-30000, 30000, shape).astype(np.int16)


def make(folder: Path, count: int) -> Store:
    files, samples = [], []
    for i in range(count):
        path = folder / f"part{i // 10}" / f"{i % 10}.npy"
        path.parent.mkdir(exist_ok=True)
        stored = _array(i)
        if i % 3 == 1:
            stored = np.asfortranarray(stored)
        if i % 4 == 2:
            stored = stored.astype(">i2")
        np.save(path, stored)
        files.append(path)
        samples.append((_array(i),))

    def damage(index: int) -> None:
        cut(files[index], files[index].stat().st_size - 1)

    return Store({"file_root": folder, "dtype": "int16"}, samples, files, damage)


def make_windows(folder: Path, count: int) -> Store:
    store = make(folder, count)
    store.arguments = {
        **store.arguments,
        "roi_start": [1, -1],
        "roi_shape": [2, 3],
        "roi_axes": [1, 0],
        "out_of_bounds_policy": "pad",
        "fill_value": 7.0,
    }
    padded = [np.pad(a, [(1, 5), (0, 5), (0, 0)], constant_values=7) for (a,) in store.samples]
    store.samples = [(np.ascontiguousarray(p[0:3, 1:3]),) for p in padded]
    return store


def make_large_windows(folder: Path, count: int) -> Store:
    """Files so large that only what the window needs is read."""
    samples, files = [], []
    for i in range(count):
        path = folder / f"{i:03}.npy"
        array = np.full((6, 30, 400), i, np.int16)
        array[:, :, ::7] = np.arange(30)[:, None] + 100 * i
        stored = np.asfortranarray(array) if i % 3 == 1 else array
        np.save(path, stored.astype(">i2") if i % 4 == 2 else stored)
        files.append(path)
        samples.append((np.ascontiguousarray(array[1:4, 3:9, 5:300]),))

    def damage(index: int) -> None:
        cut(files[index], files[index].stat().st_size - 1)

    arguments = {
        "file_root": folder,
        "dtype": "int16",
        "roi_start": [1, 3, 5],
        "roi_end": [4, 9, 300],
    }
    return Store(arguments, samples, files, damage)


VARIANTS = {"arrays": make, "windows": make_windows, "large windows": make_large_windows}
