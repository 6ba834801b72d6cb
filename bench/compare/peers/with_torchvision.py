# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""torchvision with Pillow: the classic training transform, in a DataLoader if there are more cores.

On one core, a worker process would only add copies, so the loop runs in this process.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import PIL
import torch
import torchvision
from _peer import BATCH, MEAN, SIZE, STD, Step, serve
from PIL import Image
from torchvision import transforms


class Pictures(torch.utils.data.Dataset):
    def __init__(self, files: list[str]) -> None:
        self.files = files
        self.transform = transforms.Compose(
            [
                transforms.RandomResizedCrop(SIZE),
                transforms.RandomHorizontalFlip(),
                transforms.ToTensor(),
                transforms.Normalize([m / 255 for m in MEAN], [s / 255 for s in STD]),
            ]
        )

    def __getitem__(self, index: int) -> torch.Tensor:
        with open(self.files[index], "rb") as f:
            return self.transform(Image.open(f).convert("RGB"))

    def __len__(self) -> int:
        return len(self.files)


class RoundAndRound:
    """The numbers of each batch's pictures, without an end."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __iter__(self) -> Iterator[list[int]]:
        while True:
            for start in range(0, self.count, BATCH):
                yield list(range(start, start + BATCH))


def make(files: list[str], _threads: int, _: str) -> Step:
    torch.set_num_threads(1)
    pictures, order = Pictures(files), RoundAndRound(len(files))
    batches = iter(torch.utils.data.DataLoader(pictures, batch_sampler=order, num_workers=workers))
    return lambda: next(batches)


workers = 0 if sys.argv[2] == "1" else int(sys.argv[2])
serve(
    make,
    f"torchvision {torchvision.__version__} with Pillow {PIL.__version__}",
    ahead=2 * workers + 1 if workers else 0,
)
