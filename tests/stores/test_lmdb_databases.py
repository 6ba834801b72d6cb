# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Databases of Caffe and Caffe2, and of LMDB's own library."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lmdb
import numpy as np
import pytest
import store_writers as writers
from containers import Json, expected, pipe_of, read, set_of, sha

from helpers import samples_of
from stoker import Pipeline, fn, types
from stoker.errors import GraphError, SampleError


@pytest.mark.parametrize("name", ["caffe_encoded", "caffe_part0", "caffe_raw"])
def test_caffe(test_data: Path, name: str) -> None:
    folder, table = expected(test_data, "lmdb")
    records = set_of(table, name)["records"]
    pixels = [i for i, r in enumerate(records) if "float_data_sha256" in r]
    pipe = pipe_of(lambda: fn.readers.caffe(path=str(folder / name)), len(records), on_error="skip")
    got = samples_of(pipe.run())
    rest = [r for i, r in enumerate(records) if i not in pixels]
    for (image, label), record in zip(got, rest, strict=True):
        assert label.tolist() == [record["label"] or 0]
        assert sha(image) == record["sha256" if record["encoded"] else "sha256_chw"]
        if not record["encoded"]:
            assert list(image.shape) == record["shape_chw"]
    assert len(pixels) == (name == "caffe_raw")
    for i in pixels:
        pipe = pipe_of(
            lambda: fn.readers.caffe(path=str(folder / name), dtype=types.FLOAT),
            len(records) - 1,  # the last one is an encoded picture
        )
        image, label = samples_of(pipe.run())[i]
        assert image.dtype == np.float32
        assert sha(image) == records[i]["float_data_sha256"]
        assert label.tolist() == [records[i]["label"]]


def test_caffe_over_two_databases(test_data: Path) -> None:
    folder, table = expected(test_data, "lmdb")
    names = ["caffe_part0", "caffe_part1"]
    records = [r for name in names for r in set_of(table, name)["records"]]
    path = [str(folder / name) for name in names]
    got = read(lambda: fn.readers.caffe(path=path), len(records))
    assert [sha(image) for image, _ in got] == [r["sha256"] for r in records]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("caffe2_encoded", {}),
        ("caffe2_raw", {}),
        ("caffe2_multi_sparse", {"label_type": 1, "num_labels": 20}),
        ("caffe2_multi_dense", {"label_type": 2}),
        ("caffe2_multi_weighted", {"label_type": 3, "num_labels": 20}),
        ("caffe2_bbox", {"bbox": True}),
        (
            "caffe2_additional",
            {
                "bbox": True,
                "additional_inputs": 2,
                "additional_dtypes": [types.FLOAT, types.INT64],
            },
        ),
    ],
)
def test_caffe2(test_data: Path, name: str, arguments: Json) -> None:
    folder, table = expected(test_data, "lmdb")
    records = set_of(table, name)["records"]
    got = read(lambda: fn.readers.caffe2(path=str(folder / name), **arguments), len(records))
    for (image, label, *more), record in zip(got, records, strict=True):
        if "sha256" in record:
            assert sha(image) == record["sha256"]
        else:
            assert sha(image) == record["sha256_hwc"]
            assert list(image.shape) == record["shape_hwc"]
        kind = arguments.get("label_type", 0)
        if kind == 0:
            assert label.tolist() == [record["label"]]
        elif kind == 2:
            np.testing.assert_array_equal(label, np.array(record["label_dense"], np.float32))
        else:
            weights = record.get("weights", [1] * len(record["labels_sparse"]))
            dense = np.zeros(20, np.float32 if kind == 3 else np.int32)
            dense[record["labels_sparse"]] = weights
            assert label.dtype == dense.dtype
            np.testing.assert_array_equal(label, dense)
        if "bbox_int32" in record:
            assert more.pop(0).tolist() == record["bbox_int32"]
        for array, wanted in zip(more, record.get("additional", []), strict=True):
            ((dtype, values),) = wanted.items()
            assert array.dtype == dtype
            assert array.tolist() == values


def test_lmdb_damage(test_data: Path) -> None:
    folder, table = expected(test_data, "lmdb")
    for name in ("damaged_truncated", "damaged_not_lmdb"):
        path = str(folder / name)
        with pytest.raises(GraphError, match=r"data\.mdb' at byte \d+"):
            read(lambda path=path: fn.readers.caffe(path=path), 1)
    (broken,) = (d for d in table["damaged"] if d["name"] == "damaged_message")
    pipe = pipe_of(lambda: fn.readers.caffe(path=str(folder / broken["name"])), 3, on_error="skip")
    got = samples_of(pipe.run())
    assert [sha(image) for image, _ in got] == [r["sha256"] for r in broken["records"]]


@pytest.mark.parametrize("seed", range(3))
def test_lmdb_as_its_own_library(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    values = {
        draw.randbytes(draw.randint(1, 400)): draw.randbytes(draw.choice([0, 3, 700, 2000, 9000]))
        for _ in range(700)
    }
    env = lmdb.open(str(tmp_path / "db"), map_size=1 << 26)
    for batch in np.array_split(np.arange(len(values)), 5):  # several transactions leave free pages
        with env.begin(write=True) as transaction:
            for i in batch:
                key = list(values)[i]
                # Some have no byte at all, which is a Datum without pixels.
                value = b"" if draw.random() < 0.2 else writers.datum(values[key], int(i))
                transaction.put(key, value)
                if draw.random() < 0.2:
                    transaction.delete(key)
    with env.begin() as transaction:
        wanted = [bytes(v) for _, v in transaction.cursor()]
    env.close()
    got = read(lambda: fn.readers.caffe(path=str(tmp_path / "db")), len(wanted))
    made = [
        writers.datum(bytes(image), int(label[0])) if image.shape != (0, 0, 0) else b""
        for image, label in got
    ]
    assert made == wanted


def database(folder: Path, values: Sequence[bytes]) -> str:
    folder.mkdir()
    data, _ = writers.lmdb({f"{i:04}".encode(): value for i, value in enumerate(values)})
    (folder / "data.mdb").write_bytes(data)
    return str(folder)


def tensor(values: Sequence[int] | Sequence[float]) -> bytes:
    """One of the ``TensorProtos`` of Caffe2, of int32 or float32."""
    shape = writers.field(1, len(values))
    if isinstance(values[0], float):
        data = writers.field(3, struct.pack(f"<{len(values)}f", *values))
        return writers.field(1, shape + writers.field(2, 1) + data)
    data = writers.field(4, b"".join(writers.varint(int(v)) for v in values))
    return writers.field(1, shape + writers.field(2, 2) + data)


def picture(data: bytes) -> bytes:
    return writers.field(1, writers.field(2, 4) + writers.field(6, data))


def test_caffe_pictures_or_labels_alone(tmp_path: Path) -> None:
    path = database(tmp_path / "db", [writers.datum(b"one", 3), writers.datum(b"two", 4)])
    labels = read(lambda: (fn.readers.caffe(path=path, image_available=False),), 2)
    assert [label.tolist() for (label,) in labels] == [[3], [4]]
    images = read(lambda: (fn.readers.caffe(path=path, label_available=False),), 2)
    assert [bytes(image) for (image,) in images] == [b"one", b"two"]
    off = "'image_available', 'label_available' turn all outputs off"
    with pytest.raises(GraphError, match=off), Pipeline(batch_size=1):
        fn.readers.caffe(path=path, image_available=False, label_available=False)


def test_caffe_floats_beside_bytes_do_not_count(tmp_path: Path) -> None:
    """As in Caffe. The floats of this one would not fit into the output."""
    extents = b"".join(writers.field(number, 1) for number in (1, 2, 3))
    floats = writers.field(6, struct.pack("<100000f", *range(100000)))
    path = database(tmp_path / "db", [extents + writers.field(4, b"\x07") + floats])
    for dtype in (types.UINT8, types.FLOAT):
        ((image, _),) = read(lambda dtype=dtype: fn.readers.caffe(path=path, dtype=dtype), 1)
        assert image.tolist() == [[[7]]]


def test_caffe2_without_pictures_or_labels(tmp_path: Path) -> None:
    """There is no tensor for what is not there, as in the established library."""

    def first(values: list[bytes], **arguments: Any) -> list[Any]:
        number[0] += 1
        path = database(tmp_path / str(number[0]), [b"".join(values)])

        def define() -> Any:
            found = fn.readers.caffe2(path=path, **arguments)
            return found if isinstance(found, tuple) else (found,)

        (sample,) = read(define, 1)
        return [array.tolist() for array in sample]

    number = [0]
    image, label, extra, box = picture(b"ab"), tensor([3]), tensor([5.0, 6.0]), tensor([1, 2, 3, 4])
    assert first([label], image_available=False) == [[3]]
    assert first([image], label_type=4) == [[97, 98]]
    assert first([image, extra], label_type=4, additional_inputs=1) == [[97, 98], [5, 6]]
    assert first([extra], label_type=4, additional_inputs=1, image_available=False) == [[5, 6]]
    assert first([label, extra], additional_inputs=1, image_available=False) == [[3], [5, 6]]
    assert first([image, box], label_type=4, bbox=True) == [[97, 98], [1, 2, 3, 4]]
    sparse = {"image_available": False, "label_type": 3, "num_labels": 4}
    assert first([tensor([2, 0]), tensor([0.5, 1.5])], **sparse) == [[1.5, 0, 0.5, 0]]
    with pytest.raises(GraphError, match="asks for no outputs"):
        first([image], label_type=4, image_available=False)
    with pytest.raises(SampleError, match="has 1 tensors; expected 2"):
        first([image])
    for dtypes in ([], [types.FLOAT, types.INT64]):
        with pytest.raises(GraphError, match=f"has {len(dtypes)} types; expected one, or one for"):
            first([extra], additional_inputs=3, additional_dtypes=dtypes)
