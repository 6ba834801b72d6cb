#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The training input of a segmentation network: pictures and masks that are moved alike.

The data are a folder with images/ and instances.json, or else made on the spot.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from synthetic_scenes import make_scenes
from training_inputs import MEAN, STD, command_line, unnormalised

from stoker import DataNode, errors, fn, pipeline_def, types
from stoker.images import contact_sheet

SIZE = 192
COLOURS = np.array([[0, 0, 0], [230, 60, 60], [60, 200, 80], [70, 110, 250], [240, 200, 40]])


@pipeline_def
def segmentation_training(data: Path) -> tuple[DataNode, DataNode]:
    """Pictures (3, SIZE, SIZE) and their classes (SIZE, SIZE), 0 where there is nothing."""
    encoded, _boxes, _labels, masks = fn.readers.coco(
        name="Reader",
        file_root=data / "images",
        annotations_file=data / "instances.json",
        pixelwise_masks=True,
        skip_empty=True,
        random_shuffle=True,
    )
    images = fn.decoders.image(encoded, output_type=types.RGB)
    # What moves a picture moves its mask, which takes the nearest pixel: no operator mixes classes.
    masks = fn.as_classes(masks)
    angle = fn.random.uniform(range=[-20.0, 20.0])
    images = fn.rotate(images, angle=angle, keep_size=True, fill_value=0)
    masks = fn.rotate(masks, angle=angle, keep_size=True, fill_value=0)
    start, shape = fn.random_crop_generator(
        fn.shapes(images)[:2], random_area=[0.3, 1.0], random_aspect_ratio=[0.8, 1.25]
    )
    window = {"start": start, "shape": shape, "axis_names": "HW"}
    images = fn.resize(fn.slice(images, **window), size=[SIZE, SIZE])
    masks = fn.resize(fn.slice(masks, **window), size=[SIZE, SIZE])
    mirror = fn.random.coin_flip()
    images = fn.color_twist(
        images,
        brightness=fn.random.uniform(range=[0.8, 1.2]),
        saturation=fn.random.uniform(range=[0.7, 1.3]),
    )
    images = fn.crop_mirror_normalize(images, mirror=mirror, mean=MEAN, std=STD)
    masks = fn.squeeze(fn.flip(masks, horizontal=mirror), axis_names="C")
    return images, fn.cast(masks, dtype=types.INT64)


def drawn(image: Any, mask: Any) -> Any:
    """A picture of the network's input, with its mask laid over it."""
    picture = unnormalised(image)
    over = COLOURS[np.where(mask > 0, 1 + (mask - 1) % (len(COLOURS) - 1), 0)]
    mixed = np.where(mask[..., None] > 0, 0.45 * picture + 0.55 * over, picture)
    return np.clip(np.rint(mixed), 0, 255).astype(np.uint8)


def main() -> None:
    data, out = command_line(__doc__, "has images/ and instances.json", "scenes", make_scenes)
    pipe = segmentation_training(data, batch_size=4, seed=2)
    print(f"{pipe.epoch_size('Reader')} pictures with masks in {data}")
    images, masks = (np.asarray(batch) for batch in pipe.run())
    print(f"images {images.shape}, masks {masks.shape} with classes {np.unique(masks).tolist()}")
    sheet = out / "segmentation.jpg"
    contact_sheet([drawn(i, m) for i, m in zip(images, masks, strict=True)], sheet, columns=4)
    print(f"What the network gets to see: {sheet}")


if __name__ == "__main__":
    try:
        main()
    except errors.Error as e:
        raise SystemExit(str(e)) from e
