# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Annotations of COCO: boxes, filters, masks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from containers import Json, read

from stoker import fn
from stoker.errors import GraphError


def coco(folder: Path, **arguments: Any) -> Any:
    given: Json = {
        "file_root": str(folder / "images"),
        "annotations_file": str(folder / "instances.json"),
    }
    return fn.readers.coco(**{**given, **arguments})


def boxes_of(table: Json, image: Json) -> list[Json]:
    return [a for a in table["annotations"] if a["image_id"] == image["id"]]


@pytest.mark.parametrize("ltrb", [False, True])
@pytest.mark.parametrize("ratio", [False, True])
def test_coco_boxes(test_data: Path, ltrb: bool, ratio: bool) -> None:
    folder = test_data / "coco_small"
    table = json.loads((folder / "instances.json").read_text())
    images = sorted(table["images"], key=lambda i: i["id"])
    order = {c["id"]: k + 1 for k, c in enumerate(table["categories"])}
    got = read(lambda: coco(folder, ltrb=ltrb, ratio=ratio, image_ids=True), len(images))
    for (encoded, boxes, labels, ids), image in zip(got, images, strict=True):
        assert bytes(encoded) == (folder / "images" / image["file_name"]).read_bytes()
        wanted = boxes_of(table, image)
        want = np.array([a["bbox"] for a in wanted], np.float32).reshape(-1, 4)
        if ltrb:
            want[:, 2:] += want[:, :2]
        if ratio:
            want /= np.array([image["width"], image["height"]] * 2, np.float32)
        np.testing.assert_array_equal(boxes, want)
        assert labels.tolist() == [order[a["category_id"]] for a in wanted]
        assert ids.tolist() == [image["id"]]


def test_coco_filters_and_lists(test_data: Path, tmp_path: Path) -> None:
    folder = test_data / "coco_small"
    table = json.loads((folder / "instances.json").read_text())
    table["annotations"] = [a for a in table["annotations"] if a["image_id"] % 3]
    for a in table["annotations"]:
        a["iscrowd"] = a["id"] % 2
    changed = tmp_path / "instances.json"
    changed.write_text(json.dumps(table))
    given: Json = {"annotations_file": str(changed), "image_ids": True}

    def wanted(keep: Callable[[Json], bool], everywhere: bool) -> list[tuple[int, int]]:
        counts = [
            (i["id"], sum(map(keep, boxes_of(table, i))))
            for i in sorted(table["images"], key=lambda i: i["id"])
        ]
        return [(i, n) for i, n in counts if n or everywhere]

    def found(count: int, **arguments: Any) -> list[tuple[int, int]]:
        got = read(lambda: coco(folder, **given, **arguments), count)
        return [(int(ids[0]), len(boxes)) for _, boxes, _, ids in got]

    everything = wanted(lambda a: True, True)
    assert found(len(everything)) == everything
    some = wanted(lambda a: True, False)
    assert found(len(some), skip_empty=True) == some
    single = wanted(lambda a: not a["iscrowd"], True)
    assert found(len(single), include_iscrowd=False) == single
    large = wanted(lambda a: min(a["bbox"][2:]) >= 150, False)
    assert found(len(large), size_threshold=150, skip_empty=True) == large
    names = {i["id"]: i["file_name"] for i in table["images"]}
    listed = [5, 2, 5]
    assert [i for i, _ in found(3, images=[names[i] for i in listed])] == listed


def test_coco_polygons(test_data: Path) -> None:
    folder = test_data / "coco_small"
    table = json.loads((folder / "instances.json").read_text())
    images = sorted(table["images"], key=lambda i: i["id"])
    got = read(lambda: coco(folder, polygon_masks=True), len(images))
    seen = 0
    for (_, _, _, polygons, vertices), image in zip(got, images, strict=True):
        rows = [tuple(row) for row in polygons.tolist()]
        want_rows, want_vertices = [], []
        for k, a in enumerate(boxes_of(table, image)):
            for polygon in a.get("segmentation", []):
                first = len(want_vertices)
                want_vertices += list(zip(polygon[::2], polygon[1::2], strict=True))
                want_rows.append((k, first, len(want_vertices)))
        assert rows == want_rows
        want = np.array(want_vertices, np.float32).reshape(-1, 2)
        np.testing.assert_array_equal(vertices, want)
        seen += len(rows)
    assert seen > 5


def test_coco_masks(test_data: Path) -> None:
    from PIL import Image

    folder = test_data / "coco_pixelwise"
    table = json.loads((folder / "instances.json").read_text())
    images = sorted(table["images"], key=lambda i: i["id"])
    got = read(lambda: coco(folder, pixelwise_masks=True), len(images))
    for (_, _, _, mask), image in zip(got, images, strict=True):
        name = Path(image["file_name"]).with_suffix(".png").name
        with Image.open(folder / "pixelwise_masks" / name) as reference:
            colours = np.asarray(reference)  # red, green and blue for the classes 1, 2 and 3
        labels = np.where(colours.any(axis=2), colours.argmax(axis=2) + 1, 0)
        np.testing.assert_array_equal(mask[..., 0], labels)


def _runs(pixels: Any) -> list[int]:
    """The run lengths of a mask, by NumPy."""
    flat = np.asarray(pixels).T.reshape(-1)
    changes = np.flatnonzero(np.diff(flat, prepend=0)) if flat.size else np.array([], int)
    return np.diff([0, *changes, flat.size]).tolist()


def _compressed(runs: list[int]) -> str:
    text = ""
    for i, run in enumerate(runs):
        value = run - runs[i - 2] if i > 2 else run
        while True:
            low, value = value & 31, value >> 5
            done = (value == -1 and low & 16) or (value == 0 and not low & 16)
            text += chr((low if done else low | 32) + 48)
            if done:
                break
    return text


@pytest.mark.parametrize("compressed", [False, True])
def test_coco_run_lengths(tmp_path: Path, compressed: bool) -> None:
    draw = np.random.default_rng(3)
    images, annotations, masks = [], [], []
    for i in range(12):
        height, width = int(draw.integers(1, 40)), int(draw.integers(1, 40))
        mask = (draw.random((height, width)) < [0.02, 0.5, 0.98, 0.0][i % 4]).astype(np.int32)
        runs = _runs(mask)
        counts = _compressed(runs) if compressed else runs
        images.append({"id": i, "file_name": "a", "width": width, "height": height})
        segmentation = {"size": [height, width], "counts": counts}
        annotations.append(
            {"image_id": i, "category_id": 5, "bbox": [0, 0, 9, 9], "segmentation": segmentation}
        )
        masks.append(mask)
    (tmp_path / "a").write_bytes(b"a")
    table = {"images": images, "annotations": annotations, "categories": [{"id": 5}]}
    (tmp_path / "a.json").write_text(json.dumps(table))
    given = {"file_root": str(tmp_path), "annotations_file": str(tmp_path / "a.json")}
    got = read(lambda: fn.readers.coco(pixelwise_masks=True, **given), len(masks))
    for (*_, pixels), mask in zip(got, masks, strict=True):
        np.testing.assert_array_equal(pixels[..., 0], mask)


def test_coco_preprocessed(test_data: Path, tmp_path: Path) -> None:
    folder = test_data / "coco_pixelwise"
    saved = str(tmp_path / "saved")
    given: Json = {"polygon_masks": True, "image_ids": True, "ltrb": True}
    save = {"save_preprocessed_annotations": True, "save_preprocessed_annotations_dir": saved}
    first = read(lambda: coco(folder, **given, **save), 6)
    again = read(
        lambda: fn.readers.coco(
            file_root=str(folder / "images"), preprocessed_annotations=saved, **given
        ),
        6,
    )
    for a, b in zip(first, again, strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_array_equal(x, y)
    assert {p.name for p in Path(saved).iterdir()} == {"annotations.stoker", "filenames.dat"}
    images = json.loads((folder / "instances.json").read_text())["images"]
    names = [image["file_name"] for image in sorted(images, key=lambda image: int(image["id"]))]
    assert (Path(saved) / "filenames.dat").read_text().splitlines() == names
    file = Path(saved) / "annotations.stoker"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(GraphError, match="are damaged"):
        read(lambda: fn.readers.coco(preprocessed_annotations=saved), 1)


def test_coco_saved_by_several_at_once(test_data: Path, tmp_path: Path) -> None:
    folder = test_data / "coco_pixelwise"
    save = {
        "save_preprocessed_annotations": True,
        "save_preprocessed_annotations_dir": str(tmp_path),
    }
    # What another process is writing.
    others = tmp_path / "annotations.stoker.part"
    others.mkdir()
    read(lambda: coco(folder, **save), 6)
    assert {p.name for p in tmp_path.iterdir()} >= {"annotations.stoker", others.name}
    assert not [
        p for p in tmp_path.iterdir() if p.name.startswith("annotations.stoker.") and p != others
    ]


def test_coco_parts_of_a_picture_without_a_size(test_data: Path, tmp_path: Path) -> None:
    folder = test_data / "coco_small"
    table = json.loads((folder / "instances.json").read_text())
    given: Json = {"ratio": True, "polygon_masks": True}
    images = len(table["images"])
    wanted = read(lambda: coco(folder, **given), images)
    for image in table["images"]:
        image["width" if image["id"] % 2 else "height"] = 0
    (tmp_path / "a.json").write_text(json.dumps(table))
    got = read(lambda: coco(folder, annotations_file=str(tmp_path / "a.json"), **given), images)
    for a, b in zip(got, wanted, strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_array_equal(x, y)


def test_coco_old_arguments(test_data: Path, tmp_path: Path) -> None:
    folder = test_data / "coco_pixelwise"
    saved = str(tmp_path / "saved")

    def old(**arguments: Any) -> list[Any]:
        with pytest.warns(DeprecationWarning) as warned:
            got = read(lambda: coco(folder, **arguments), 6)
        assert len(warned) == len(arguments)
        for name, warning in zip(arguments, warned, strict=True):
            assert str(warning.message).startswith(f"readers.coco: {name} is now spelled ")
        return got

    now = read(lambda: coco(folder, polygon_masks=True), 6)
    for (*_, rows, vertices), (*_, old_rows, old_vertices) in zip(
        now, old(masks=True), strict=True
    ):
        # There the ends of polygons count coordinates.
        np.testing.assert_array_equal(old_rows, rows * [1, 2, 2])
        np.testing.assert_array_equal(old_vertices, vertices)
    ids = [int(found[0]) for *_, found in old(save_img_ids=True)]
    assert ids == [int(found[0]) for *_, found in read(lambda: coco(folder, image_ids=True), 6)]
    old(dump_meta_files=True, dump_meta_files_path=saved)
    with pytest.warns(DeprecationWarning, match="preprocessed_annotations"):
        again = read(
            lambda: fn.readers.coco(file_root=str(folder / "images"), meta_files_path=saved), 6
        )
    assert len(again) == 6
