# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""box_encoder, by NumPy on a table of all overlaps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .common import Array, Tolerance

TOLERANCE = Tolerance(share=1e-5)  # logarithms, and the order of the arithmetic


def _overlaps(boxes: Array, anchors: Array) -> Array:
    low = np.maximum(boxes[:, None, :2], anchors[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], anchors[None, :, 2:])
    both = np.prod(np.maximum(high - low, 0), -1)
    areas = [np.prod(b[:, 2:] - b[:, :2], -1) for b in (boxes, anchors)]
    return both / (areas[0][:, None] + areas[1][None, :] - both)


def _centred(boxes: Array) -> tuple[Array, Array]:
    return (boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]


def expected(
    inputs: list[Array],
    layout: str,
    anchors: Sequence[float] = (),
    criteria: float = 0.5,
    means: Sequence[float] = (0, 0, 0, 0),
    offset: bool = False,
    stds: Sequence[float] = (1, 1, 1, 1),
) -> list[Array]:
    boxes, labels = inputs[0].astype(np.float64), inputs[1].reshape(-1)
    places = np.float32(anchors).astype(np.float64).reshape(-1, 4)
    match = np.full(len(places), -1)
    if len(boxes):
        table = _overlaps(boxes, places)
        best = len(boxes) - 1 - np.argmax(table[::-1], 0)
        is_near = table.max(0) > np.float32(criteria)
        match[is_near] = best[is_near]
        for box, row in enumerate(table):
            match[len(places) - 1 - np.argmax(row[::-1])] = box
    is_matched = match >= 0
    shown = places.copy()
    shown[is_matched] = boxes[match[is_matched]]
    (centres, sizes), (own_centres, own_sizes) = _centred(shown), _centred(places)
    encoded = np.concatenate([centres, sizes], 1)
    if offset:
        moved = (centres - own_centres) / own_sizes
        encoded = np.concatenate([moved, np.log(sizes / own_sizes)], 1)
        encoded = (encoded - np.float32(means)) / np.float32(stds)
        encoded[~is_matched] = 0
    found = np.zeros(len(places), np.int32)
    found[is_matched] = labels[match[is_matched]]
    return [encoded.astype(np.float32), found]


def _boxes(rng: np.random.Generator, count: int) -> Array:
    corners = rng.uniform(0, 0.7, (count, 2))
    return np.concatenate([corners, corners + rng.uniform(0.05, 0.3, (count, 2))], 1)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for count in (0, 1, 5, 40):
        places = _boxes(rng, 30).reshape(-1).tolist()
        boxes = _boxes(rng, count).astype(np.float32)
        labels = rng.integers(1, 80, count).astype(np.int32)
        for arguments in (
            {},
            {"criteria": 0.1},
            {"offset": True},
            {"offset": True, "means": [0.1, 0.2, 0.0, -1.0], "stds": [0.1, 0.1, 0.2, 0.5]},
        ):
            yield [boxes, labels], "", {"anchors": places, **arguments}
        yield [boxes, labels[:, None]], "", {"anchors": places}
    twice = np.float32([[0, 0, 0.5, 0.5], [0, 0, 0.5, 0.5]])
    same = [0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.5, 0.5]
    yield [twice, np.array([1, 2], np.int32)], "", {"anchors": same, "criteria": 1.0}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    boxes, labels = np.zeros((2, 4), np.float32), np.zeros(2, np.int32)
    whole = {"anchors": [0.0, 0.0, 1.0, 1.0]}
    yield [boxes, labels], "", {"anchors": [0.0, 1.0]}, "expected four for each anchor"
    yield [boxes, labels], "", {"anchors": [0.0] * 4}, "an anchor without an area, number 0"
    yield [boxes[:, :3], labels], "", whole, "expected (N, 4)"
    yield [boxes, np.array(3, np.int32)], "", whole, "the labels are one number, expected a list"
    yield [boxes, labels[:1]], "", whole, "the labels have the shape (1,)"
    yield [boxes, labels], "", {**whole, "stds": [0.0] * 4}, "argument 'stds' has 0"
    yield [boxes, labels], "", {**whole, "means": [0.0]}, "argument 'means' has 1 value"
