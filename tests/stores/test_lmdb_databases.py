# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Databases of Caffe and Caffe2, and of LMDB's own library."""

from __future__ import annotations

import random
import re
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
    unlabelled = [i for i, r in enumerate(records) if r["label"] is None]
    pipe = pipe_of(lambda: fn.readers.caffe(path=str(folder / name)), len(records), on_error="skip")
    got = samples_of(pipe.run())
    rest = [r for i, r in enumerate(records) if i not in pixels + unlabelled]
    assert len(unlabelled) == (name == "caffe_raw")
    for (image, label), record in zip(got, rest, strict=True):
        assert label.tolist() == [record["label"]]
        assert sha(image) == record["sha256" if record["encoded"] else "sha256_chw"]
        if not record["encoded"]:
            assert list(image.shape) == record["shape_chw"]
    assert len(pixels) == (name == "caffe_raw")
    for i in pixels:
        pipe = pipe_of(
            lambda: fn.readers.caffe(path=str(folder / name), dtype=types.FLOAT),
            len(records),  # the last one is an encoded picture
            on_error="skip",
        )
        image, label = samples_of(pipe.run())[i - sum(k < i for k in unlabelled)]
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
                # Some have no byte at all, and are no Datum.
                value = b"" if draw.random() < 0.2 else writers.datum(values[key], int(i))
                transaction.put(key, value)
                if draw.random() < 0.2:
                    transaction.delete(key)
    with env.begin() as transaction:
        wanted = [bytes(v) for _, v in transaction.cursor()]
    env.close()
    path = str(tmp_path / "db")
    got = read(lambda: fn.readers.caffe(path=path), len(wanted), on_error="skip")
    made = [writers.datum(bytes(image), int(label[0])) for image, label in got]
    assert made == [value for value in wanted if value]


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


PNG = b"\x89PNG\r\n\x1a\n and so on"
EXTENTS = b"".join(writers.field(number, 2) for number in (1, 2, 3))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (b"", r"no Datum of Caffe.*fields here: none"),
        (writers.field(1, writers.datum(PNG, 3)) + writers.field(2, 0), r"1 \(bytes\), 2 \(num"),
        (writers.tensors(PNG, 3), r"no Datum of Caffe.*fields here: 1 \(bytes\)"),
        (writers.example({"image": [PNG]}), r"no Datum of Caffe"),
        (EXTENTS + writers.field(4, b"x" * 8), r"has no label; label_available=False"),
        (writers.field(5, 3), r"has no data; image_available=False"),
        (writers.field(4, b"who knows") + writers.field(5, 3), r"0 x 0 pixels, and 9 values"),
        (EXTENTS + writers.field(4, PNG) + writers.field(5, 3), r"a PNG image: write it with enco"),
    ],
)
def test_caffe_values_that_are_no_whole_datum(tmp_path: Path, value: bytes, words: str) -> None:
    """None of them becomes a sample with made-up contents, and the others stay."""
    path = database(tmp_path / "db", [writers.datum(b"one", 1), value, writers.datum(b"two", 2)])
    pipe = pipe_of(lambda: fn.readers.caffe(path=path), 3, on_error="skip")
    assert [int(label[0]) for _, label in samples_of(pipe.run())] == [1, 2]
    (bad,) = pipe.quarantine()
    assert re.search(words, str(bad["message"])), bad["message"]


def test_caffe_pictures_without_the_flag(tmp_path: Path) -> None:
    path = database(tmp_path / "db", [writers.field(4, PNG) + writers.field(5, 3)])
    ((image, label),) = read(lambda: fn.readers.caffe(path=path), 1)
    assert bytes(image) == PNG and label.tolist() == [3]
    no_label = database(tmp_path / "none", [writers.field(4, PNG)])
    ((image,),) = read(lambda: (fn.readers.caffe(path=no_label, label_available=False),), 1)
    assert bytes(image) == PNG


def test_caffe2_values_of_other_schemas(tmp_path: Path) -> None:
    image, label = picture(b"ab"), tensor([3])
    for value, words in (
        (writers.datum(PNG, 3), "no TensorProtos of Caffe2"),
        (b"", "no TensorProtos of Caffe2"),
        (image + label + tensor([5.0]) + tensor([1, 2, 3, 4]), "has 4 tensors; expected 3"),
    ):
        path = database(tmp_path / str(len(value)), [value])
        with pytest.raises(SampleError, match=words):
            read(lambda path=path: fn.readers.caffe2(path=path, bbox=True), 1)


def test_caffe_floats_beside_bytes_do_not_count(tmp_path: Path) -> None:
    """As in Caffe. The floats of this one would not fit into the output."""
    extents = b"".join(writers.field(number, 1) for number in (1, 2, 3))
    floats = writers.field(6, struct.pack("<100000f", *range(100000)))
    pixel = writers.field(4, b"\x07") + writers.field(5, 1)
    path = database(tmp_path / "db", [extents + pixel + floats])
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
