# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""readers.file: whole files of any bytes. Only one that is not there fails."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .common import Store, array_of, some_bytes


def make(folder: Path, count: int) -> Store:
    files, samples = [], []
    for i in range(count):
        path = folder / f"{i:03}.bin"
        path.write_bytes(some_bytes(i, 50 + 37 * i % 2000))
        files.append(path)
        samples.append((array_of(path.read_bytes()), np.array([i * 3], np.int32)))

    def damage(index: int) -> None:
        files[index].unlink()

    arguments = {"files": [str(f) for f in files], "labels": [i * 3 for i in range(count)]}
    return Store(arguments, samples, files, damage, takes_any_file=True)


VARIANTS = {"files": make}
