# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Annotations and pictures that contradict each other."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import annotated
import numpy as np
import pytest
import store_writers as writers
from annotated import HEIGHT, WIDTH, decoded, image, picture, run, thing, write
from containers import Json
from PIL import Image

from helpers import SIMPLE, text_of
from stoker import fn
from stoker import tfrecord as tf
from stoker.errors import SampleError

SQUARE = [10, 5, 30, 5, 30, 15, 10, 15]


def decoders() -> dict[str, Callable[[Any], Any]]:
    return {
        "image": fn.decoders.image,
        "crop": lambda e: fn.decoders.image_crop(e, crop=(8, 8)),
        "random crop": fn.decoders.image_random_crop,
        "slice": lambda e: fn.decoders.image_slice(e, start=[0, 0], shape=[4, 4]),
        "shape": fn.peek_image_shape,
    }


@pytest.mark.parametrize("name", list(decoders()))
@pytest.mark.parametrize("orientation", [5, 6, 7, 8])
def test_a_turned_picture_fails(tmp_path: Path, name: str, orientation: int) -> None:
    given = write(tmp_path, [image()], [thing()], picture(orientation))

    def define() -> Any:
        encoded, boxes, _ = fn.readers.coco(**given)
        return decoders()[name](encoded), boxes

    text = text_of(SampleError, define)
    assert "1.jpg" in text
    assert "64 wide and 48 high, and this one is 48 wide and 64 high" in text
    assert f"as its orientation, {orientation} of EXIF, turns it" in text
    assert "adjust_orientation=False keeps the stored pixels" in text


def test_the_stored_pixels_fit_without_a_word(tmp_path: Path) -> None:
    given = write(tmp_path, [image()], [thing()], picture(6))
    ((pixels, ((left, top, width, height),)),), told = run(decoded(given, adjust_orientation=False))
    inside = pixels[int(top) : int(top + height), int(left) : int(left + width)]
    assert pixels.shape == (HEIGHT, WIDTH, 3)
    assert inside.mean() > 250
    assert told == []


def test_an_annotation_of_the_displayed_picture(tmp_path: Path) -> None:
    displayed = image(width=HEIGHT, height=WIDTH)
    given = write(tmp_path, [displayed], [thing()], picture(6))
    ((pixels, _),), told = run(decoded(given))
    assert pixels.shape == (WIDTH, HEIGHT, 3)
    assert told == []
    text = text_of(SampleError, decoded(given, adjust_orientation=False))
    assert "before its orientation, 6 of EXIF, turns it: adjust_orientation=True" in text


def test_what_says_nothing_of_places_is_not_compared(tmp_path: Path) -> None:
    given = write(tmp_path, [image()], [thing()], picture(6))

    def labels() -> Any:
        encoded, _, labels, ids = fn.readers.coco(image_ids=True, **given)
        return fn.decoders.image(encoded), labels, ids

    ((pixels, found, _),), told = run(labels)
    assert pixels.shape == (WIDTH, HEIGHT, 3)
    assert (found.tolist(), told) == ([1], [])


def test_other_pictures_are_not_compared(tmp_path: Path) -> None:
    """What a function makes of a picture is not the one that was annotated."""
    given = write(tmp_path, [image()], [thing()])

    def smaller(_: Any) -> Any:
        return np.frombuffer(picture(width=20, height=40), np.uint8)

    def define() -> Any:
        encoded, boxes, _ = fn.readers.coco(**given)
        return fn.decoders.image(fn.python_function(encoded, function=smaller)), boxes

    ((pixels, _),), told = run(define)
    assert (pixels.shape, told) == ((40, 20, 3), [])


def test_a_decoder_of_a_later_stage_compares(tmp_path: Path) -> None:
    given = write(tmp_path, [image()], [thing()], picture(8))

    def define() -> Any:
        encoded, boxes, _ = fn.readers.coco(**given)
        anchor = fn.python_function(boxes, function=lambda _: np.array([0, 0], np.int32))
        shape = np.array([4, 4], np.int32)
        return fn.decoders.image_slice(encoded, anchor, shape, axis_names="HW"), boxes

    assert "48 wide and 64 high" in text_of(SampleError, define)


@pytest.mark.parametrize("orientation", [2, 3, 4])
def test_extents_that_cannot_tell_are_remarked_once(tmp_path: Path, orientation: int) -> None:
    images = [image(id=i, file_name=f"{i}.jpg") for i in range(4)]
    things = [thing(image_id=i) for i in range(4)]
    given = write(tmp_path, images, things, picture(orientation))
    (text,) = run(decoded(given), 2, steps=4)[1]
    assert run(decoded(given), 2, steps=4, **SIMPLE)[1] == [text]
    assert "0.jpg': decoders.image" in text
    assert f"orientation {orientation} of EXIF turns the picture" in text
    assert run(decoded(given, adjust_orientation=False), 2, steps=4)[1] == []


def test_a_square_picture_that_is_turned(tmp_path: Path) -> None:
    given = write(tmp_path, [image(height=WIDTH)], [thing()], picture(6, height=WIDTH))
    _, (text,) = run(decoded(given))
    assert "orientation 6 of EXIF" in text


@pytest.mark.parametrize("stated", [(65, 48), (64, 47), (32, 24)])
def test_pixels_of_another_picture_fail(tmp_path: Path, stated: tuple[int, int]) -> None:
    given = write(tmp_path, [image(width=stated[0], height=stated[1])], [thing()])
    text = text_of(SampleError, decoded(given))
    assert f"{stated[0]} wide and {stated[1]} high, and this one is 64 wide and 48 high" in text
    assert "annotate the picture anew" in text


def test_parts_of_a_scaled_picture(tmp_path: Path) -> None:
    given: Json = write(tmp_path, [image(width=128, height=96)], [thing()]) | {"ratio": True}
    _, (text,) = run(decoded(given))
    assert "128 wide and 96 high, and this one is 64 wide and 48 high" in text
    given = write(tmp_path, [image(width=128, height=64)], [thing()]) | {"ratio": True}
    assert "128 wide and 64 high" in text_of(SampleError, decoded(given))


def test_masks_have_the_shape_of_their_picture(tmp_path: Path) -> None:
    square = thing(segmentation=[SQUARE])
    for extents in ({}, {"width": 0, "height": 0}, {"width": 128, "height": 96}):
        given = write(tmp_path, [image(**extents)], [square], picture(6))

        def define(given: Json = given, **decoder: Any) -> Any:
            encoded, *_, mask = fn.readers.coco(pixelwise_masks=True, ratio=True, **given)
            return fn.decoders.image(encoded, **decoder), mask

        assert "this one is 48 wide and 64 high" in text_of(SampleError, define)
        if extents.get("width") == 128:
            continue
        stored = functools.partial(define, adjust_orientation=False)
        ((pixels, mask),), told = run(stored)
        assert pixels.shape[:2] == mask.shape[:2] == (HEIGHT, WIDTH)
        assert mask[5:15, 10:30].all()
        assert told == []


def test_all_executors_compare(tmp_path: Path) -> None:
    given = write(tmp_path, [image()], [thing()], picture(7))
    text = text_of(SampleError, decoded(given))
    assert text_of(SampleError, decoded(given), **SIMPLE) == text


def test_on_error_leaves_out_what_contradicts(tmp_path: Path) -> None:
    images = [image(id=i, file_name=f"{i}.jpg") for i in range(3)]
    given = write(tmp_path, images, [thing(image_id=i) for i in range(3)])
    (tmp_path / "1.jpg").write_bytes(picture(6))
    samples, (text,) = run(decoded(given), 3, on_error="skip")
    assert [pixels.shape for pixels, _ in samples] == [(HEIGHT, WIDTH, 3)] * 2
    assert "1.jpg" in text


def test_boxes_outside_of_the_picture(tmp_path: Path) -> None:
    given = write(tmp_path, [image()], [thing(), thing(id=8, bbox=[60, 2, 9, 9])])
    ((_, boxes),), (text,) = run(decoded(given))
    assert boxes.tolist() == [annotated.BOX, [60, 2, 9, 9]]
    assert "box 1 reaches outside of the picture, which is 64 wide and 48 high" in text
    given = write(tmp_path, [image()], [thing(bbox=[-0.5, 0, 65, 48.9])])
    assert run(decoded(given))[1] == []


def voc(folder: Path, size: str, name: str = "a.jpg", things: str = "") -> Callable[..., Any]:
    """A pipeline of one picture."""
    box = "<bndbox><xmin>11</xmin><ymin>6</ymin><xmax>30</xmax><ymax>15</ymax></bndbox>"
    things = things or f"<object><name>cat</name>{box}</object>"
    (folder / "a.xml").write_text(
        f"<annotation><filename>{name}</filename>{size}{things}</annotation>"
    )
    (folder / "list.txt").write_text("a.jpg a.xml\n")

    def define(ratio: bool = False, **decoder: Any) -> Any:
        encoded, boxes, labels, *_ = fn.readers.voc(file_list=str(folder / "list.txt"), ratio=ratio)
        return fn.decoders.image(encoded, **decoder), boxes, labels

    return define


SIZE = "<size><width>64</width><height>48</height></size>"


def test_turned_pictures_of_voc(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(picture(6))
    define = voc(tmp_path, SIZE)
    assert "64 wide and 48 high, and this one is 48 wide and 64 high" in text_of(
        SampleError, define
    )
    ((pixels, boxes, _),), told = run(lambda: define(adjust_orientation=False))
    assert pixels.shape == (HEIGHT, WIDTH, 3)
    assert (boxes.tolist(), told) == ([annotated.BOX], [])
    define = voc(tmp_path, SIZE.replace("64", "?").replace("48", "64").replace("?", "48"))
    assert run(define)[1] == []


@pytest.mark.parametrize(
    "size", ["", "<size/>", "<size><width>-1</width><height>0</height></size>"]
)
def test_voc_without_a_size(tmp_path: Path, size: str) -> None:
    (tmp_path / "a.jpg").write_bytes(picture())
    define = voc(tmp_path, size)
    ((_, boxes, _),), told = run(define)
    assert (boxes.tolist(), told) == ([annotated.BOX], [])
    ((_, boxes, _),), told = run(lambda: define(ratio=True))
    np.testing.assert_allclose(boxes, [np.array(annotated.BOX) / [64, 48, 64, 48]], rtol=1e-6)
    assert told == []


def test_odd_values_of_voc_are_judged_where_they_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(picture())
    define = voc(tmp_path, "<size><width>wide</width><height>48</height></size>")
    assert run(define)[1] == []
    assert "'width' of 'size' is to be a number" in text_of(SampleError, lambda: define(ratio=True))
    define = voc(tmp_path, SIZE, things="<object><name>cat</name></object>")
    assert "an object has no 'bndbox'" in text_of(SampleError, define)
    ((_, labels),), _ = run(lambda: define()[::2])
    assert labels.tolist() == [8]
    box = "<bndbox><xmin>9</xmin><ymin>2</ymin><xmax>4</xmax><ymax>8</ymax></bndbox>"
    define = voc(tmp_path, SIZE, things=f"<object>{box}</object>")
    assert "ends before it begins" in text_of(SampleError, lambda: define()[:2])
    assert "an object has no 'name'" in text_of(SampleError, lambda: define()[::2])


def test_an_annotation_of_voc_that_names_another_picture(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(picture())
    _, (text,) = run(voc(tmp_path, SIZE, name="b.jpg"))
    assert "it is of 'b.jpg', and it is read beside" in text
    for name in ("a.png", "D:\\pictures\\a.jpg", "a", ""):
        assert run(voc(tmp_path, SIZE, name=name))[1] == []


def of_tfrecord(folder: Path, data: bytes, **extents: int) -> Callable[[], Any]:
    features = {"image/encoded": [data], "image/object/bbox/xmin": [0.25]}
    features |= {f"image/{name}": [n] for name, n in extents.items()}
    (folder / "a.tfrecord").write_bytes(writers.tfrecord([writers.example(features)])[0])
    wanted = {
        "image/encoded": tf.FixedLenFeature([], tf.string),
        "image/object/bbox/xmin": tf.VarLenFeature(tf.float32, 0.0),
    }

    def define() -> Any:
        read = fn.readers.tfrecord(path=[str(folder / "a.tfrecord")], features=wanted)
        return fn.decoders.image(read["image/encoded"]), read["image/object/bbox/xmin"]

    return define


def of_recordio(folder: Path, data: bytes, **extents: int) -> Callable[[], Any]:
    head = [4.0, 5.0, float(extents["width"]), float(extents["height"])]
    record = writers.picture_record(0, [*head, 2.0, 0.25, 0.25, 0.5, 0.5], data)
    (folder / "a.rec").write_bytes(writers.recordio([record])[0])

    def define() -> Any:
        encoded, labels = fn.readers.mxnet(path=[str(folder / "a.rec")])
        return fn.decoders.image(encoded), labels

    return define


@pytest.mark.parametrize("record", [of_tfrecord, of_recordio])
def test_records_of_detection(tmp_path: Path, record: Any) -> None:
    stored, displayed = {"width": 64, "height": 48}, {"width": 48, "height": 64}
    assert run(record(tmp_path, picture(), **stored))[1] == []
    text = text_of(SampleError, record(tmp_path, picture(6), **stored))
    assert "64 wide and 48 high, and this one is 48 wide and 64 high" in text
    assert run(record(tmp_path, picture(6), **displayed))[1] == []
    _, (text,) = run(record(tmp_path, picture(), width=128, height=96))
    assert "128 wide and 96 high" in text


def test_formats_of_several_kinds(tmp_path: Path) -> None:
    out = io.BytesIO()
    Image.fromarray(np.zeros((HEIGHT, WIDTH, 3), np.uint8)).save(out, "PNG")
    given = write(tmp_path, [image()], [thing()], out.getvalue())
    assert run(decoded(given))[1] == []
    given = write(tmp_path, [image(width=HEIGHT, height=WIDTH)], [thing()], out.getvalue())
    text = text_of(SampleError, decoded(given))
    assert "48 wide and 64 high, and this one is 64 wide and 48 high: annotate" in text
