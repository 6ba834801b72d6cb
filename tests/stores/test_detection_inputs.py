# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""SSD300's input is the same from annotations of COCO and of Pascal VOC."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from containers import Json, expected, pipe_of
from guide_data import CLASSES, write_annotations

from helpers import samples_of
from stoker import fn, types

ANCHORS = [
    side
    for cells in (2, 3, 5)
    for y in range(cells)
    for x in range(cells)
    for side in (x / cells, y / cells, (x + 1) / cells, (y + 1) / cells)
]


def ssd300(encoded: Any, boxes: Any, labels: Any) -> tuple[Any, ...]:
    """What the network gets: pictures of 300 x 300, boxes, labels and their encoded form."""
    images = fn.decoders.image(encoded, output_type=types.RGB)
    images = fn.resize(images, size=[300, 300])
    flip = fn.random.coin_flip(probability=0.5, seed=7)
    boxes = fn.bb_flip(boxes, ltrb=True, horizontal=flip)
    images = fn.crop_mirror_normalize(images, mirror=flip, mean=[128.0] * 3, std=[64.0] * 3)
    encoded_boxes, classes = fn.box_encoder(boxes, labels, anchors=ANCHORS, offset=True)
    return images, boxes, labels, encoded_boxes, classes


@pytest.mark.parametrize("shuffle", [False, True])
def test_the_same_from_coco_and_from_voc(pictures: Path, tmp_path: Path, shuffle: bool) -> None:
    count = write_annotations(pictures, tmp_path)
    how: Json = {"ltrb": True, "ratio": True, "random_shuffle": shuffle}

    def from_coco() -> Any:
        annotations = tmp_path / "instances.json"
        root = tmp_path / "JPEGImages"
        read = fn.readers.coco(file_root=root, annotations_file=annotations, **how)
        return ssd300(*read)

    def from_voc() -> Any:
        read = fn.readers.voc(file_root=tmp_path, image_set="train", classes=CLASSES, **how)
        return ssd300(*read[:3])

    pipes = [pipe_of(define, count, seed=5, num_threads=2) for define in (from_coco, from_voc)]
    for _ in range(2):
        coco, voc = (samples_of(pipe.run()) for pipe in pipes)
        for a, b in zip(coco, voc, strict=True):
            assert a[0].shape == (3, 300, 300)
            assert np.count_nonzero(a[4]) > 0
            # VOC counts pixels from 1 on and includes the last one, so the corners are the same.
            for x, y in zip(a, b, strict=True):
                np.testing.assert_allclose(x, y, atol=1e-6)


def test_coco_small(test_data: Path) -> None:
    folder = test_data / "coco_small"
    table = json.loads((folder / "instances.json").read_text())
    count = len(table["images"])

    def define() -> Any:
        return ssd300(
            *fn.readers.coco(
                file_root=folder / "images",
                annotations_file=folder / "instances.json",
                ltrb=True,
                ratio=True,
            )
        )

    got = samples_of(pipe_of(define, count).run())
    assert [s[0].shape for s in got] == [(3, 300, 300)] * count
    boxes = sum(len(s[1]) for s in got)
    assert boxes == len(table["annotations"])
    assert all(len(s[1]) == len(s[2]) for s in got)


def test_voc_pictures_of_coco(test_data: Path) -> None:
    folder, table = expected(test_data, "voc")
    good = [r for r in table["records"] if r["readable"]]
    classes = sorted({o["name"] for r in good for o in r["objects"]})
    (name,) = (n for n in table["image_sets"] if n == "train")

    def define() -> Any:
        read = fn.readers.voc(
            file_root=folder, image_set=name, classes=classes, ltrb=True, ratio=True
        )
        return ssd300(*read[:3])

    ids = [i for i in table["image_sets"][name] if i in {r["id"] for r in good}]
    got = samples_of(pipe_of(define, len(table["image_sets"][name]), on_error="skip").run())
    assert [s[0].shape for s in got] == [(3, 300, 300)] * len(ids)
