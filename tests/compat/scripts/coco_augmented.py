# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Boxes and polygons of COCO through windows, flips and pastes: coco_augmented.py FOLDER."""

import json
import os
import sys
import tempfile

import numpy as np
from nvidia.dali import fn, pipeline_def, types


def annotate(data_dir, folder):
    images, annotations = [], []
    for name in sorted(os.listdir(data_dir)):
        for file in sorted(os.listdir(os.path.join(data_dir, name))):
            i = len(images)
            height, width = 40 + (i * 13) % 31, 36 + (i * 29) % 37
            entry = {"id": i, "file_name": f"{name}/{file}", "height": height, "width": width}
            images.append(entry)
            for k in range(1 + i % 2):
                x, y, w, h = 4.0 + 6 * k, 3.0 + 2 * k, 14.0 + i, 12.0 + k
                corners = [x, y, x + w, y, x + w, y + h, x, y + h]
                thing = {"id": 10 * i + k, "image_id": i, "bbox": [x, y, w, h], "iscrowd": 0}
                thing.update(category_id=1 + k, area=w * h, segmentation=[corners])
                annotations.append(thing)
    categories = [{"id": 1, "name": "one"}, {"id": 2, "name": "two"}]
    path = os.path.join(folder, "instances.json")
    with open(path, "w") as out:
        json.dump({"images": images, "annotations": annotations, "categories": categories}, out)
    return path


@pipeline_def(batch_size=2, num_threads=2, device_id=None, seed=8)
def detection(data_dir, annotations):
    encoded, boxes, labels, polygons, vertices, ids = fn.readers.coco(
        file_root=data_dir,
        annotations_file=annotations,
        polygon_masks=True,
        ratio=True,
        ltrb=True,
        image_ids=True,
        name="Reader",
    )
    start, size, cut, kept = fn.random_bbox_crop(
        boxes,
        labels,
        aspect_ratio=[0.5, 2.0],
        thresholds=[0, 0.1, 0.3, 0.5],
        scaling=[0.5, 1.0],
        bbox_layout="xyXY",
        allow_no_crop=False,
        total_num_attempts=100,
    )
    window = fn.decoders.image_slice(encoded, start, size, axis_names="WH")
    window = fn.resize(window, resize_x=24, resize_y=24, mag_filter=types.INTERP_CUBIC)
    across, down = fn.random.coin_flip(), fn.random.coin_flip(probability=0.3)
    turned = fn.flip(window, horizontal=across, vertical=down)
    flipped = fn.bb_flip(cut, ltrb=True, horizontal=across, vertical=down)
    moved = fn.coord_flip(vertices, layout="xy", flip_x=1, flip_y=0)
    chosen = fn.segmentation.select_masks([0], polygons, vertices, reindex_masks=True)
    grid = fn.grid_mask(window, ratio=0.5, angle=0.3, tile=6)
    erased = fn.erase(
        window, anchor=(0.25, 0.25), shape=(0.5, 0.25), axis_names="HW",
        normalized=True, fill_value=(1, 2, 3),
    )  # fmt: skip
    twisted = fn.color_twist(turned, hue=20.0, saturation=0.7, brightness=1.2)
    return (
        window, turned, cut, flipped, kept, across, down, boxes, vertices, moved, ids, twisted,
        grid, erased, *chosen,
    )  # fmt: skip


def main(data_dir):
    with tempfile.TemporaryDirectory() as folder:
        pipe = detection(data_dir, annotate(data_dir, folder))
        pipe.build()
        for _ in range(5):
            out = pipe.run()
            window, turned, cut, flipped, kept, across, down = out[:7]
            for i in range(2):
                picture, boxes = np.array(window[i]), np.array(cut[i], dtype=float)
                if int(np.array(across[i])):
                    picture = picture[:, ::-1]
                    boxes[:, [0, 2]] = 1 - boxes[:, [2, 0]]
                if int(np.array(down[i])):
                    picture = picture[::-1]
                    boxes[:, [1, 3]] = 1 - boxes[:, [3, 1]]
                line = [
                    bool(np.array_equal(picture, np.array(turned[i]))),
                    bool(np.allclose(boxes, np.array(flipped[i]), atol=1e-6)),
                    len(boxes) == len(np.array(kept[i])) and len(boxes) > 0,
                    bool(((boxes >= 0) & (boxes <= 1)).all()),
                ]
                rest = [np.array(o[i]).astype(float).round(4).tolist() for o in out[7:11]]
                kinds = [o.dtype.name for o in out]
                shapes = [list(np.array(o[i]).shape) for o in (*out[11:],)]
                print(json.dumps([line, rest, kinds, shapes]))


if __name__ == "__main__":
    main(sys.argv[1])
