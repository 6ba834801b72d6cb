# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Input of a detector, with classes and their old names: ssd_classes.py FOLDER."""

import json
import os
import sys
import tempfile

import numpy as np
import nvidia.dali.ops as ops
import nvidia.dali.types as types
from nvidia.dali.pipeline import Pipeline


def annotate(data_dir, folder):
    images, annotations = [], []
    for name in sorted(os.listdir(data_dir)):
        for file in sorted(os.listdir(os.path.join(data_dir, name))):
            number = len(images)
            height, width = 40 + (number * 13) % 31, 36 + (number * 29) % 37
            images.append(
                {
                    "id": number,
                    "file_name": os.path.join(name, file),
                    "height": height,
                    "width": width,
                }
            )
            annotations.append(
                {
                    "id": number,
                    "image_id": number,
                    "category_id": ord(name[0]),
                    "bbox": [3.0, 4.0 + number % 3, width / 2.0, height / 3.0],
                    "area": width * height / 6.0,
                    "iscrowd": number % 2,
                }
            )
    categories = [{"id": ord(c), "name": c} for c in "abc"]
    path = os.path.join(folder, "annotations.json")
    with open(path, "w") as out:
        json.dump({"images": images, "annotations": annotations, "categories": categories}, out)
    return path


class DetectionPipeline(Pipeline):
    def __init__(self, batch_size, num_threads, device_id, data_dir, annotations, crowd):
        super().__init__(batch_size, num_threads, device_id, seed=15)
        self.input = ops.COCOReader(
            file_root=data_dir,
            annotations_file=annotations,
            ratio=True,
            ltrb=False,
            include_iscrowd=crowd,
            skip_empty=False,
        )
        self.decode = ops.ImageDecoder(device="cpu", output_type=types.RGB)
        self.paste = ops.Paste(device="cpu", fill_value=(50, 100, 150), ratio=1.5)
        self.bbpaste = ops.BBoxPaste(device="cpu", ratio=1.5)
        self.flip = ops.Flip(device="cpu")
        self.bbflip = ops.BbFlip(device="cpu")
        self.twist = ops.ColorTwist(device="cpu", saturation=0.5, contrast=1.25)
        self.resize = ops.Resize(
            device="cpu", resize_x=24, resize_y=32, min_filter=types.INTERP_TRIANGULAR
        )
        self.cast = ops.Cast(device="cpu", dtype=types.INT32)
        self.coin = ops.CoinFlip(probability=0.5)
        self.uniform = ops.Uniform(range=(0.25, 0.75))

    def define_graph(self):
        inputs, bboxes, labels = self.input(name="Reader")
        coin, vertical = self.coin(), self.coin()
        x, y = self.uniform(), self.uniform()
        images = self.decode(inputs)
        pasted = self.paste(images, paste_x=x, paste_y=y)
        bboxes = self.bbpaste(bboxes, paste_x=x, paste_y=y)
        straight = self.resize(self.twist(pasted))
        turned = self.flip(straight, horizontal=coin, vertical=vertical)
        flipped = self.bbflip(bboxes, horizontal=coin, vertical=vertical)
        return straight, turned, bboxes, flipped, self.cast(labels), coin, vertical


def main(data_dir):
    for crowd in (True, False):
        with tempfile.TemporaryDirectory() as folder:
            path = annotate(data_dir, folder)
            pipe = DetectionPipeline(3, 2, None, data_dir, path, crowd)
            pipe.build()
            print(json.dumps({"size": pipe.epoch_size("Reader")}))
            for _ in range(5):
                straight, turned, boxes, flipped, labels, coin, vertical = pipe.run()
                agree = []
                for i in range(3):
                    picture, box = np.array(straight[i]), np.array(boxes[i], dtype=float)
                    if np.array(coin[i]):
                        picture = picture[:, ::-1]
                        box[:, 0] = 1 - box[:, 0] - box[:, 2]
                    if np.array(vertical[i]):
                        picture = picture[::-1]
                        box[:, 1] = 1 - box[:, 1] - box[:, 3]
                    agree.append(bool(np.array_equal(picture, np.array(turned[i]))))
                    agree.append(bool(np.allclose(box, np.array(flipped[i]), atol=1e-6)))
                line = {
                    "agree": agree,
                    "shapes": [list(s) for s in straight.shape()],
                    "boxes": [list(s) for s in boxes.shape()],
                    "labels": [np.array(labels[i]).tolist() for i in range(3)],
                    "dense": [straight.is_dense_tensor(), boxes.is_dense_tensor()],
                }
                print(json.dumps(line))


if __name__ == "__main__":
    main(sys.argv[1])
