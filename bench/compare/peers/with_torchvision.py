# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""torchvision with Pillow: the classic training transform, in the process itself."""

from __future__ import annotations

from collections.abc import Callable

import torch
from _peer import BATCH, MEAN, SIZE, STD, images, serve
from PIL import Image
from torchvision import transforms


def make(folder: str, threads: int) -> Callable[[], int]:
    torch.set_num_threads(threads)
    files = images(folder)
    files += files[-1:] * (-len(files) % BATCH)
    transform = transforms.Compose(
        [
            transforms.RandomResizedCrop(SIZE),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            transforms.Normalize([m / 255 for m in MEAN], [s / 255 for s in STD]),
        ]
    )

    def load(path: str) -> torch.Tensor:
        with open(path, "rb") as f:
            return transform(Image.open(f).convert("RGB"))

    def epoch() -> int:
        made = 0
        for start in range(0, len(files), BATCH):
            made += len(torch.stack([load(f) for f in files[start : start + BATCH]]))
        return made

    return epoch


serve(make)
