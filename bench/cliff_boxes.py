# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The rows of bench/cliff_rows.py for boxes, points, maps and windows, and what their peers do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from cliff_clock import Array
from cliff_row import Row

from stoker import fn

CHANCE = np.random.Generator(np.random.Philox(1))
LEAST = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)  # the least overlaps of SSD


def boxes(count: int) -> Callable[[Array], Array]:
    """Makes the view of a picture as `count` boxes: left, top, right, bottom."""

    def view(picture: Array) -> Array:
        corners = picture.reshape(-1)[: 4 * count].reshape(count, 2, 2) / np.float32(256)
        return np.concatenate([corners.min(1), corners.max(1) + 1 / 256], 1).astype(np.float32)

    return view


def anchors() -> Array:
    """The 8,732 anchors of SSD300."""
    found = []
    for cells, size, ratios in ((38, 0.1, 4), (19, 0.2, 6), (10, 0.4, 6), (5, 0.5, 6)):
        found.append(grid(cells, size, ratios))
    return np.concatenate([*found, grid(3, 0.7, 4), grid(1, 0.9, 4)]).astype(np.float32)


def grid(cells: int, size: float, ratios: int) -> Array:
    centre = (np.arange(cells) + 0.5) / cells
    y, x = np.meshgrid(centre, centre, indexing="ij")
    ratio = np.sqrt(np.array([1, 2, 1 / 2, 1.5, 3, 1 / 3][:ratios]))
    width, height = (
        np.broadcast_to(s, (cells * cells, ratios)) for s in (size * ratio, size / ratio)
    )
    x, y = x.reshape(-1, 1), y.reshape(-1, 1)
    return np.stack([x - width / 2, y - height / 2, x + width / 2, y + height / 2], -1).reshape(
        -1, 4
    )


ANCHORS = anchors()


def joint(a: Array, b: Array) -> Array:
    """The share of the joint area that each of `a` and each of `b` have in common."""
    extents = np.minimum(a[:, None, 2:], b[:, 2:]) - np.maximum(a[:, None, :2], b[:, :2])
    common = np.prod(np.maximum(extents, 0), 2)
    area, other = (np.prod(x[:, 2:] - x[:, :2], 1) for x in (a, b))
    return common / (area[:, None] + other - common)


def encoded(x: Array, out: Array) -> None:
    overlap = joint(x, ANCHORS)
    best = overlap.argmax(0)
    matched = overlap.max(0) > 0.5
    own = len(ANCHORS) - 1 - overlap[:, ::-1].argmax(1)
    best[own], matched[own] = np.arange(len(x)), True
    chosen = np.where(matched[:, None], x[best], ANCHORS)
    np.add(chosen[:, :2], chosen[:, 2:], out=out[:, :2])
    out[:, :2] /= 2
    np.subtract(chosen[:, 2:], chosen[:, :2], out=out[:, 2:])


def flipped(x: Array, out: Array) -> None:
    np.subtract(1, x[:, 2], out=out[:, 0])
    np.subtract(1, x[:, 0], out=out[:, 2])
    out[:, 1::2] = x[:, 1::2]


def moved_along(x: Array, out: Array) -> None:
    np.multiply(x, np.float32(1 / 1.5), out=out)
    np.add(out, np.float32(0.5 / 3), out=out)


def mirrored_points(x: Array, out: Array) -> None:
    np.subtract(1, x[:, 0], out=out[:, 0])
    out[:, 1:] = x[:, 1:]


def window(x: Array) -> Array:
    """Draws windows until one overlaps all boxes as much as a drawn share says."""
    while True:
        least = CHANCE.integers(len(LEAST) + 1)
        if least == len(LEAST):
            return np.array([[0, 0, 1, 1]], np.float32)
        size = CHANCE.uniform(0.3, 1, 2)
        if not 0.5 <= size[0] / size[1] <= 2:
            continue
        start = CHANCE.uniform(0, 1 - size)
        drawn = np.concatenate([start, start + size])[None].astype(np.float32)
        if (joint(x, drawn) < LEAST[least]).any():
            continue
        centre = (x[:, :2] + x[:, 2:]) / 2
        if ((centre > drawn[:, :2]) & (centre < drawn[:, 2:])).all(1).any():
            return drawn


def drawn_window(x: Array, out: Array) -> None:
    drawn = window(x)
    centre = (x[:, :2] + x[:, 2:]) / 2
    inside = ((centre > drawn[:, :2]) & (centre < drawn[:, 2:])).all(1)
    size = np.tile(drawn[:, 2:] - drawn[:, :2], 2)
    left = np.clip((x[inside] - np.tile(drawn[:, :2], 2)) / size, 0, 1)
    out[: len(left)] = left[: len(out)]


FEW = boxes(2)


def cropped_window(x: Array, out: Array) -> None:
    found = FEW(x)
    left, top, right, bottom = window(found)[0]
    height, width = x.shape[:2]
    part = x[int(top * height) : int(bottom * height), int(left * width) : int(right * width)]
    part.copy()
    drawn_window(found, np.empty_like(found))


def drawn_in_region(x: Array, out: Array) -> None:
    out[...] = CHANCE.integers((20, 30), (61, 91))


def drawn_extents(x: Array, out: Array) -> None:
    """As torchvision's `RandomResizedCrop.get_params`."""
    height, width = int(x[0]), int(x[1])
    for _ in range(10):
        area = height * width * CHANCE.uniform(0.08, 1)
        ratio = np.exp(CHANCE.uniform(np.log(3 / 4), np.log(4 / 3)))
        w, h = round(np.sqrt(area * ratio)), round(np.sqrt(area / ratio))
        if w <= width and h <= height:
            out[...] = CHANCE.integers(0, height - h + 1), CHANCE.integers(0, width - w + 1)
            return


# A hundred polygons of 40 vertices, two for each mask.
POLYGONS = np.stack([np.arange(100) // 2, np.arange(100) * 40, np.arange(100) * 40 + 40], 1).astype(
    np.int32
)
WANTED = np.arange(0, 50, 5, dtype=np.int32)


def picked(x: Array, out: Array) -> None:
    rows = np.concatenate([POLYGONS[POLYGONS[:, 0] == mask] for mask in WANTED])
    np.concatenate([x[begin:end] for _, begin, end in rows], out=out)


def turn(x: Array, out: Array) -> None:
    angle = np.radians(CHANCE.uniform(-30, 30))
    c, s = np.cos(angle), np.sin(angle)
    out[...] = [[c, -s, 0], [s, c, 0]]


def stretch(x: Array, out: Array) -> None:
    out[...] = np.diag(CHANCE.uniform(0.5, 2, 3))[:2]


def slant(x: Array, out: Array) -> None:
    a, b = CHANCE.uniform(-0.5, 0.5, 2)
    out[...] = [[1, a, 0], [b, 1, 0]]


def shift(x: Array, out: Array) -> None:
    a, b = CHANCE.uniform(-9, 9, 2)
    out[...] = [[1, 0, a], [0, 1, b]]


def taken(x: Array, out: Array) -> None:
    start, size = CHANCE.uniform(0, 9, 2), CHANCE.uniform(1, 9, 2)
    out[:, :2] = np.diag(1 / size)
    out[:, 2] = -start / size


def joined(x: Array, out: Array) -> None:
    first, second = np.eye(3), np.eye(3)
    turn(x, first[:2])
    shift(x, second[:2])
    out[...] = (second @ first)[:2]


def drawn(low: float, high: float, count: int | None = None) -> Any:
    return fn.random.uniform(range=[low, high], **({"shape": [count]} if count else {}))


def from_nothing(name: str, ours: Callable[[], Any], peer: Callable[[Array, Array], Any]) -> Row:
    """A row of maps from drawn numbers, whose draws count on both sides."""
    return Row(name, name, lambda *_: ours(), "NumPy", peer, apart=None, has_input=False)


MAPS: Sequence[Row] = [
    from_nothing("transforms.rotation", lambda: fn.transforms.rotation(angle=drawn(-30, 30)), turn),
    from_nothing("transforms.scale", lambda: fn.transforms.scale(scale=drawn(0.5, 2, 2)), stretch),
    from_nothing("transforms.shear", lambda: fn.transforms.shear(shear=drawn(-0.5, 0.5, 2)), slant),
    from_nothing(
        "transforms.translation", lambda: fn.transforms.translation(offset=drawn(-9, 9, 2)), shift
    ),
    from_nothing(
        "transforms.crop",
        lambda: fn.transforms.crop(from_start=drawn(0, 9, 2), from_end=drawn(10, 19, 2)),
        taken,
    ),
    from_nothing(
        "transforms.combine",
        lambda: fn.transforms.combine(
            fn.transforms.rotation(angle=drawn(-30, 30)),
            fn.transforms.translation(offset=drawn(-9, 9, 2)),
        ),
        joined,
    ),
]

BOXES = [
    Row(
        *("bb_flip", "bb_flip", lambda node, _: fn.bb_flip(node, ltrb=True)),
        *("NumPy", flipped, boxes(1000), 1e-6),
    ),
    Row(
        *("bbox_paste", "bbox_paste"),
        lambda node, _: fn.bbox_paste(node, ratio=1.5, ltrb=True),
        *("NumPy", moved_along, boxes(1000), 1e-6),
    ),
    Row(
        *("coord_flip", "coord_flip", lambda node, _: fn.coord_flip(node)),
        *("NumPy", mirrored_points, lambda x: boxes(1000)(x)[:, :2].copy(), 1e-6),
    ),
    Row(
        *("box_encoder", "box_encoder"),
        lambda node, x: fn.box_encoder(
            node, np.ones(len(x), np.int32), anchors=ANCHORS.ravel().tolist()
        )[0],
        *("NumPy", encoded, boxes(8), 1e-4),  # equal overlaps may differ in their last bit
    ),
    Row(
        *("random_bbox_crop", "random_bbox_crop"),
        lambda node, _: fn.random_bbox_crop(
            node, thresholds=list(LEAST), aspect_ratio=[0.5, 2.0], scaling=[0.3, 1.0]
        )[2],
        *("NumPy", drawn_window, FEW, None),
    ),
    Row(
        *("ssd_random_crop", "ssd_random_crop"),
        lambda node, x: fn.ssd_random_crop(node, FEW(x), np.ones(2, np.int32))[0],
        *("NumPy", cropped_window),
        apart=None,
    ),
    Row(
        *("roi_random_crop", "roi_random_crop"),
        lambda *_: fn.roi_random_crop(crop_shape=[40, 40], roi_start=[20, 30], roi_shape=[80, 100]),
        *("NumPy integers", drawn_in_region),
        apart=None,
        has_input=False,
    ),
    Row(
        *("random_crop_generator", "random_crop_generator"),
        lambda node, _: fn.random_crop_generator(node)[0],
        *("NumPy", drawn_extents, lambda x: np.array(x.shape, np.int64), None),
    ),
    Row(
        *("segmentation.select_masks", "segmentation.select_masks"),
        lambda node, _: fn.segmentation.select_masks(WANTED, POLYGONS, node)[1],
        *("NumPy", picked),
        lambda x: x.reshape(-1)[:8000].reshape(4000, 2).astype(np.float32),
    ),
    *MAPS,
]
