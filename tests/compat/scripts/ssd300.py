# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""SSD300's input from annotations of COCO, which are made on the spot: ssd300.py FOLDER."""

import json
import sys
import tempfile
from math import sqrt
from pathlib import Path

import numpy as np
from nvidia.dali import fn, pipeline_def, types

# Cells of a feature map, scales of its boxes, and their aspect ratios.
MAPS = ((38, 21, 45, (2,)), (19, 45, 99, (2, 3)), (10, 99, 153, (2, 3)))


def default_boxes():
    """Boxes as left, top, right and bottom, in parts of the picture."""
    boxes = []
    for cells, small, large, ratios in MAPS:
        sizes = [(small, small), (sqrt(small * large),) * 2]
        for ratio in ratios:
            sizes += [(small * sqrt(ratio), small / sqrt(ratio))]
            sizes += [(small / sqrt(ratio), small * sqrt(ratio))]
        for y in range(cells):
            for x in range(cells):
                for width, height in sizes:
                    cx, cy, w, h = (x + 0.5) / cells, (y + 0.5) / cells, width / 300, height / 300
                    corners = (cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2)
                    boxes += [min(max(c, 0.0), 1.0) for c in corners]
    return boxes


def write_annotations(folder, file):
    """One to three objects in each picture but the third, of three classes, whose ids have gaps."""
    images, annotations = [], []
    for i, path in enumerate(sorted(folder.glob("*/*.jpg"))):
        height, width = 40 + (i * 13) % 31, 36 + (i * 29) % 37
        name = str(path.relative_to(folder))
        images.append({"id": 100 - i, "file_name": name, "width": width, "height": height})
        for k in range(0 if i == 2 else 1 + i % 3):
            box = [3 + k * 4, 2 + k * 3, 12 + (i * 5) % 13, 11 + (i * 7) % 17]
            annotation = {"id": 10 * i + k, "image_id": 100 - i, "iscrowd": 0, "bbox": box}
            annotations.append({**annotation, "category_id": (2, 5, 7)[(i + k) % 3], "area": 9})
    categories = [{"id": k, "name": str(k)} for k in (2, 5, 7)]
    table = {"images": images, "annotations": annotations, "categories": categories}
    file.write_text(json.dumps(table))


@pipeline_def
def ssd300(folder, annotations, is_training):
    images, boxes, labels = fn.readers.coco(
        file_root=folder,
        annotations_file=annotations,
        skip_empty=True,
        shard_id=0,
        num_shards=1,
        ratio=True,
        ltrb=True,
        random_shuffle=is_training,
        name="Reader",
    )
    images = fn.decoders.image(images, device="cpu", output_type=types.RGB)
    images = fn.resize(
        images, resize_x=300, resize_y=300, min_filter=types.DALIInterpType.INTERP_TRIANGULAR
    )
    flip = 0
    if is_training:
        flip = fn.random.coin_flip(probability=1.0)
        boxes = fn.bb_flip(boxes, ltrb=True, horizontal=flip)
        images = fn.color_twist(images, saturation=1.2, contrast=0.9, brightness=1.1, hue=8.0)
    images = fn.crop_mirror_normalize(
        images,
        crop=(300, 300),
        mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
        std=[0.229 * 255, 0.224 * 255, 0.225 * 255],
        mirror=flip,
        dtype=types.FLOAT,
        output_layout="CHW",
        pad_output=False,
    )
    targets, classes = fn.box_encoder(
        boxes,
        labels,
        anchors=default_boxes(),
        criteria=0.5,
        offset=True,
        stds=[0.1, 0.1, 0.2, 0.2],
    )
    return images, boxes, labels, targets, classes


def main():
    folder = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as place:
        annotations = Path(place) / "instances.json"
        write_annotations(folder, annotations)
        for is_training in (False, True):
            pipe = ssd300(
                batch_size=4,
                num_threads=2,
                device_id=None,
                seed=3,
                folder=str(folder),
                annotations=str(annotations),
                is_training=is_training,
            )
            pipe.build()
            size = pipe.epoch_size("Reader")
            lines = []
            for _ in range(2 * size):
                images, boxes, labels, targets, classes = pipe.run()
                for i in range(4):
                    matched = np.array(classes.at(i))
                    line = {"shape": list(images.at(i).shape), "dtype": str(images.at(i).dtype)}
                    line["boxes"] = [
                        [round(x, 4) for x in b] for b in np.array(boxes.at(i)).tolist()
                    ]
                    line["labels"] = np.array(labels.at(i)).tolist()
                    line["matched"] = int((matched > 0).sum())
                    line["targets"] = list(targets.at(i).shape)
                    lines.append(line)
            if is_training:  # chance decides the order
                texts = {json.dumps(line) for line in lines}
                lines = [json.loads(text) for text in sorted(texts)]
            else:
                lines = lines[: size + 1]
            for line in lines:
                print(json.dumps(line))


if __name__ == "__main__":
    main()
