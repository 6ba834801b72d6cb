# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""random_bbox_crop, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .box_crop import Rules, boxes, choose, labels_of, seen
from .chance import Chance
from .common import Array, Tolerance, shortest

TOLERANCE = Tolerance(share=1e-6)  # float32 against float64


def _columns(layout: str, dims: int) -> tuple[list[int], list[int], bool]:
    is_size = "W" in layout
    ends = "WHD" if is_size else "XYZ"
    return (
        [layout.index(c) for c in "xyz"[:dims]],
        [layout.index(c) for c in ends[:dims]],
        is_size,
    )


def expected(
    inputs: list[Array],
    layout: str,
    *,
    chance: Chance,
    all_boxes_above_threshold: bool = True,
    allow_no_crop: bool = True,
    aspect_ratio: Sequence[float] = (1, 1),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: Sequence[int] | None = None,
    input_shape: Sequence[int] | None = None,
    ltrb: bool = True,
    num_attempts: int = 1,
    output_bbox_indices: bool = False,
    scaling: Sequence[float] = (1, 1),
    shape_layout: str | None = None,
    threshold_type: str = "iou",
    thresholds: Sequence[float] = (0,),
    total_num_attempts: int = -1,
) -> list[Array]:
    rows = inputs[0]
    dims = rows.shape[1] // 2
    letters = bbox_layout or ("xyz"[:dims] + ("XYZ" if ltrb else "WHD")[:dims])
    first, last, is_size = _columns(letters, dims)
    low, high = rows[:, first], rows[:, last]
    if is_size:
        high = low + high
    low, high = low.astype(np.float64), high.astype(np.float64)

    def in_order(given: Sequence[int]) -> Array:
        order = shape_layout or "WHD"[:dims]
        return np.array([given[order.index(c)] for c in "WHD"[:dims]], np.float64)

    options: list[float | None] = [shortest(t) for t in np.atleast_1d(thresholds)]
    if allow_no_crop and crop_shape is None:
        options.append(None)
    ratios = [shortest(r) for r in aspect_ratio]
    window = choose(
        chance,
        low,
        high,
        Rules(
            options,
            threshold_type,
            all_boxes_above_threshold,
            None if bbox_prune_threshold is None else shortest(bbox_prune_threshold),
            num_attempts,
            total_num_attempts,
            scaling,
            [ratios[2 * k : 2 * k + 2] if len(ratios) == 6 else ratios for k in range(3)],
            np.ones(dims) if input_shape is None else in_order(input_shape),
            None if crop_shape is None else in_order(crop_shape),
        ),
    )
    left = rows[window.kept]
    if not window.is_whole:
        low, high = seen(low, high, window)
        left = np.zeros((len(low), 2 * dims), np.float32)
        left[:, first], left[:, last] = low, (high - low if is_size else high)
    answer = [window.anchor.astype(np.float32), window.shape.astype(np.float32), left]
    if len(inputs) > 1:
        answer.append(inputs[1][window.kept])
    if output_bbox_indices:
        answer.append(window.kept.astype(np.int32))
    return answer


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    free: dict[str, Any] = {"scaling": [0.3, 1.0], "aspect_ratio": [0.5, 2.0]}
    many = {"num_attempts": 30, "total_num_attempts": 200, "output_bbox_indices": True}
    for count in (6, 1, 0):
        rows = boxes(rng, count)
        for labels in labels_of(count):
            yield [rows, labels], "", {**free, "total_num_attempts": 5}
            whole_round = {"num_attempts": 20, "total_num_attempts": 1, "allow_no_crop": False}
            yield [rows, labels], "", {**free, **whole_round, "thresholds": [1.0]}
        yield [rows], "", {**free, **many, "thresholds": [0.0, 0.1, 0.3, 0.5]}
        yield [rows], "", {**free, **many, "allow_no_crop": False, "threshold_type": "overlap"}
        some = {"all_boxes_above_threshold": False, "thresholds": [0.2], "allow_no_crop": False}
        yield [rows], "", {**free, **many, **some, "bbox_prune_threshold": 0.25}
        for letters in ("xXyY", "XYxy", "WxHy"):
            swapped = rows.copy()
            first, last, is_size = _columns(letters, 2)
            swapped[:, first] = rows[:, :2]
            swapped[:, last] = rows[:, 2:] - rows[:, :2] * is_size
            yield [swapped], "", {**free, **many, "bbox_layout": letters}
        sizes = rows.copy()
        sizes[:, 2:] -= rows[:, :2]
        yield [sizes], "", {**many, "ltrb": False, "scaling": [0.5, 0.9]}
        shapes = {"crop_shape": [70, 40], "input_shape": [100, 80]}
        yield [rows], "", {**many, **shapes}
        yield [rows], "", {**many, **shapes, "shape_layout": "HW", "thresholds": 0.1}
        yield [rows], "", {**many, "crop_shape": [120, 40], "input_shape": [100, 80]}
        yield (
            [rows],
            "",
            {
                **many,
                "input_shape": [300, 200],
                "shape_layout": "HW",
                "aspect_ratio": [1.5, 1.5],
                "scaling": [0.4, 0.8],
            },
        )
        space = boxes(rng, count, 3)
        yield [space], "", {**free, **many}
        yield [space], "", {**many, "scaling": [0.5, 1.2], "aspect_ratio": [0.5, 2, 1, 1, 0.5, 2]}
        yield [space], "", {**many, "scaling": [0.5, 1.0], "aspect_ratio": [0.5, 2, 0.5, 2, 1, 1]}
        extents = {"crop_shape": [7, 8, 9], "input_shape": [10, 12, 14], "shape_layout": "DHW"}
        yield [space], "", {**many, **extents}
    point = np.float32([[0.5, 0.5, 0.5, 0.5]])
    yield [point], "", {**many, "scaling": [0.5, 0.5], "thresholds": [0.5]}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    rows, labels = np.float32([[0, 0, 1, 1], [0, 0, 1, 1]]), np.zeros(2, np.int32)
    yield [rows[:, :3]], "", {}, "expected (N, 4) or (N, 6)"
    yield [rows + np.float32(0.5)], "", {}, "box 0 has a coordinate of 1.5, expected 0 to 1"
    yield [rows, labels[:1]], "", {}, "the labels have the shape (1,), and there are 2 boxes"
    yield [rows, np.int32(1)], "", {}, "the labels are one number"
    yield [rows], "", {"crop_shape": [3, 4]}, "argument 'crop_shape' needs 'input_shape'"
    fixed = {"crop_shape": [3, 4], "input_shape": [5, 6]}
    yield [rows], "", {**fixed, "scaling": [0.5, 1.0]}, "excludes 'scaling' and 'aspect_ratio'"
    yield [rows], "", {**fixed, "crop_shape": [3]}, "argument 'crop_shape' has 1 value"
    yield [rows], "", {**fixed, "shape_layout": "WD"}, "argument 'shape_layout' is 'WD'"
    yield [rows], "", {"scaling": [0.5]}, "argument 'scaling' has 1 value, expected 2"
    yield [rows], "", {"scaling": [0.5, 0.25]}, "is 0.5 to 0.25, expected growing numbers"
    yield [rows], "", {"aspect_ratio": [0.0, 0.0]}, "a greatest ratio of 0"
    yield [rows], "", {"thresholds": [], "allow_no_crop": False}, "argument 'thresholds' is empty"
    yield [rows], "", {"total_num_attempts": 0}, "expected -1 or more"
    yield [rows], "", {"bbox_layout": "xyXH"}, "the layout of the boxes is 'xyXH'"
    yield [rows], "", {"bbox_layout": "xyzXYZ"}, "and the boxes have 4 coordinates"
    yield [rows], "", {"bbox_layout": "xyXY", "ltrb": False}, "do not go together"
    never = {"allow_no_crop": False, "thresholds": [1.0], "scaling": [0.25, 0.25]}
    yield [rows], "", never, "no window was good in 100000 attempts"
