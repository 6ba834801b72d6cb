# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""segmentation.random_object_bbox, by scipy.ndimage.label and NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import ndimage

from .chance import Chance
from .common import Array

Box = tuple[Array, Array]


def _objects(labels: Array, wanted: Array) -> list[Box]:
    """The boxes of what is connected, in the order of their first elements."""
    found = []
    for label in wanted:
        numbered, _ = ndimage.label(labels == label)
        for k, slices in enumerate(ndimage.find_objects(numbered), start=1):
            first = int(np.flatnonzero(numbered == k)[0])
            box = (np.array([s.start for s in slices]), np.array([s.stop for s in slices]))
            found.append((first, box))
    return [box for _, box in sorted(found, key=lambda pair: pair[0])]


def expected(
    inputs: list[Array],
    layout: str,
    *,
    chance: Chance,
    background: int = 0,
    class_weights: Sequence[float] | None = None,
    classes: Sequence[int] | None = None,
    foreground_prob: float = 1,
    format: str = "anchor_shape",
    ignore_class: bool = False,
    k_largest: int | None = None,
    output_class: bool = False,
    threshold: Sequence[int] | None = None,
) -> list[Array]:
    labels = inputs[0].astype(np.int64)
    asked = None if classes is None else np.atleast_1d(classes)
    weights = None if class_weights is None else np.atleast_1d(np.float32(class_weights))
    if background == 0 and asked is not None and 0 in asked:
        background = int(asked.min()) - 1
    begin, end, label = np.zeros(labels.ndim, int), np.array(labels.shape), background
    draw = 1

    def pick(boxes: list[Box]) -> Box | None:
        nonlocal draw
        if threshold is not None:
            boxes = [b for b in boxes if np.all(b[1] - b[0] >= np.array(threshold))]
        if k_largest is not None:
            boxes = sorted(boxes, key=lambda b: -int(np.prod(b[1] - b[0])))[:k_largest]
        if not boxes:
            return None
        draw += 2
        return boxes[chance.wide(draw - 2) * len(boxes) >> 64]

    present = np.unique(labels)
    if chance.words(1)[0] / 2**32 < np.float32(foreground_prob):
        if ignore_class:
            box = pick(_objects(labels, present[present != background]))
            if box is not None:
                begin, end = box
        else:
            if asked is None and weights is not None:
                asked = np.array([c for c in range(len(weights) + 1) if c != background])
                asked = asked[: len(weights)]
            if asked is None:
                asked = present[present != background]
            shares = np.ones(len(asked)) if weights is None else weights.astype(np.float64)
            left = [(c, s) for c, s in zip(asked, shares, strict=True) if s > 0 and c in present]
            while left:
                share = (chance.wide(draw) >> 11) / 2**53 * sum(s for _, s in left)
                draw += 2
                ends = np.cumsum([s for _, s in left])
                k = min(int(np.searchsorted(ends, share, side="right")), len(left) - 1)
                box = pick(_objects(labels, np.array([left[k][0]])))
                if box is not None:
                    (begin, end), label = box, int(left[k][0])
                    break
                del left[k]
    pair = [begin, end - begin if format == "anchor_shape" else end]
    answer = [np.concatenate(pair)] if format == "box" else pair
    if output_class:
        answer.append(np.array(label))
    return [a.astype(np.int32) for a in answer]


def _blobs(rng: np.random.Generator, shape: Sequence[int], dtype: str, labels: int) -> Array:
    coarse = rng.integers(0, labels, [-(-n // 2) for n in shape])
    for a, n in enumerate(shape):
        coarse = np.repeat(coarse, 2, a).take(range(n), a)
    return coarse.astype(dtype)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    formats: list[dict[str, Any]] = [{}, {"format": "start_end"}, {"format": "box"}]
    for dtype in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "bool"):
        for shape in ((13, 17), (9,), (5, 6, 7)):
            labels = _blobs(rng, shape, dtype, 4)
            for arguments in formats:
                yield [labels], "", {"output_class": True, **arguments}
            yield [labels], "", {"ignore_class": True, "k_largest": 2}
            yield [labels], "", {"threshold": 3, "output_class": True, "foreground_prob": 0.5}
    labels = _blobs(rng, (14, 11), "int32", 5) - 1
    seen: dict[str, Any] = {"output_class": True}
    yield [labels], "HW", {**seen, "background": 1}
    yield [labels], "HW", {**seen, "classes": [2, 3, 77]}
    yield [labels], "HW", {**seen, "classes": [0, -1]}
    yield [labels], "HW", {**seen, "classes": [77]}
    yield [labels], "HW", {**seen, "classes": [1, 2, 3], "class_weights": [0.5, 0.0, 2.0]}
    yield [labels], "HW", {**seen, "background": 1, "class_weights": [1.0, 3.0]}
    yield [labels], "HW", {**seen, "classes": [1, 2, 3], "threshold": [4, 2], "k_largest": 1}
    yield [labels], "HW", {**seen, "threshold": [99, 99]}
    yield [labels * 0], "HW", seen
    yield [labels[:0]], "HW", seen
    spiral = np.uint8([[1, 1, 1, 1], [1, 0, 0, 1], [1, 0, 1, 1], [1, 0, 0, 0], [1, 1, 1, 1]])
    yield [spiral], "HW", seen
    yield [np.eye(4, dtype=np.uint8)], "HW", seen


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    labels = np.ones((2, 3), np.uint8)
    words = "excludes 'classes', 'class_weights' and 'output_class'"
    for wrong in ({"classes": [1]}, {"class_weights": [1.0]}, {"output_class": True}):
        yield [labels], "", {"ignore_class": True, **wrong}, words
    yield [labels[0, 0]], "", {}, "the input is a scalar"
    yield [labels], "", {"threshold": [1, 1, 1]}, "argument 'threshold' has 3 values"
    both = {"classes": [1, 2], "class_weights": [1.0]}
    yield [labels], "", both, "argument 'class_weights' has 1 value, expected 2"
    yield [labels], "", {"background": 1, "classes": [1]}, "argument 'classes' has the background"
