# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""OpenCV in a loop: whole decode, window, bilinear without antialias, normalise, CHW."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import cv2
import numpy as np
from _peer import BATCH, MEAN, SIZE, STD, images, serve


def window(rng: random.Random, height: int, width: int) -> tuple[int, int, int, int]:
    for _ in range(10):
        area = height * width * rng.uniform(0.08, 1)
        ratio = math.exp(rng.uniform(math.log(3 / 4), math.log(4 / 3)))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            return rng.randint(0, height - h), rng.randint(0, width - w), h, w
    side = min(height, width)
    return (height - side) // 2, (width - side) // 2, side, side


def make(folder: str, threads: int) -> Callable[[], int]:
    cv2.setNumThreads(threads)
    files = images(folder)
    files += files[-1:] * (-len(files) % BATCH)
    rng = random.Random(1)
    mean, scale = np.float32(MEAN), 1 / np.float32(STD)

    def epoch() -> int:
        made = 0
        for start in range(0, len(files), BATCH):
            batch = np.empty((BATCH, 3, SIZE, SIZE), np.float32)
            for i, path in enumerate(files[start : start + BATCH]):
                image = cv2.cvtColor(cv2.imread(path, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
                y, x, h, w = window(rng, *image.shape[:2])
                small = cv2.resize(
                    image[y : y + h, x : x + w], (SIZE, SIZE), interpolation=cv2.INTER_LINEAR
                )
                if rng.random() < 0.5:
                    small = cv2.flip(small, 1)
                batch[i] = ((small - mean) * scale).transpose(2, 0, 1)
            made += len(batch)
        return made

    return epoch


serve(make)
