# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""OpenCV in a loop or a thread pool: decodes whole pictures, crops, resizes, normalises, CHW.

Its bilinear resize has no antialiasing. The variant 'area' averages where it makes smaller.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np
from _peer import BATCH, MEAN, SIZE, STD, Step, batches_of, serve, window

SCALE = 1 / np.float32(STD)
OFFSET = -np.float32(MEAN) * SCALE


def make(files: list[str], threads: int, variant: str) -> Step:
    cv2.setNumThreads(1)  # the pool below uses more cores better
    rng = random.Random(1)
    how = cv2.INTER_AREA if variant == "area" else cv2.INTER_LINEAR
    next_files = batches_of(files)
    pool = ThreadPoolExecutor(threads)

    def load(path: str, out: np.ndarray) -> None:
        image = cv2.imread(path, cv2.IMREAD_COLOR_RGB)
        y, x, h, w = window(rng, *image.shape[:2])
        small = cv2.resize(image[y : y + h, x : x + w], (SIZE, SIZE), interpolation=how)
        if rng.random() < 0.5:
            small = cv2.flip(small, 1)
        for channel, plane in enumerate(cv2.split(small)):
            np.multiply(plane, SCALE[channel], out=out[channel])
            out[channel] += OFFSET[channel]

    def step() -> np.ndarray:
        batch = np.empty((BATCH, 3, SIZE, SIZE), np.float32)
        paths: Sequence[str] = next_files()
        if threads == 1:
            for path, out in zip(paths, batch, strict=True):
                load(path, out)
        else:
            list(pool.map(load, paths, batch))
        return batch

    return step


FILTERS = {"": "bilinear without antialias", "area": "area"}
serve(make, f"OpenCV {cv2.__version__}, {FILTERS[sys.argv[3]]}")
