# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""multi_paste, by NumPy's slices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, numbers, to_dtype


def _pasted(images: list[Array], own: Array, arguments: dict[str, Any]) -> Array:
    dtype = arguments.get("dtype")
    first = images[0] if images else own
    size = arguments.get("output_size")
    plane = own.shape[-3:-1] if size is None else tuple(int(n) for n in size)[:2]
    canvas = np.zeros((*first.shape[:-3], *plane, first.shape[-1]), dtype or own.dtype)
    rows = {
        name: np.asarray(value, np.float32 if name.endswith("rel") else np.int64).reshape(-1, 2)
        for name, value in arguments.items()
        if name.startswith(("in_anchors", "out_anchors", "shapes")) and value is not None
    }
    for k, image in enumerate(images):
        extents = np.array(image.shape[-3:-1])

        def given(name: str, full: Array, otherwise: Array, up: bool = False, k: int = k) -> Array:
            if name in rows:
                return rows[name][k]
            if f"{name}_rel" in rows:
                pixels = rows[f"{name}_rel"][k] * full.astype(np.float32)
                return (np.ceil if up else np.floor)(pixels).astype(np.int64)
            return otherwise

        begin = given("in_anchors", extents, np.zeros(2, int))
        shape = given("shapes", extents, extents - begin, up=True)
        place = given("out_anchors", np.array(plane), np.zeros(2, int))
        from_y, from_x = (slice(b, b + s) for b, s in zip(begin, shape, strict=True))
        to_y, to_x = (slice(p, p + s) for p, s in zip(place, shape, strict=True))
        canvas[..., to_y, to_x, :] = to_dtype(image[..., from_y, from_x, :], str(canvas.dtype))
    return canvas


def expected_batch(samples: list[list[Array]], layout: str, **arguments: Any) -> list[list[Array]]:
    ids = arguments.get("in_ids")
    answer = []
    for inputs in samples:
        images = inputs if ids is None else [samples[i][0] for i in np.atleast_1d(ids)]
        answer.append([_pasted(list(images), inputs[0], arguments)])
    return answer


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for dtype in ("uint8", "int16", "float32", "bool", "float16", "int64"):
        images = [numbers(rng, (9, 11, 3), dtype) for _ in range(3)]
        yield images[:1], "HWC", {}
        yield images[:1], "HWC", {"in_ids": [0], "output_size": [10, 12]}
        yield images[:1], "HWC", {"in_ids": [0], "output_size": [10, 12, 3]}
        yield (
            images,
            "HWC",
            {
                "in_anchors": [0, 1, 2, 3, 4, 5],
                "shapes": [4, 5, 7, 8, 0, 3],
                "out_anchors": [0, 0, 3, 2, 1, 1],
                "output_size": [10, 14],
            },
        )
        relative = {"in_anchors_rel": [0.1, 0.3] * 3, "shapes_rel": [0.5, 0.3] * 3}
        yield images, "HWC", {**relative, "out_anchors_rel": [0.0, 0.2, 0.25, 0.1, 0.3, 0.5]}
        for made in ("uint8", "float32", "float64"):
            yield (
                images[:2],
                "HWC",
                {"dtype": made, "out_anchors": [0, 0, 3, 4], "output_size": [12, 15]},
            )
    clips = [numbers(rng, (2, 5, 6, 1), "uint8") for _ in range(2)]
    yield clips, "FHWC", {"out_anchors": [0, 0, 2, 3], "output_size": [7, 9]}
    yield clips[:1], "FHWC", {"in_ids": [0, 0], "out_anchors": [0, 0, 2, 3], "output_size": [7, 9]}


def generate_batches(rng: np.random.Generator) -> Iterator[tuple[list[list[Array]], Any, Any]]:
    for dtype in ("uint8", "float32"):
        batch = [[numbers(rng, (4 + i, 9 - i, 3), dtype)] for i in range(4)]
        yield batch, "HWC", {"in_ids": [3, 1], "output_size": [12, 13], "out_anchors": [0, 0, 2, 4]}
        yield batch, "HWC", {"in_ids": [2], "shapes": [3, 4], "in_anchors": [1, 1]}
        yield batch, "HWC", {"in_ids": [], "output_size": [2, 2]}
        yield (
            batch,
            "HWC",
            {"in_ids": [0, 1, 2, 3], "shapes_rel": [0.5, 0.5] * 4, "dtype": "float32"},
        )


def refused() -> Iterator[tuple[list[Array], Any, dict[str, Any], str]]:
    image = np.zeros((3, 4, 1), np.uint8)
    pair = [image, image]
    yield pair, "HWC", {"in_ids": [0]}, "argument 'in_ids' excludes several inputs"
    both = {"shapes": [1, 1], "shapes_rel": [0.5, 0.5]}
    yield [image], "HWC", both, "arguments 'shapes' and 'shapes_rel' do not go together"
    yield pair, "HWC", {"shapes": [1, 1]}, "argument 'shapes' has 2 values, expected 4"
    yield [image], "HWC", {"output_size": [3]}, "argument 'output_size' has 1 value"
    yield [image], "HWC", {"output_size": [3, 3]}, "at the columns from 0 to 4 of an output with 3"
    yield [image], "HWC", {"shapes": [4, 1]}, "has the rows from 0 to 4 of an image with 3"
    yield [image, image.repeat(2, 2)], "HWC", {}, "image 1 has the shape (3, 4, 2)"
    yield [image, image.astype(np.int16)], "HWC", {}, "expected one dtype and layout"


def refused_batches() -> Iterator[tuple[list[list[Array]], str, dict[str, Any], str]]:
    batch = [[np.zeros((3, 4, 1), np.uint8)] for _ in range(2)]
    yield batch, "HWC", {"in_ids": [2]}, "argument 'in_ids' has 2, and the batch has 2 samples"
