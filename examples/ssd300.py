#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The training input of an SSD300 detector, and a sheet of what the network gets to see.

The data are a folder with images/ and instances.json, or else made on the spot.
"""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
from synthetic_scenes import make_scenes
from training_inputs import MEAN, STD, command_line, unnormalised

from stoker import DataNode, errors, fn, pipeline_def, types
from stoker.images import contact_sheet

SIZE = 300
# For each map of features: its extent, the distance of its places in pixels, the sizes of its
# square boxes, and the aspect ratios of the others.
MAPS = [
    (38, 8, (21, 45), (2,)),
    (19, 16, (45, 99), (2, 3)),
    (10, 32, (99, 153), (2, 3)),
    (5, 64, (153, 207), (2, 3)),
    (3, 100, (207, 261), (2,)),
    (1, 300, (261, 315), (2,)),
]


def default_boxes() -> list[float]:
    """The 8732 boxes of SSD300 as left, top, right, bottom, relative to the picture."""
    found: list[float] = []
    for extent, step, (size, next_size), ratios in MAPS:
        shapes = [(size, size), (math.sqrt(size * next_size),) * 2]
        for ratio in ratios:
            wide, narrow = size * math.sqrt(ratio), size / math.sqrt(ratio)
            shapes += [(wide, narrow), (narrow, wide)]
        for (i, j), (w, h) in itertools.product(itertools.product(range(extent), repeat=2), shapes):
            x, y = (j + 0.5) * step, (i + 0.5) * step
            box = (x - w / 2, y - h / 2, x + w / 2, y + h / 2)
            found += [min(max(v / SIZE, 0.0), 1.0) for v in box]
    return found


@pipeline_def
def ssd300_training(data: Path) -> tuple[DataNode, ...]:
    """The pictures, the target of each default box and its class (0: none), and the boxes."""
    encoded, boxes, labels = fn.readers.coco(
        name="Reader",
        file_root=data / "images",
        annotations_file=data / "instances.json",
        ltrb=True,
        ratio=True,
        skip_empty=True,
        random_shuffle=True,
    )
    images = fn.decoders.image(encoded, output_type=types.RGB)
    # Half of the pictures are pasted onto a larger canvas, so that their things are smaller.
    place = {
        "ratio": 1.0 + fn.random.coin_flip() * fn.random.uniform(range=[0.0, 1.5]),
        "paste_x": fn.random.uniform(range=[0.0, 1.0]),
        "paste_y": fn.random.uniform(range=[0.0, 1.0]),
    }
    images = fn.paste(images, fill_value=[round(m) for m in MEAN], **place)
    boxes = fn.bbox_paste(boxes, ltrb=True, **place)
    mirror = fn.random.coin_flip()
    boxes = fn.bb_flip(boxes, ltrb=True, horizontal=mirror)
    images = fn.resize(images, size=[SIZE, SIZE])
    images = fn.color_twist(
        images,
        hue=fn.random.uniform(range=[-18.0, 18.0]),
        saturation=fn.random.uniform(range=[0.5, 1.5]),
        contrast=fn.random.uniform(range=[0.7, 1.3]),
        brightness=fn.random.uniform(range=[0.875, 1.125]),
    )
    images = fn.crop_mirror_normalize(images, mirror=mirror, mean=MEAN, std=STD)
    targets, classes = fn.box_encoder(
        boxes, labels, anchors=default_boxes(), offset=True, stds=[0.1, 0.1, 0.2, 0.2]
    )
    return images, targets, classes, fn.pad(boxes, axes=[0], fill_value=-1.0)


def drawn(image: Any, boxes: Any) -> Any:
    """A picture of the network's input with its boxes."""
    picture = unnormalised(image)
    picture = np.clip(np.rint(picture), 0, 255).astype(np.uint8)
    for left, top, right, bottom in np.clip(np.rint(boxes * SIZE), 0, SIZE - 1).astype(int):
        picture[[top, bottom], left : right + 1] = (255, 40, 40)
        picture[top : bottom + 1, [left, right]] = (255, 40, 40)
    return picture


def main() -> None:
    data, out = command_line(__doc__, "has images/ and instances.json", "scenes", make_scenes)
    pipe = ssd300_training(data, batch_size=8, seed=1)
    print(f"{pipe.epoch_size('Reader')} pictures with things in {data}")
    images, targets, classes, boxes = (np.asarray(batch) for batch in pipe.run())
    print(f"images {images.shape}, targets {targets.shape}")
    print(f"{(classes > 0).sum(1).tolist()} default boxes have a thing")
    sheet = out / "ssd300.jpg"
    contact_sheet(
        [drawn(i, b[b[:, 0] >= 0]) for i, b in zip(images, boxes, strict=True)], sheet, columns=4
    )
    print(f"What the network gets to see: {sheet}")


if __name__ == "__main__":
    try:
        main()
    except errors.Error as e:
        raise SystemExit(str(e)) from e
