# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Input of a single-shot detector, with functions: ssd_functions.py FOLDER."""

import json
import os
import sys
import tempfile

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def


def annotate(data_dir, folder):
    """Writes annotations for the pictures: up to three boxes each, of five categories."""
    files = sorted(
        os.path.join(name, file)
        for name in os.listdir(data_dir)
        for file in os.listdir(os.path.join(data_dir, name))
    )
    images, boxes = [], []
    for i, file in enumerate(files):
        height, width = 40 + (i * 13) % 31, 36 + (i * 29) % 37
        images.append({"id": 10 * i + 3, "file_name": file, "height": height, "width": width})
        for k in range(i % 4):
            x, y = 2.5 * k + i % 7, 3.25 * k + i % 5
            w, h = width / (k + 2.0), height / (k + 1.75)
            boxes.append(
                {
                    "id": len(boxes) + 1,
                    "image_id": 10 * i + 3,
                    "category_id": 5 + 10 * ((i + k) % 5),
                    "bbox": [x, y, min(w, width - x), min(h, height - y)],
                    "area": w * h,
                    "iscrowd": 0,
                }
            )
    categories = [{"id": 5 + 10 * k, "name": f"kind {k}"} for k in range(5)]
    path = os.path.join(folder, "instances.json")
    with open(path, "w") as out:
        json.dump({"images": images, "annotations": boxes, "categories": categories}, out)
    return path


def anchors():
    found = []
    for size, steps in ((0.2, 5), (0.45, 3), (0.8, 1)):
        for i in range(steps):
            for j in range(steps):
                x, y = (i + 0.5) / steps, (j + 0.5) / steps
                found += [x - size / 2, y - size / 2, x + size / 2, y + size / 2]
    return [min(max(v, 0.0), 1.0) for v in found]


@pipeline_def
def evaluation(data_dir, annotations):
    images, boxes, labels, ids = fn.readers.coco(
        file_root=data_dir,
        annotations_file=annotations,
        skip_empty=True,
        ratio=True,
        ltrb=True,
        image_ids=True,
        shard_id=0,
        num_shards=1,
        name="Reader",
    )
    shapes = fn.peek_image_shape(images)
    images = fn.decoders.image(images, device="cpu", output_type=types.RGB)
    images = fn.resize(
        images, resize_x=30, resize_y=30, min_filter=types.DALIInterpType.INTERP_TRIANGULAR
    )
    images = fn.crop_mirror_normalize(
        images,
        mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
        std=[0.229 * 255, 0.224 * 255, 0.225 * 255],
        dtype=types.FLOAT,
        output_layout="CHW",
    )
    encoded, classes = fn.box_encoder(
        boxes, labels, criteria=0.5, anchors=anchors(), offset=True, stds=[0.1, 0.1, 0.2, 0.2]
    )
    return images, boxes, labels, ids, shapes, encoded, classes


@pipeline_def
def training(data_dir, annotations):
    images, boxes, _ = fn.readers.coco(
        file_root=data_dir,
        annotations_file=annotations,
        skip_empty=True,
        ratio=True,
        ltrb=True,
        random_shuffle=True,
        shuffle_after_epoch=False,
        name="Reader",
    )
    images = fn.decoders.image(images, output_type=types.RGB)
    ratio = fn.random.uniform(range=[1.0, 2.0])
    paste_x, paste_y = fn.random.uniform(range=[0.0, 1.0]), fn.random.uniform(range=[0.0, 1.0])
    images = fn.paste(
        images, ratio=ratio, paste_x=paste_x, paste_y=paste_y, fill_value=[104, 117, 123]
    )
    pasted = fn.bbox_paste(boxes, ratio=ratio, paste_x=paste_x, paste_y=paste_y, ltrb=True)
    flip = fn.random.coin_flip(probability=0.5)
    flipped = fn.bb_flip(pasted, ltrb=True, horizontal=flip)
    images = fn.hsv(
        images,
        hue=fn.random.uniform(range=[-18.0, 18.0]),
        saturation=fn.random.uniform(range=[0.5, 1.5]),
        dtype=types.FLOAT,
    )
    images = fn.brightness_contrast(
        images,
        contrast_center=128,
        brightness=fn.random.uniform(range=[0.875, 1.125]),
        contrast=fn.random.uniform(range=[0.5, 1.5]),
        dtype=types.UINT8,
    )
    images = fn.resize(images, size=[30, 30])
    images = fn.crop_mirror_normalize(
        images, mirror=flip, mean=[104.0, 117.0, 123.0], std=[1.0] * 3, dtype=types.FLOAT
    )
    return images, boxes, pasted, flipped, flip, ratio, paste_x, paste_y


def numbers(batch):
    return [np.array(batch[i]).astype(float).tolist() for i in range(len(batch))]


def evaluate(pipe):
    pipe.build()
    print(json.dumps({"size": pipe.epoch_size("Reader"), "all": pipe.epoch_size()}))
    for _ in range(3):
        images, boxes, labels, ids, shapes, encoded, classes = pipe.run()
        print(json.dumps({"shape": list(images.as_array().shape), "layout": images.layout()}))
        print(json.dumps({"means": images.as_array().mean(axis=(2, 3)).astype(float).tolist()}))
        for batch in (boxes, labels, ids, shapes, classes):
            print(json.dumps({"dtype": str(np.array(batch[0]).dtype), "values": numbers(batch)}))
        encoded = encoded.as_array()
        print(json.dumps({"encoded": [list(encoded.shape), encoded.sum(axis=1).tolist()]}))


def train(pipe):
    pipe.build()
    for _ in range(4):
        images, boxes, pasted, flipped, flip, ratio, x, y = pipe.run()
        ok = []
        for i in range(len(images)):
            before = np.array(boxes[i], dtype=float)
            r, px, py = (float(np.array(v[i])) for v in (ratio, x, y))
            offset = np.array([px, py, px, py]) * (r - 1) / r
            right = before / r + offset
            ok.append(bool(np.allclose(np.array(pasted[i]), right, atol=1e-5)))
            if int(np.array(flip[i])):
                right[:, [0, 2]] = 1 - right[:, [2, 0]]
            ok.append(bool(np.allclose(np.array(flipped[i]), right, atol=1e-5)))
        about = {"shape": list(images.as_array().shape), "layout": images.layout(), "boxes": ok}
        print(json.dumps(about))


def main(data_dir):
    with tempfile.TemporaryDirectory() as folder:
        path = annotate(data_dir, folder)
        evaluate(evaluation(data_dir, path, batch_size=4, num_threads=2, device_id=None))
        train(training(data_dir, path, batch_size=4, num_threads=2, device_id=None, seed=3))


if __name__ == "__main__":
    main(sys.argv[1])
