# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures with masks, cut, turned and flipped alike: segmentation_masks.py FOLDER."""

import json
import os
import sys

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def

CLASSES = 4


def mask_of(height, width, number):
    """A mask of rectangles, one for each class but the background."""
    mask = np.zeros((height, width, 1), dtype=np.uint8)
    for k in range(1, CLASSES):
        top, left = (number * 7 + k * 11) % (height // 2), (number * 5 + k * 13) % (width // 2)
        mask[top : top + height // 3, left : left + width // 4] = k
    return mask


class PicturesAndMasks:
    def __init__(self, data_dir, batch_size):
        self.files = sorted(
            os.path.join(data_dir, name, file)
            for name in os.listdir(data_dir)
            for file in os.listdir(os.path.join(data_dir, name))
        )
        self.batch_size = batch_size

    def __iter__(self):
        self.at = 0
        return self

    def __next__(self):
        pictures, masks = [], []
        for _ in range(self.batch_size):
            i = self.at % len(self.files)
            with open(self.files[i], "rb") as file:
                pictures.append(np.frombuffer(file.read(), dtype=np.uint8))
            masks.append(mask_of(40 + (i * 13) % 31, 36 + (i * 29) % 37, i))
            self.at += 1
        return pictures, masks


@pipeline_def(batch_size=4, num_threads=2, device_id=None)
def prepared(source):
    """Everything about the samples is decided, so all values can be compared."""
    encoded, masks = fn.external_source(source=source, num_outputs=2, layout=["", "HWC"])
    images = fn.decoders.image(encoded, device="cpu", output_type=types.RGB)
    images = fn.crop(images, crop=(32, 30), crop_pos_x=0.25, crop_pos_y=0.75)
    masks = fn.crop(masks, crop=(32, 30), crop_pos_x=0.25, crop_pos_y=0.75)
    images = fn.rotate(images, angle=90.0, interp_type=types.INTERP_LINEAR, fill_value=0)
    masks = fn.rotate(masks, angle=90.0, interp_type=types.INTERP_NN, fill_value=0)
    small = fn.resize(masks, resize_x=16, resize_y=15, interp_type=types.INTERP_NN)
    counts = fn.reductions.sum(
        fn.one_hot(fn.squeeze(small, axes=[2]), num_classes=CLASSES, axis=0), axes=[1, 2]
    )
    inside = fn.cast(masks > 0, dtype=types.UINT8)
    cut = images * inside
    means = fn.reductions.mean(fn.cast(cut, dtype=types.FLOAT), axes=[0, 1])
    table = fn.lookup_table(
        fn.squeeze(masks, axes=[2]), keys=[0, 1, 2, 3], values=[255, 0, 1, 2], dtype=types.UINT8
    )
    images = fn.normalize(images, axes=[0, 1], stddev=60.0, dtype=types.FLOAT)
    return fn.transpose(images, perm=[2, 0, 1]), masks, small, counts, cut, means, table


@pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=21)
def augmented(source):
    """Draws are shared: the same ones for a picture and for its mask."""
    encoded, masks = fn.external_source(source=source, num_outputs=2)
    masks = fn.reshape(masks, layout="HWC")
    images = fn.decoders.image(encoded, output_type=types.RGB)
    # The mask as a picture, to see whether both are moved alike.
    marks = masks * np.uint8(60)
    x, y = fn.random.uniform(range=[0.0, 1.0]), fn.random.uniform(range=[0.0, 1.0])
    flip = fn.random.coin_flip(probability=0.5)
    angle = fn.random.uniform(range=[-20.0, 20.0])

    def move(data):
        data = fn.rotate(
            data, angle=angle, interp_type=types.INTERP_NN, fill_value=0, keep_size=True
        )
        data = fn.crop(data, crop=[30, 28], crop_pos_x=x, crop_pos_y=y)
        return fn.flip(data, horizontal=flip)

    images = fn.color_twist(move(images), brightness=fn.random.uniform(range=[0.8, 1.2]))
    return images, move(masks), move(marks)


def values(batch):
    return [np.array(batch[i]) for i in range(len(batch))]


def main(data_dir):
    pipe = prepared(PicturesAndMasks(data_dir, 4))
    pipe.build()
    for _ in range(4):
        images, masks, small, counts, cut, means, table = pipe.run()
        sums = [v.astype(np.int64).sum(axis=(0, 1)).tolist() for v in values(cut)]
        line = {
            "layouts": [b.layout() for b in (images, masks, small, counts, cut, table)],
            "shapes": [list(s) for s in images.shape()],
            "images": [v.astype(float).std(axis=(1, 2)).tolist() for v in values(images)],
            "counts": [v.tolist() for v in values(counts)],
            "masks": [np.bincount(v.ravel(), minlength=CLASSES).tolist() for v in values(masks)],
            "rows": [v[8, :, 0].tolist() for v in values(small)],
            "close": [
                bool(np.allclose(v * 32 * 30, s)) for v, s in zip(values(means), sums, strict=True)
            ],
            "table": [sorted(set(v.ravel().tolist())) for v in values(table)],
        }
        print(json.dumps(line))
    pipe = augmented(PicturesAndMasks(data_dir, 4))
    pipe.build()
    for _ in range(4):
        images, masks, marks = pipe.run()
        line = {
            "shapes": [list(s) for batch in (images, masks) for s in batch.shape()],
            "layouts": [images.layout(), masks.layout(), marks.layout()],
            "moved alike": [
                bool(np.array_equal(m * 60, p))
                for m, p in zip(values(masks), values(marks), strict=True)
            ],
            "classes": all(v.max() < CLASSES for v in values(masks)),
        }
        print(json.dumps(line))


if __name__ == "__main__":
    main(sys.argv[1])
