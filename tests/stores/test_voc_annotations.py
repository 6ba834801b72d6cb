# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Annotations of Pascal VOC, odd and damaged ones too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from containers import expected, pipe_of, read, sha

from helpers import samples_of
from stoker import fn
from stoker.errors import SampleError


def test_voc(test_data: Path, tmp_path: Path) -> None:
    folder, table = expected(test_data, "voc")
    classes = sorted({o["name"] for r in table["records"] for o in r["objects"] or []})
    by_id = {r["id"]: r for r in table["records"]}
    for name, ids in table["image_sets"].items():
        good = [i for i in ids if by_id[i]["readable"]]
        pipe = pipe_of(
            lambda name=name: fn.readers.voc(
                file_root=str(folder), image_set=name, classes=classes, ltrb=True
            ),
            len(ids),
            on_error="skip",
        )
        got = samples_of(pipe.run())
        for (image, boxes, labels, difficult, truncated), i in zip(got, good, strict=True):
            record = by_id[i]
            assert sha(image) == record["sha256"]
            want = np.array([o["bndbox"] for o in record["objects"]], np.float32).reshape(-1, 4)
            want[:, :2] -= 1
            np.testing.assert_array_equal(boxes, want)
            assert [classes[k - 1] for k in labels] == [o["name"] for o in record["objects"]]
            assert difficult.tolist() == [o["difficult"] or 0 for o in record["objects"]]
            assert truncated.tolist() == [o["truncated"] or 0 for o in record["objects"]]


def test_voc_damage_and_lists(test_data: Path, tmp_path: Path) -> None:
    folder, table = expected(test_data, "voc")
    listed = tmp_path / "list.txt"
    rows = [(r["image"], r["annotation"]) for r in table["records"]]
    listed.write_text("".join(f"{image}\t{xml}\n" for image, xml in rows))
    classes = sorted({o["name"] for r in table["records"] for o in r["objects"] or []})

    def define() -> Any:
        return fn.readers.voc(
            file_list=str(listed), file_root=str(folder), classes=classes, ratio=True
        )

    (bad,) = (i for i, r in enumerate(table["records"]) if not r["readable"])
    with pytest.raises(SampleError, match=f"{table['records'][bad]['id']}.*damaged"):
        read(define, len(rows))
    got = samples_of(pipe_of(define, len(rows), on_error="skip").run())
    assert len(got) == len(rows) - 1
    good = [r for r in table["records"] if r["readable"]]
    for (_, boxes, *_), record in zip(got, good, strict=True):
        # Without its size, the picture itself tells.
        width, height = (record["size_element"] or record["picture_size"])[:2]
        want = np.array([o["bndbox"] for o in record["objects"]], np.float32).reshape(-1, 4)
        want[:, :2] -= 1
        want[:, 2:] -= want[:, :2]
        want /= np.array([width, height] * 2, np.float32)
        np.testing.assert_array_equal(boxes, want)
    with pytest.raises(SampleError, match="not in the argument 'classes'"):
        read(lambda: fn.readers.voc(file_root=str(folder)), 1)


def test_voc_lists_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("<annotation/>")
    (tmp_path / "a.jpg").write_bytes(b"x")
    listed = tmp_path / "list.txt"
    listed.write_text("a.jpg a.xml\n", encoding="utf-8-sig")
    for root in ({}, {"file_root": str(tmp_path)}):
        ((image, *_),) = read(lambda root=root: fn.readers.voc(file_list=str(listed), **root), 1)
        assert bytes(image) == b"x"
    folder = tmp_path / "set"
    for name in ("Annotations", "JPEGImages", "ImageSets/Main"):
        (folder / name).mkdir(parents=True)
    (folder / "Annotations/a.xml").write_text("<annotation/>")
    (folder / "JPEGImages/a.jpg").write_bytes(b"y")
    (folder / "ImageSets/Main/train.txt").write_text("a\n", encoding="utf-8-sig")
    ((image, *_),) = read(lambda: fn.readers.voc(file_root=str(folder), image_set="train"), 1)
    assert bytes(image) == b"y"


def test_voc_classes_are_shortened_in_errors(tmp_path: Path) -> None:
    box = "<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox>"
    name = "x" * 100_000
    (tmp_path / "a.xml").write_text(
        f"<annotation><object><name>{name}</name>{box}</object></annotation>"
    )
    (tmp_path / "a.jpg").write_bytes(b"x")
    (tmp_path / "list.txt").write_text("a.jpg a.xml\n")
    with pytest.raises(SampleError, match=r"an object is a 'x+\.\.\.', which is not") as raised:
        read(lambda: fn.readers.voc(file_list=str(tmp_path / "list.txt")), 1)
    assert len(str(raised.value)) < 1000
