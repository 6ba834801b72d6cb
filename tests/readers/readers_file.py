# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""readers.file: whole files of any bytes. Only one that is not there fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .common import Store, array_of, some_bytes


def make(folder: Path, count: int) -> Store:
    files = [folder / f"{i:03}.bin" for i in range(count)]
    labels = [i * 3 for i in range(count)]
    return _store(files, labels, {"files": [str(f) for f in files], "labels": labels})


def make_nested(folder: Path, count: int) -> Store:
    """Two classes. The files of each lie in its folder and in two others below it."""
    labels = [int(i >= count // 2) for i in range(count)]
    depths = np.array_split([i for i in range(count) if not labels[i]], 3)
    depths += np.array_split([i for i in range(count) if labels[i]], 3)
    places = ["a", "a/deep", "a/deep/er", "b", "b/x y", "b/x/y"]
    files = [
        folder / place / f"{i:03}.bin" for place, of in zip(places, depths, strict=True) for i in of
    ]
    arguments = {"file_root": str(folder), "file_filters": ["*.bin"], "recursive": True}
    store = _store(files, labels, arguments)

    def damage(index: int) -> None:
        files[index].unlink()
        files[index].symlink_to("nothing")  # the search of the folder still finds it

    return replace(store, damage=damage)


def _store(files: Sequence[Path], labels: Sequence[int], arguments: Mapping[str, Any]) -> Store:
    samples = []
    for i, (path, label) in enumerate(zip(files, labels, strict=True)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(some_bytes(i, 50 + 37 * i % 2000))
        samples.append((array_of(path.read_bytes()), np.array([label], np.int32)))

    def damage(index: int) -> None:
        files[index].unlink()

    return Store(arguments, samples, list(files), damage, takes_any_file=True)


VARIANTS = {"files": make, "nested folders": make_nested}
