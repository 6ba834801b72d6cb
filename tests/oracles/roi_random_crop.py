# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""roi_random_crop, by arithmetic on whole numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .chance import Chance
from .common import Array


def expected(
    inputs: list[Array],
    layout: str,
    *,
    chance: Chance,
    crop_shape: Sequence[int] = (),
    in_shape: Sequence[int] | None = None,
    roi_end: Sequence[int] | None = None,
    roi_shape: Sequence[int] | None = None,
    roi_start: Sequence[int] = (),
) -> Array:
    limits = inputs[0].shape if inputs else in_shape
    starts = []
    for a, (crop, begin) in enumerate(zip(crop_shape, roi_start, strict=True)):
        end = roi_end[a] if roi_end is not None else begin + (roi_shape or ())[a]
        low, high = sorted((begin, end - crop))
        if limits is not None:
            low, high = max(low, 0), min(high, limits[a] - crop)
        starts.append(low + (chance.wide(2 * a) * (high - low + 1) >> 64))
    return np.array(starts, np.int64)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for crop in ([3, 4], [10, 1], [1, 1], [10, 9]):
        region = {"crop_shape": crop, "roi_start": [1, 2]}
        yield [], "", {**region, "roi_end": [5, 6]}
        yield [], "", {**region, "roi_shape": [2, 20]}
        yield [], "", {**region, "roi_shape": [7, 7], "in_shape": [10, 9]}
        yield [np.zeros((10, 30), np.uint8)], "", {**region, "roi_end": [9, 30]}
    yield [], "", {"crop_shape": [5], "roi_start": [-10], "roi_end": [10]}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    region = {"crop_shape": [3], "roi_start": [1]}
    yield [], "", region, "either of the arguments 'roi_end' and 'roi_shape'"
    yield [], "", {**region, "roi_end": [1], "roi_shape": [1]}, "either of the arguments"
    yield [], "", {**region, "roi_end": [1, 2]}, "argument 'roi_end' has 2 values, expected 1"
    yield [], "", {**region, "roi_end": [0]}, "the region begins at 1 and ends at 0"
    inside = {**region, "roi_shape": [1], "in_shape": [2]}
    yield [], "", inside, "argument 'crop_shape' is 3, and the extent 2"
    yield [], "", {**inside, "in_shape": [1]}, "the region reaches from 1 to 2 of an extent of 1"
    yield [], "", {**inside, "roi_start": [-1]}, "the region reaches from -1 to 0"
    picture = np.zeros((3, 3), np.uint8)
    yield [picture], "", {**region, "roi_end": [2]}, "and the input 2 axes"
    more = {**region, "roi_end": [2], "in_shape": [9]}
    yield [picture[0]], "", more, "argument 'in_shape' and an input exclude each other"
