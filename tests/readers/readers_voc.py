# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""readers.voc: a folder in VOC's layout, with pictures of any bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .common import Store, array_of, some_bytes

CLASSES = ["cat", "dog"]
OBJECT = """
  <object><name>{name}</name><difficult>{difficult}</difficult><truncated>1</truncated>
    <bndbox><xmin>{0}</xmin><ymin>{1}</ymin><xmax>{2}</xmax><ymax>{3}</ymax></bndbox></object>"""


def make(folder: Path, count: int) -> Store:
    samples, files = [], []
    for name in ("JPEGImages", "Annotations"):
        (folder / name).mkdir()
    for i in range(count):
        picture = some_bytes(i, 50 + 37 * i)
        (folder / "JPEGImages" / f"{i:03}.jpg").write_bytes(picture)
        boxes = [[1 + i, 3, 9 + i, 20 + k] for k in range(i % 3)]
        objects = [
            OBJECT.format(*box, name=CLASSES[k % 2], difficult=i % 2) for k, box in enumerate(boxes)
        ]
        path = folder / "Annotations" / f"{i:03}.xml"
        path.write_text(f"<annotation>{''.join(objects)}\n</annotation>\n")
        files.append(path)
        shown = [[x - 1, y - 1, right - x + 1, low - y + 1] for x, y, right, low in boxes]
        samples.append(
            (
                array_of(picture),
                np.array(shown, np.float32).reshape(-1, 4),
                np.array([1 + k % 2 for k in range(len(boxes))], np.int32),
                np.full(len(boxes), i % 2, np.int32),
                np.ones(len(boxes), np.int32),
            )
        )

    def damage(index: int) -> None:
        files[index].write_text("<annotation><object>")

    arguments = {"file_root": str(folder), "classes": CLASSES}
    return Store(arguments, samples, files, damage)


VARIANTS = {"folder": make}
