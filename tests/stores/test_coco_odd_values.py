# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Values of COCO's annotations that are missing or odd: they concern who reads them, no other."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from annotated import BOX, HEIGHT, WIDTH, image, picture, run, thing, write
from containers import Json

from helpers import text_of
from stoker import fn
from stoker.errors import GraphError, SampleError

NOT_SAID: list[Any] = [0, -1, None, "0", -1.0, "-1", ...]
SAID: list[Any] = ["{}", "{}.0", '"{}"', '"{}.0"', "{}e0"]
SQUARE = [10, 5, 30, 5, 30, 15, 10, 15]


def outputs(given: Json, *which: int, **arguments: Any) -> Callable[[], Any]:
    """A pipeline of some of the reader's outputs."""

    def define() -> Any:
        read = fn.readers.coco(**given, **arguments)
        return tuple(read[k] for k in which)

    return define


def parts() -> Any:
    return np.array(BOX, np.float32) / np.array([WIDTH, HEIGHT] * 2, np.float32)


@pytest.mark.parametrize("value", NOT_SAID)
def test_extents_that_are_not_said(tmp_path: Path, value: Any) -> None:
    listed = {k: v for k, v in image(width=value, height=value).items() if v is not ...}
    given = write(tmp_path, [listed], [thing(segmentation=[SQUARE])])
    ((boxes,),), told = run(outputs(given, 1))
    assert (boxes.tolist(), told) == ([BOX], [])
    ((boxes, mask),), told = run(outputs(given, 1, 3, ratio=True, pixelwise_masks=True))
    np.testing.assert_array_equal(boxes, [parts()])
    assert mask.shape == (HEIGHT, WIDTH, 1)
    assert told == []
    ((_, corners),), _ = run(outputs(given, 3, 4, ratio=True, polygon_masks=True))
    np.testing.assert_allclose(corners[1], [30 / WIDTH, 5 / HEIGHT])


@pytest.mark.parametrize("written", SAID)
def test_extents_in_other_forms(tmp_path: Path, written: str) -> None:
    given = write(tmp_path, [image(width="W", height="H")], [thing()], b"no picture")
    file = tmp_path / "a.json"
    text = file.read_text().replace('"W"', written.format(WIDTH))
    file.write_text(text.replace('"H"', written.format(HEIGHT)))
    ((boxes,),), told = run(outputs(given, 1, ratio=True))
    np.testing.assert_array_equal(boxes, [parts()])
    assert told == []


@pytest.mark.parametrize("value", ["wide", 64.5, [64], {"w": 64}, True, 1 << 30, float("nan")])
def test_extents_that_are_odd(tmp_path: Path, value: Any) -> None:
    images = [image(width=value), image(id=2, file_name="2.jpg")]
    given = write(tmp_path, images, [thing(), thing(id=8, image_id=2)])
    samples, told = run(outputs(given, 1), 2)
    assert (len(samples), told) == (2, [])
    text = text_of(SampleError, outputs(given, 1, ratio=True))
    shown = json.dumps(value)
    assert f"image 1: 'width' is {shown}, expected a number of pixels" in text
    samples, (text,) = run(outputs(given, 1, ratio=True), 2, on_error="skip")
    assert len(samples) == 1
    assert "image 1: 'width'" in text


WRONG_BOXES: list[Any] = [
    ...,
    None,
    [],
    [1, 2, 3],
    [1, 2, 3, 4, 5],
    [1, 2, float("nan"), 4],
    "1 2 3 4",
]
WRONG_BOXES += [[1, 2, None, 4], [[1, 2, 3, 4]], [1e39, 0, 2, 2], {"x": 1}]


@pytest.mark.parametrize("value", WRONG_BOXES)
def test_boxes_that_are_odd(tmp_path: Path, value: Any) -> None:
    images = [image(), image(id=2, file_name="2.jpg")]
    given = write(tmp_path, images, [thing(bbox=value), thing(id=8, image_id=2)])
    ((one,), (two,)), told = run(outputs(given, 2), 2)
    assert (one.tolist(), two.tolist(), told) == ([1], [1], [])
    text = text_of(SampleError, outputs(given, 1))
    assert "annotation 7 of image 1: 'bbox' is " in text
    if value is not ...:
        assert json.dumps(value)[1:6] in text
    samples, _ = run(outputs(given, 1), 2, on_error="skip")
    assert [boxes.tolist() for (boxes,) in samples] == [[BOX]]


def test_boxes_of_texts_that_are_numbers(tmp_path: Path) -> None:
    given = write(tmp_path, [image()], [thing(bbox=["10", 5.0, "20", 10])])
    assert run(outputs(given, 1))[0][0][0].tolist() == [BOX]


@pytest.mark.parametrize("value", [..., None, "cat", 1.5, 99])
def test_categories_that_are_odd(tmp_path: Path, value: Any) -> None:
    given = write(tmp_path, [image()], [thing(category_id=value)])
    ((boxes,),), told = run(outputs(given, 1))
    assert (boxes.tolist(), told) == ([BOX], [])
    text = text_of(SampleError, outputs(given, 2))
    assert "annotation 7 of image 1: " in text
    assert "category" in text
    if value == 99:
        ((labels,),), _ = run(outputs(given, 2, avoid_class_remapping=True))
        assert labels.tolist() == [99]


def test_iscrowd(tmp_path: Path) -> None:
    for value, is_left_out in [
        (..., False),
        (None, False),
        ("1", True),
        (True, True),
        (0.0, False),
    ]:
        given = write(tmp_path, [image()], [thing(iscrowd=value)])
        ((boxes,),), _ = run(outputs(given, 1, include_iscrowd=False))
        assert len(boxes) == 1 - is_left_out, value
    given = write(tmp_path, [image()], [thing(iscrowd="many")])
    assert run(outputs(given, 1))[0][0][0].tolist() == [BOX]
    text = text_of(SampleError, outputs(given, 1, include_iscrowd=False))
    assert "annotation 7 of image 1: 'iscrowd' is neither 0 nor 1" in text


WRONG_MASKS: list[Any] = [
    SQUARE,
    [[1, 2, 3]],
    [[1, "x"]],
    "text",
    5,
    [{"x": 1}],
    {"size": [48, 64]},
]
WRONG_MASKS += [{"counts": [1, 2], "size": [48]}, {"counts": [-1], "size": [48, 64]}]
WRONG_MASKS += [{"counts": None, "size": [48, 64]}, {"counts": [3072]}]


@pytest.mark.parametrize("value", WRONG_MASKS)
def test_masks_that_are_odd(tmp_path: Path, value: Any) -> None:
    images = [image(), image(id=2, file_name="2.jpg")]
    things = [thing(segmentation=value), thing(id=8, image_id=2, segmentation=[SQUARE])]
    given = write(tmp_path, images, things)
    for outputs_of in ({"pixelwise_masks": True}, {"polygon_masks": True}):
        assert len(run(outputs(given, 1, **outputs_of), 2)[0]) == 2
        text = text_of(SampleError, outputs(given, 1, 3, **outputs_of))
        assert "annotation 7 of image 1: " in text
        ((_, mask),), _ = run(outputs(given, 1, 3, **outputs_of), 2, on_error="skip")
        assert mask.any()


def test_run_lengths_of_another_picture(tmp_path: Path) -> None:
    turned = {"size": [WIDTH, HEIGHT], "counts": [WIDTH * HEIGHT]}
    for extents in ({}, {"width": 0, "height": 0}):
        given = write(tmp_path, [image(**extents)], [thing(segmentation=turned)])
        text = text_of(SampleError, outputs(given, 3, pixelwise_masks=True))
        assert (
            "annotation 7 of image 1: its mask has 64 x 48 pixels, and the picture 48 x 64" in text
        )


@pytest.mark.parametrize("value", [..., None, []])
def test_objects_without_a_mask_are_remarked(tmp_path: Path, value: Any) -> None:
    given = write(tmp_path, [image()], [thing(segmentation=value)])
    ((mask,),), (text,) = run(outputs(given, 3, pixelwise_masks=True))
    assert not mask.any()
    assert "an object has no segmentation" in text


@pytest.mark.parametrize("value", [5, None, ..., "x"])
def test_annotations_of_no_image(tmp_path: Path, value: Any) -> None:
    given = write(tmp_path, [image()], [thing(image_id=value), thing(id=8)])
    ((boxes,),), (text,) = run(outputs(given, 1))
    assert boxes.tolist() == [BOX]
    assert "left out: 1, the first of them annotation 7 " in text


def test_an_image_that_is_listed_twice(tmp_path: Path) -> None:
    given = write(tmp_path, [image(), image(width=HEIGHT, height=WIDTH)], [thing()])
    text = text_of(SampleError, outputs(given, 1, ratio=True))
    assert "image 1: it is listed twice, as 64 wide and 48 high and as 48 wide and 64 high" in text
    given = write(tmp_path, [image(), image()], [thing()])
    assert len(run(outputs(given, 1, ratio=True), 2)[0]) == 2


def test_lists_that_are_none(tmp_path: Path) -> None:
    given = write(tmp_path, [image()], [])
    file = tmp_path / "a.json"
    for member in ("images", "annotations", "categories"):
        table = json.loads(file.read_text()) | {member: None}
        (tmp_path / "b.json").write_text(json.dumps(table))
        text = text_of(GraphError, outputs(given | {"annotations_file": tmp_path / "b.json"}, 1))
        assert f"'{member}' is null, expected a list" in text


def test_faults_are_kept_with_preprocessed_annotations(tmp_path: Path) -> None:
    given = write(tmp_path, [image(width="wide")], [thing(bbox=None, category_id=99)], picture())
    folder = str(tmp_path / "saved")
    save = {"save_preprocessed_annotations": True, "save_preprocessed_annotations_dir": folder}
    assert len(run(outputs(given, 0, **save))[0]) == 1
    again = {"file_root": given["file_root"], "preprocessed_annotations": folder}
    assert "annotation 7 of image 1: 'bbox' is null" in text_of(SampleError, outputs(again, 1))
    assert "its category, 99, is not among" in text_of(SampleError, outputs(again, 2))
    wide = "image 1: 'width' is \"wide\""
    given = write(tmp_path, [image(width="wide")], [thing()])
    assert wide in text_of(SampleError, outputs(given, 1, ratio=True))
