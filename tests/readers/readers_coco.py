# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""readers.coco: pictures of any bytes with boxes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from .common import Store, array_of, some_bytes


def make(folder: Path, count: int) -> Store:
    samples, files, images, annotations = [], [], [], []
    for i in range(count):
        path = folder / f"{i:03}.jpg"
        path.write_bytes(some_bytes(i, 50 + 37 * i))
        files.append(path)
        images.append({"id": 100 + i, "file_name": path.name, "width": 64, "height": 48})
        boxes = [[float(i), 2.5, 10.0, 4.0 + k] for k in range(i % 3)]
        annotations += [
            {"image_id": 100 + i, "category_id": 7 * k + 1, "bbox": box, "iscrowd": 0}
            for k, box in enumerate(boxes)
        ]
        samples.append(
            (
                array_of(path.read_bytes()),
                np.array(boxes, np.float32).reshape(-1, 4),
                np.arange(1, 1 + len(boxes), dtype=np.int32),
                np.array([100 + i], np.int32),
            )
        )
    categories = [{"id": 1, "name": "a"}, {"id": 8, "name": "b"}]
    file: dict[str, Any] = {"annotations": annotations[::-1], "categories": categories}
    # The objects of a picture come in the order of the file.
    file["annotations"].sort(key=lambda a: (a["image_id"] % 5, a["category_id"]))
    file["images"] = images[::-1]
    (folder / "instances.json").write_text(json.dumps(file))

    def damage(index: int) -> None:
        files[index].unlink()

    arguments = {
        "file_root": str(folder),
        "annotations_file": str(folder / "instances.json"),
        "image_ids": True,
    }
    return Store(arguments, samples, files, damage, takes_any_file=True)


VARIANTS = {"boxes": make}
