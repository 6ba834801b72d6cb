# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of PyTorch's iterators share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from helpers import make
from stoker import Pipeline, fn


def labels(step: Any) -> list[int]:
    tensor = step[0]["label"] if isinstance(step, list) else step["label"]
    return [int(x) for x in tensor.flatten()]


def flat(lists: list[list[int]]) -> list[int]:
    return [x for one in lists for x in one]


def all_labels(iterator: Any) -> list[list[int]]:
    return [labels(step) for step in iterator]


def training(pictures: Path | str, size: int = 16, **settings: Any) -> Pipeline:
    def define() -> Any:
        encoded, label = fn.readers.file(file_root=pictures, random_shuffle=True, name="reader")
        image = fn.random_resized_crop(fn.decoders.image(encoded), size=[size, size])
        return fn.crop_mirror_normalize(image, mirror=fn.random.coin_flip()), label

    return make(define, **{"batch_size": 4, **settings})
