#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What the pages of the guide read: pictures, the same in stores, and boxes in some of them."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import picture_stores
from synthetic_photos import make_photos

STORES = ("tfrecord", "recordio", "lmdb", "caffe2", "webdataset")
CLASSES = ["ball", "block", "stripe"]


def objects_of(index: int, width: int, height: int) -> list[tuple[str, list[int]]]:
    draw = np.random.default_rng(index)
    found = []
    for k in range(1 + index % 3):
        left, top = (int(draw.integers(0, side // 2)) for side in (width, height))
        right, low = left + 9 + int(draw.integers(0, width // 3)), top + 30
        found.append((CLASSES[(index + k) % 3], [left, top, right, low]))
    return found


def write_annotations(pictures: Path, folder: Path) -> int:
    """The same annotations in both forms, for pictures that are found in ``folder`` too."""
    from PIL import Image

    for name in ("JPEGImages", "Annotations", "ImageSets/Main"):
        (folder / name).mkdir(parents=True)
    images, annotations, names = [], [], []
    for i, path in enumerate(sorted(pictures.glob("*/*.jpg"))):
        with Image.open(path) as picture:
            width, height = picture.size
        (folder / "JPEGImages" / path.name).symlink_to(path.resolve())
        xml = f"<annotation><size><width>{width}</width><height>{height}</height></size>"
        for k, (name, (left, top, right, low)) in enumerate(objects_of(i, width, height)):
            box = f"<xmin>{left + 1}</xmin><ymin>{top + 1}</ymin>"
            box += f"<xmax>{right}</xmax><ymax>{low}</ymax>"
            xml += f"<object><name>{name}</name><bndbox>{box}</bndbox></object>"
            annotation = {"id": 10 * i + k, "image_id": i, "category_id": CLASSES.index(name) + 1}
            annotations.append({**annotation, "bbox": [left, top, right - left, low - top]})
        (folder / "Annotations" / f"{path.stem}.xml").write_text(xml + "</annotation>")
        images.append({"id": i, "file_name": path.name, "width": width, "height": height})
        names.append(path.stem)
    categories = [{"id": i + 1, "name": name} for i, name in enumerate(CLASSES)]
    table = {"images": images, "annotations": annotations, "categories": categories}
    (folder / "instances.json").write_text(json.dumps(table))
    (folder / "ImageSets" / "Main" / "train.txt").write_text("\n".join(names))
    return len(names)


def make_guide_data(folder: Path) -> None:
    """Writes ``pictures``, ``stores`` and ``detection``, as far as they are not there."""
    pictures = make_photos(folder / "pictures", 24)
    for kind in STORES:
        made = picture_stores.converted(kind, pictures, folder / "stores")
        link = folder / "stores" / kind
        if not link.is_symlink():
            link.symlink_to(made.name)
    if not (folder / "detection").is_dir():
        write_annotations(pictures, folder / "detection")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=Path(), help="where (here)")
    make_guide_data(parser.parse_args().folder)


if __name__ == "__main__":
    main()
