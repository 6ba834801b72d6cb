# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Files of TFRecord: by its own writers, compressed, damaged, in the established spelling."""

from __future__ import annotations

import gzip
import random
import subprocess
import sys
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import store_writers as writers
from containers import Json, expected, pipe_of, read, set_of, sha

from helpers import samples_of
from stoker import fn
from stoker import tfrecord as tf
from stoker.errors import GraphError, SampleError

BYTES = tf.FixedLenFeature([], tf.string, "")


@pytest.mark.parametrize(
    ("name", "indexed"),
    [
        ("imagenet", False),
        ("imagenet", True),
        ("damaged", False),
        ("damaged", True),
        ("gzip", False),  # compressed files have no index
        ("zlib", False),
    ],
)
def test_tfrecord_pictures(test_data: Path, name: str, indexed: bool) -> None:
    folder, table = expected(test_data, "tfrecord")
    shards = set_of(table, name)["shards"]
    records = [r for shard in shards for r in shard["records"]]
    arguments: Json = {"path": [str(folder / s["file"]) for s in shards], "verify": True}
    if indexed:
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
        assert label.shape == () and label == record["label"]
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

    size = pipe_of(define, 1).epoch_size()["readers_tfrecord_0"]
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


def test_the_writers_checksum() -> None:
    assert writers.crc32c(b"123456789") == 0xE3069283  # as the checksum's definition lists it
    rng = np.random.default_rng(1)
    for size in (0, 1, 255, 256, 257, 1000, 5000):
        data, crc = rng.bytes(size), 0xFFFFFFFF
        for byte in data:
            crc ^= byte
            for _ in range(8):
                crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
        assert writers.crc32c(data) == crc ^ 0xFFFFFFFF


def test_a_feature_that_no_record_has(tmp_path: Path) -> None:
    data, _ = writers.tfrecord(
        [writers.example({"image/encoded": [b"x"], "label": [i]}) for i in range(3)]
    )
    (tmp_path / "a").write_bytes(data)

    def pipe(*names: str) -> Any:
        features = dict.fromkeys(names, BYTES)
        return pipe_of(lambda: fn.readers.tfrecord(path=str(tmp_path / "a"), features=features), 3)

    with pytest.warns(UserWarning, match=r"no feature 'image', but 'image/encoded', 'label'"):
        pipe("image/encoded", "image").run()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pipe("image/encoded").run()


@pytest.mark.parametrize("kept", [slice(0, 3), slice(1, 4), slice(0, 4, 3)])
def test_an_index_that_leaves_out_records(tmp_path: Path, kept: slice) -> None:
    """As one of a file to which records were added later."""
    data, places = writers.tfrecord([writers.example({"x": [bytes([i])]}) for i in range(4)])
    path, index = tmp_path / "a", tmp_path / "a.idx"
    path.write_bytes(data)

    def values(count: int) -> list[int]:
        given: Json = {"path": str(path), "index_path": str(index), "features": {"x": BYTES}}
        return [int(x[0]) for (x,) in read(lambda: fn.readers.tfrecord(**given), count)]

    lines = [f"{offset} {size}\n" for offset, size in places]
    index.write_text("".join(lines[kept]))
    wanted = list(range(4))[kept]
    with pytest.warns(UserWarning, match=rf"a\.idx' leaves out .* of the {len(data)} bytes of"):
        assert values(len(wanted)) == wanted
    index.write_text("".join(lines))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert values(4) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        writers.datum(b"a picture", 3),
        writers.tensors(b"a picture", 3),
        writers.field(1, writers.datum(b"a picture", 3)),
    ],
)
def test_records_of_other_schemas(tmp_path: Path, payload: bytes) -> None:
    """No default becomes the label of a record that is no Example."""
    whole = [writers.example({"x": [b"ab"], "y": [i]}) for i in range(2)]
    (tmp_path / "a").write_bytes(writers.tfrecord([whole[0], payload, whole[1]])[0])
    features = {"x": BYTES, "y": tf.FixedLenFeature([], tf.int64, -1)}
    pipe = pipe_of(
        lambda: fn.readers.tfrecord(path=str(tmp_path / "a"), features=features),
        3,
        on_error="skip",
    )
    assert [int(y) for _, y in samples_of(pipe.run())] == [0, 1]
    (bad,) = pipe.quarantine()
    assert "is no Example and no SequenceExample with features" in bad["message"]
