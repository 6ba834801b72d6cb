# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The stores that people have: real files, by the formats' own writers, and damaged ones."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import random
import shutil
import subprocess
import sys
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import make, samples_of
from readers import writers
from stoker import Pipeline, fn, index, types
from stoker import tfrecord as tf
from stoker.errors import GraphError, SampleError

Json = dict[str, Any]
BYTES = tf.FixedLenFeature([], tf.string, "")


@pytest.fixture(autouse=True)
def indexes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Indexes that readers make go here, and not beside the test data."""
    monkeypatch.setenv("STOKER_INDEX_DIR", str(tmp_path / "indexes"))
    return tmp_path / "indexes"


def expected(test_data: Path, kind: str) -> tuple[Path, Json]:
    folder = test_data / "containers" / kind
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    return folder, json.loads((folder / "expected.json").read_text())


def set_of(table: Json, name: str) -> Json:
    (found,) = (s for s in table["sets"] if s["name"] == name)
    return dict(found)


def sha(data: Any) -> str:
    return hashlib.sha256(np.ascontiguousarray(data).tobytes()).hexdigest()


def read(define: Callable[[], Any], count: int, **settings: Any) -> list[Any]:
    """So many samples of a pipeline of one reader."""
    return samples_of(_of(define, count, **settings).run())


def _of(define: Callable[[], Any], count: int, **settings: Any) -> Pipeline:
    def flat() -> tuple[Any, ...]:
        result = define()
        nodes = result.values() if isinstance(result, dict) else result
        return tuple(n for v in nodes for n in (v if isinstance(v, tuple) else (v,)))

    return make(flat, **{"batch_size": count, **settings})


# TFRecord.


@pytest.mark.parametrize("name", ["imagenet", "gzip", "zlib", "damaged"])
@pytest.mark.parametrize("indexed", [False, True])
def test_tfrecord_pictures(test_data: Path, name: str, indexed: bool) -> None:
    folder, table = expected(test_data, "tfrecord")
    shards = set_of(table, name)["shards"]
    records = [r for shard in shards for r in shard["records"]]
    arguments: Json = {"path": [str(folder / s["file"]) for s in shards], "verify": True}
    if indexed:
        if not shards[0]["index"]:
            pytest.skip("compressed files have no index")
        arguments["index_path"] = [str(folder / s["index"]) for s in shards]
    features = {
        "image/encoded": BYTES,
        "image/class/label": tf.FixedLenFeature([1], tf.int64, -1),
        "image/class/text": BYTES,
        "missing": tf.FixedLenFeature([2], tf.float32, 0.5),
    }
    got = read(lambda: fn.readers.tfrecord(features=features, **arguments), len(records))
    for (image, label, text, missing), record in zip(got, records, strict=True):
        assert sha(image) == record["sha256"]
        assert label.tolist() == [record["label"]]
        assert bytes(text) == record["text"].encode()
        assert missing.tolist() == [0.5, 0.5]


def test_tfrecord_boxes(test_data: Path) -> None:
    folder, table = expected(test_data, "tfrecord")
    (shard,) = set_of(table, "detection")["shards"]
    features = {
        "image/encoded": BYTES,
        "image/object/bbox/xmin": tf.VarLenFeature(tf.float32, 0.0),
        "image/object/class/label": tf.VarLenFeature([], tf.int64, 0),
        "image/object/class/text": tf.BytesListFeature(),
    }
    path = [str(folder / shard["file"])]
    got = read(lambda: fn.readers.tfrecord(path=path, features=features), len(shard["records"]))
    for (image, left, labels, texts, sizes), record in zip(got, shard["records"], strict=True):
        assert sha(image) == record["sha256"]
        assert left.dtype == np.float32
        np.testing.assert_array_equal(left, np.array(record["xmin"], np.float32))
        assert labels.tolist() == record["labels"]
        assert bytes(texts) == "".join(record["texts"]).encode()
        assert sizes.tolist() == [len(t) for t in record["texts"]]


def test_tfrecord_sequences(test_data: Path) -> None:
    folder, table = expected(test_data, "tfrecord")
    (shard,) = set_of(table, "sequence")["shards"]
    features = {
        "label": tf.FixedLenFeature([], tf.int64),
        "frames": tf.FixedLenSequenceFeature([], tf.string),
        "times": tf.FixedLenSequenceFeature([], tf.float32),
    }
    path = str(folder / shard["file"])
    got = read(lambda: fn.readers.tfrecord(path=path, features=features), len(shard["records"]))
    for (label, frames, sizes, times), record in zip(got, shard["records"], strict=True):
        assert label.tolist() == [record["label"]]
        parts = np.split(frames, np.cumsum(sizes)[:-1])
        assert [sha(p) for p in parts] == record["frames_sha256"]
        np.testing.assert_array_equal(times, np.array(record["times"], np.float32))


def test_tfrecord_damage(test_data: Path) -> None:
    folder, table = expected(test_data, "tfrecord")
    for damaged in set_of(table, "damaged")["damaged"]:
        path = str(folder / damaged["file"])
        for arguments in ({}, {"index_path": [str(folder / damaged["index"])]}):
            given: Json = {"path": [path], "features": {"image/encoded": BYTES}, "verify": True}

            def define(given: Json = given | arguments) -> Any:
                return fn.readers.tfrecord(**given)

            if not damaged["error"]:
                with pytest.raises(GraphError, match=r"no samples|empty"):
                    read(define, 1)
                continue
            good = damaged["readable_records"]
            got = read(define, good)
            assert [sha(image) for (image,) in got] == [
                r["sha256"] for r in damaged["records"][:good]
            ]
            with pytest.raises(SampleError, match=r"at byte \d+") as error:
                read(define, 20)
            assert Path(path).name in str(error.value)


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
@pytest.mark.parametrize("cut", [0.0, 0.3, 0.7, 1.0])
def test_compressed_tfrecord_damage(
    tmp_path: Path, pack: Callable[[bytes], bytes], cut: float
) -> None:
    """The records before the damage are good, and what is behind it is one bad sample."""
    draw = random.Random(1)
    pictures = [draw.randbytes(3000) for _ in range(40)]
    data, _ = writers.tfrecord([writers.example({"image": [p]}) for p in pictures])
    packed = pack(data)
    path = tmp_path / "shard"
    path.write_bytes(packed[: 20 + int((len(packed) - 30) * cut)])

    def define() -> Any:
        return fn.readers.tfrecord(path=str(path), features={"image": BYTES})

    size = _of(define, 1).epoch_size()["readers_tfrecord_0"]
    good = size - 1
    assert abs(good - 40 * cut) < 14
    if good:
        assert [bytes(image) for (image,) in read(define, good)] == pictures[:good]
    with pytest.raises(SampleError, match="shard"):
        read(define, size)


def test_tfrecord_says_what_is_wrong(test_data: Path) -> None:
    folder, _ = expected(test_data, "tfrecord")
    path = str(folder / "imagenet" / "train-00000-of-00003")

    def error(kind: type[Exception], **features: Any) -> str:
        with pytest.raises(kind) as e:
            read(lambda: fn.readers.tfrecord(path=path, features=features), 1)
        return str(e.value)

    missing = error(SampleError, no=tf.FixedLenFeature([], tf.int64))
    assert "feature 'no' is missing" in missing
    assert "'image/encoded'" in missing
    wrong = {"image/class/label": tf.FixedLenFeature([], tf.float32)}
    assert "is to be of float32, and is of int64" in error(SampleError, **wrong)
    assert "expects a dict" in error(GraphError, a=3)
    with pytest.raises(GraphError, match="the type of a feature"):
        tf.FixedLenFeature([], "int8")
    with pytest.raises(GraphError, match="expects values of int64"):
        read(
            lambda: fn.readers.tfrecord(
                path=path, features={"a": tf.FixedLenFeature([], tf.int64, "x")}
            ),
            1,
        )


def test_compressed_tfrecords_are_searched_in_little_memory(tmp_path: Path) -> None:
    record, _ = writers.tfrecord([bytes(1 << 20)])
    count = 300
    with gzip.open(tmp_path / "a.gz", "wb", compresslevel=1) as file:
        for _ in range(count):
            file.write(record)
    script = f"""
import resource
from stoker import fn, pipeline_def, tfrecord as tf

@pipeline_def(batch_size=1, num_threads=1, read_ahead_limit=1 << 20)
def define():
    features = {{"a": tf.FixedLenFeature([], tf.string, "")}}
    return fn.readers.tfrecord(path={str(tmp_path / "a.gz")!r}, features=features)["a"]

before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(*define().epoch_size().values())
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    size, grown = map(int, done.stdout.split())
    assert size == count
    assert grown < 100 << 10  # KiB; the records take three times as much


# RecordIO.


@pytest.mark.parametrize("indexed", [False, True])
def test_recordio(test_data: Path, indexed: bool) -> None:
    folder, table = expected(test_data, "recordio")
    for part in table["sets"]:
        if part["name"] == "multi-part":  # also holds records without pictures
            continue
        given: Json = {"path": [str(folder / part["file"])]}
        if indexed:
            given["index_path"] = [str(folder / part["index"])]
        got = read(lambda given=given: fn.readers.mxnet(**given), len(part["records"]))
        for (image, label), record in zip(got, part["records"], strict=True):
            assert sha(image) == record["sha256"]
            np.testing.assert_array_equal(label, np.array(record["label"], np.float32))


def test_recordio_of_several_parts(test_data: Path) -> None:
    folder, table = expected(test_data, "recordio")
    part = set_of(table, "multi-part")
    path = [str(folder / part["file"])]
    pipe = _of(lambda: fn.readers.mxnet(path=path), len(part["records"]), on_error="skip")
    got = samples_of(pipe.run())
    pictures = [r for r in part["records"] if "sha256" in r]
    assert [sha(image) for image, _ in got] == [r["sha256"] for r in pictures]
    assert [label.tobytes().hex() for _, label in got] == [r["label_hex"] for r in pictures]


def test_recordio_damage(test_data: Path) -> None:
    folder, table = expected(test_data, "recordio")
    records = set_of(table, "damaged")["records"]
    for damaged in set_of(table, "damaged")["damaged"]:
        path = str(folder / damaged["file"])
        for arguments in ({}, {"index_path": [str(folder / damaged["index"])]}):

            def define(given: Json = {"path": [path], **arguments}) -> Any:  # noqa: B006
                return fn.readers.mxnet(**given)

            good = damaged["readable_records"]
            got = read(define, good)
            assert [sha(image) for image, _ in got] == [r["sha256"] for r in records[:good]]
            with pytest.raises(SampleError, match=r"at byte \d+") as error:
                read(define, 20)
            assert Path(path).name in str(error.value)


# LMDB.


@pytest.mark.parametrize("name", ["caffe_encoded", "caffe_part0", "caffe_raw"])
def test_caffe(test_data: Path, name: str) -> None:
    folder, table = expected(test_data, "lmdb")
    records = set_of(table, name)["records"]
    pixels = [i for i, r in enumerate(records) if "float_data_sha256" in r]
    pipe = _of(lambda: fn.readers.caffe(path=str(folder / name)), len(records), on_error="skip")
    got = samples_of(pipe.run())
    rest = [r for i, r in enumerate(records) if i not in pixels]
    for (image, label), record in zip(got, rest, strict=True):
        assert label.tolist() == [record["label"] or 0]
        assert sha(image) == record["sha256" if record["encoded"] else "sha256_chw"]
        if not record["encoded"]:
            assert list(image.shape) == record["shape_chw"]
    assert len(pixels) == (name == "caffe_raw")
    for i in pixels:
        pipe = _of(
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
    pipe = _of(lambda: fn.readers.caffe(path=str(folder / broken["name"])), 3, on_error="skip")
    got = samples_of(pipe.run())
    assert [sha(image) for image, _ in got] == [r["sha256"] for r in broken["records"]]


@pytest.mark.parametrize("seed", range(3))
def test_lmdb_as_its_own_library(tmp_path: Path, seed: int) -> None:
    lmdb = pytest.importorskip("lmdb")
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


# WebDataset.


def _archive(path: Path, members: dict[str, bytes]) -> None:
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


@pytest.mark.parametrize(
    "place", [f"1024 {2**63 - 1}", f"1536 {2**62}", f"{2**63 - 512} 600", "20480 10", "1536 100000"]
)
def test_webdataset_index_of_something_else(tmp_path: Path, place: str) -> None:
    _archive(tmp_path / "a.tar", {"a.jpg": bytes(100), "a.cls": b"7"})
    (tmp_path / "a.idx").write_text(f"v1.1 1\njpg 512 100 cls {place}\n")

    def define() -> Any:
        _, label = fn.readers.webdataset(
            paths=[str(tmp_path / "a.tar")],
            index_paths=[str(tmp_path / "a.idx")],
            ext=["jpg", "cls"],
        )
        return (fn.reductions.sum(label),)

    with pytest.raises(SampleError, match=r"a\.tar"):
        read(define, 1)


# CSV.


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ('2,"broken\n3,c\n4,d\n5,e\n', 13),
        ('2,"a ""b"" ""c\n3,c\n', 13),
        ('"2,b\n3,c', 11),
    ],
)
def test_csv_quotes_that_never_end(tmp_path: Path, text: str, at: int) -> None:
    table = tmp_path / "a.csv"
    table.write_text("id,txt\n1,o\n" + text)

    def define() -> Any:
        return (fn.readers.csv(path=str(table), columns=["txt"]),)

    assert [bytes(t) for (t,) in read(define, 1)] == [b"o"]
    pipe = _of(define, 2)
    assert list(pipe.epoch_size().values()) == [2]
    with pytest.raises(SampleError, match=f"the quotes at byte {at} never end"):
        pipe.run()
    table.write_text('id,"txt\n1,ok\n')
    with pytest.raises(GraphError, match="the quotes at byte 3 never end"):
        read(define, 1)


# Sequences of pictures.


def test_sequences_longer_than_any_folder(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.jpg").write_bytes(b"")
    for length, stride in [(5, 2**62), (2**30, 2**40), (2, 3)]:
        with pytest.raises(GraphError, match="has enough pictures"):
            read(
                lambda length=length, stride=stride: (
                    fn.readers.sequence(
                        file_root=str(tmp_path), sequence_length=length, stride=stride
                    ),
                ),
                1,
            )


# COCO.


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
    (file,) = Path(saved).iterdir()
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


# VOC.


def test_voc(test_data: Path, tmp_path: Path) -> None:
    folder, table = expected(test_data, "voc")
    classes = sorted({o["name"] for r in table["records"] for o in r["objects"] or []})
    by_id = {r["id"]: r for r in table["records"]}
    for name, ids in table["image_sets"].items():
        good = [i for i in ids if by_id[i]["readable"]]
        pipe = _of(
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
    got = samples_of(_of(define, len(rows), on_error="skip").run())
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


# Indexes.


def test_indexes_are_kept_and_found_damaged(
    test_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, table = expected(test_data, "tfrecord")
    monkeypatch.delenv("STOKER_INDEX_DIR")
    (shard, *_) = set_of(table, "imagenet")["shards"]
    path = tmp_path / "data.tfrecord"
    shutil.copyfile(folder / shard["file"], path)
    count = len(shard["records"])

    def hashes() -> list[str]:
        features = {"image/encoded": BYTES}
        got = read(lambda: fn.readers.tfrecord(path=str(path), features=features), count)
        return [sha(image) for (image,) in got]

    wanted = [r["sha256"] for r in shard["records"]]
    assert hashes() == wanted
    kept = tmp_path / "data.tfrecord.stoker-index"
    assert kept.stat().st_size == 64 + 16 * count
    before = kept.read_bytes()
    for at in (3, 30, 100, len(before) - 1):
        kept.write_bytes(before[:at] + bytes([before[at] ^ 1]) + before[at + 1 :])
        assert hashes() == wanted
        assert kept.read_bytes() == before
    # An index of other people's that is of another file is not followed.
    wrong = tmp_path / "wrong.idx"
    wrong.write_text("0 100\n100 200\n")
    got = read(
        lambda: fn.readers.tfrecord(
            path=str(path), index_path=str(wrong), features={"image/encoded": BYTES}
        ),
        count,
    )
    assert [sha(image) for (image,) in got] == wanted


@pytest.mark.parametrize(
    ("kind", "file", "wanted"),
    [
        ("tfrecord", "tfrecord/imagenet/train-00000-of-00003", ".idx"),
        ("tfrecord", "tfrecord/detection/coco_small-00000-of-00001", ".idx"),
        ("recordio", "recordio/imagenet.rec", None),
        ("recordio", "recordio/multipart.rec", None),
        ("webdataset", "webdataset/imagenet-000000.tar", None),
        ("webdataset", "webdataset/missing.tar", None),
        ("webdataset", "webdataset/gnu_longname.tar", None),
        ("webdataset", "webdataset/pax.tar", None),
    ],
)
def test_index_command(
    test_data: Path, tmp_path: Path, kind: str, file: str, wanted: str | None
) -> None:
    source = test_data / "containers" / file
    if not source.exists():
        pytest.skip(f"no {source}")
    assert index.main([kind, str(source), "--output-dir", str(tmp_path)]) == 0
    (made,) = tmp_path.glob("*.idx")
    reference = source.with_name(source.name + wanted) if wanted else source.with_suffix(".idx")
    assert made.name == reference.name
    assert made.read_text() == reference.read_text()


def test_index_command_takes_the_readers_members(tmp_path: Path) -> None:
    members = {"a.txt": b"1", "a.": b"2", "b.": b"3", ".txt": b"4", "c": b"5", "d.txt": b"6"}
    archive = tmp_path / "a.tar"
    _archive(archive, members)
    (tmp_path / ".a.idx.part").mkdir()  # what another process is writing
    assert index.main(["webdataset", str(archive)]) == 0
    made = tmp_path / "a.idx"
    assert made.read_text() == "v1.2 2\ntxt 512 1 a.txt\ntxt 5632 1 d.txt\n"
    assert made.stat().st_mode & 0o777 == 0o644
    assert len(list(tmp_path.iterdir())) == 3
    given: Json = {"paths": [str(archive)], "ext": ["txt"]}
    for more in ({}, {"index_paths": [str(made)]}):
        pipe = _of(lambda more=more: (fn.readers.webdataset(**given, **more),), 2)
        assert list(pipe.epoch_size().values()) == [2]
        assert [bytes(t) for (t,) in samples_of(pipe.run())] == [b"1", b"6"]


def test_index_command_names_damage(
    test_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = expected(test_data, "tfrecord")
    bad = folder / "damaged" / "truncated_data.tfrecord"
    assert index.main(["tfrecord", str(bad), "--output-dir", str(tmp_path)]) == 1
    assert not list(tmp_path.glob("*.idx"))
    assert "at byte" in capsys.readouterr().err


def test_the_established_spelling(test_data: Path, tmp_path: Path) -> None:
    folder, table = expected(test_data, "tfrecord")
    (shard, *_) = set_of(table, "imagenet")["shards"]
    count = len(shard["records"])
    script = tmp_path / "script.py"
    script.write_text(f"""
import gzip
import hashlib
import nvidia.dali.fn as fn
import nvidia.dali.ops as ops
import nvidia.dali.tfrecord as tfrec
from nvidia.dali import pipeline_def

features = {{
    "image/encoded": tfrec.FixedLenFeature((), tfrec.string, ""),
    "image/class/label": tfrec.FixedLenFeature([1], tfrec.int64, -1),
}}
files = dict(path=[{str(folder / shard["file"])!r}], index_path=[{str(folder / shard["index"])!r}])

@pipeline_def(batch_size={count}, num_threads=1, device_id=None)
def by_function():
    inputs = fn.readers.tfrecord(**files, features=features, use_o_direct=False)
    return inputs["image/encoded"], inputs["image/class/label"]

@pipeline_def(batch_size={count}, num_threads=1, device_id=None)
def by_class():
    inputs = ops.readers.TFRecord(**files, features=features)(name="Reader")
    return inputs["image/encoded"], inputs["image/class/label"]

for define in (by_function, by_class):
    pipe = define()
    pipe.build()
    images, labels = pipe.run()
    for i in range({count}):
        print(hashlib.sha256(images.at(i).tobytes()).hexdigest(), *labels.at(i))
""")
    done = subprocess.run(
        [sys.executable, "-m", "stoker.run", str(script)],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [f"{r['sha256']} {r['label']}" for r in shard["records"]]
    assert done.stdout.splitlines() == 2 * lines
