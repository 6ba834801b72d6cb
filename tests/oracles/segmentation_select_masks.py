# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""segmentation.select_masks, by NumPy's indexing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, numbers


def expected(inputs: list[Array], layout: str, reindex_masks: bool = False) -> list[Array]:
    ids, polygons, vertices = inputs
    order = np.concatenate([np.flatnonzero(polygons[:, 0] == i) for i in [*ids, -(2**31)]])
    chosen = polygons[order]
    names = np.array([list(ids).index(i) if reindex_masks else i for i in chosen[:, 0]], np.int32)
    parts = [vertices[:0], *(vertices[begin:end] for _, begin, end in chosen)]
    ends = np.cumsum([end - begin for _, begin, end in chosen], dtype=np.int32)
    begins = np.concatenate([np.zeros(1, np.int32), ends])[: len(ends)]
    rows = np.stack([names, begins, ends], 1).astype(np.int32).reshape(-1, 3)
    return [rows, np.concatenate(parts)]


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    polygons = np.int32([[5, 0, 4], [-3, 4, 4], [5, 3, 9], [8, 9, 12], [0, 1, 2]])
    for dtype in ("float32", "int16", "uint8", "float64"):
        vertices = numbers(rng, (12, 2), dtype)
        for ids in ([], [5], [8, 5], [0, -3, 8, 5]):
            for reindex in (False, True):
                arguments = {"reindex_masks": reindex}
                yield [np.array(ids, np.int32), polygons, vertices], "", arguments
    yield [np.int32([5]), polygons, numbers(rng, (12, 3), "float32")], "", {}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    ids, polygons, vertices = np.int32([1]), np.int32([[1, 0, 2]]), np.zeros((2, 2), np.float32)
    yield [ids[:, None], polygons, vertices], "", {}, "mask_ids have the shape (1, 1)"
    yield [ids, polygons[0], vertices], "", {}, "polygons have the shape (3,), expected (P, 3)"
    yield [ids, polygons[:, :2], vertices], "", {}, "polygons have the shape (1, 2)"
    yield [ids, polygons, vertices[0]], "", {}, "vertices have the shape (2,), expected (V, N)"
    yield [np.int32([1, 1]), polygons, vertices], "", {}, "mask_ids have 1 more than once"
    yield [ids + 1, polygons, vertices], "", {}, "mask_ids have 2, which no polygon belongs to"
    for begin, end in ((0, 3), (-1, 1), (2, 1)):
        words = f"has the vertices from {begin} to {end}, and there are 2"
        yield [ids, np.int32([[1, begin, end]]), vertices], "", {}, words
