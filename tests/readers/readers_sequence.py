# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""readers.sequence: folders of PNG frames, which Pillow decodes as well."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from .common import Store, cut

LENGTH, STRIDE = 3, 2
FRAMES = 1 + (LENGTH - 1) * STRIDE  # of a film, so that it holds one sequence


def make(folder: Path, count: int) -> Store:
    files, samples = [], []
    for i in range(count):
        film = folder / f"film{i:03}"
        film.mkdir()
        size = (5 + i % 3, 6 + i % 4, 3)
        frames = np.random.default_rng(i).integers(0, 256, (FRAMES, *size), dtype=np.uint8)
        for k, frame in enumerate(frames):
            Image.fromarray(frame).save(film / f"{k:02}.png")
        files.append(film / f"{STRIDE:02}.png")
        samples.append((np.ascontiguousarray(frames[::STRIDE]),))
    arguments = {"file_root": folder, "sequence_length": LENGTH, "stride": STRIDE}
    return Store(arguments, samples, files, lambda i: cut(files[i]))


def make_overlapping(folder: Path, count: int) -> Store:
    """One film whose sequences overlap, so that no sample has a file of its own."""
    total = count + LENGTH - 1
    frames = np.random.default_rng(0).integers(0, 256, (total, 5, 7, 3), dtype=np.uint8)
    for k, frame in enumerate(frames):
        Image.fromarray(frame).save(folder / f"{k:03}.png")
    samples = [(np.ascontiguousarray(frames[i : i + LENGTH]),) for i in range(count)]
    files = [folder / f"{i + LENGTH - 1:03}.png" for i in range(count)]
    return Store({"file_root": folder, "sequence_length": LENGTH}, samples, files)


VARIANTS = {"films": make, "overlapping": make_overlapping}
