# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs whose samples tell their number, and how to take samples from several shards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from helpers import Sample, dealt, samples_of
from stoker import Pipeline, fn, types


def training(files: Sequence[str], **reader: Any) -> Callable[[], Any]:
    """The label (the number of the file), an output of fixed shape, a ragged one, and a draw."""

    def define() -> list[Any]:
        encoded, label = fn.readers.file(files=list(files), name="reader", **reader)
        image = fn.decoders.image(encoded)
        image = fn.random_resized_crop(image, size=[16, 20])
        mirror = fn.random.coin_flip()
        image = fn.crop_mirror_normalize(
            image, mirror=mirror, mean=[120.0], std=[60.0], dtype=types.FLOAT16
        )
        return [label, image, fn.decoders.image_random_crop(encoded), fn.random.uniform()]

    return define


def labels_only(files: Sequence[str], **reader: Any) -> Callable[[], Any]:
    def define() -> Any:
        _, label = fn.readers.file(files=list(files), name="reader", **reader)
        return label

    return define


def label_of(sample: Sample) -> int:
    return int(sample[0][0])


def labels(samples: Sequence[Sample]) -> list[int]:
    return [label_of(s) for s in samples]


def merged(
    pipes: Sequence[Pipeline], steps: int, size: int, at: int = 0, pads: bool = False
) -> list[Sample]:
    """The stream that the shards share, from a place on: what they got, as it was dealt."""
    batch = pipes[0].batch_size
    assert batch is not None
    stream: list[Sample] = []
    for _ in range(steps):
        samples = [s for pipe in pipes for s in samples_of(pipe.run())]
        places = dealt(at, size, len(pipes), batch, pads)
        step = {p: s for p, s in zip(places, samples, strict=True) if p >= 0}
        stream += [step[p] for p in sorted(step)]
        at += len(step)
    return stream
